"""Which launches of a script get what a variable of it holds in one of its branches.

`if …; then ARGS+=(--bf16); fi` leaves open whether `train.py "${ARGS[@]}"` gets the option. It is
certain that it is one of `train.py`, and that `--dtype "$DTYPE"` hands on what branches assign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from precision_lint.facts.frameworks.launches import Launch, launch
from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.model.finding import Span
from precision_lint.model.memo import fact
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.shell.variables import Assigned

_MOST_HOPS = 3
"""Variables that are put into others."""
_COMMAND = re.compile(r"(?:[^\\\n]|\\[\s\S])*")
"""A line, with those that continue it."""
_TEXT = re.compile(r"""\$\{?([A-Za-z_]\w*)""", re.ASCII)


@dataclass(frozen=True)
class Handed:
    """A launch that gets a setting, and the option that it is, or is the value of.

    The option is empty where the name of the setting says it.
    """

    launch: Launch
    option: str


def handed(setting: Occurrence) -> Iterator[Handed]:
    """The launches that get what a variable holds in which a setting is written."""
    file = setting.file
    names = {
        name
        for name, span in _assignments(file)
        if span.start <= setting.origin.span.start < span.end
    }
    words = setting.origin.text.chars if isinstance(setting.origin, Assigned) else ""
    is_value = bool(words) and not words.startswith("-")
    own = re.split(r"[\s=]", words.lstrip("-"))[0] if not is_value else ""
    for _ in range(_MOST_HOPS):
        found = [*_of_launches(names, file, own, is_value=is_value)]
        yield from found
        if found or not names:
            return
        further = [
            (name, file.text[span])
            for name, span in _assignments(file)
            if name not in names and not names.isdisjoint(_TEXT.findall(file.text[span]))
        ]
        if is_value:  # `MORE="--dtype=$DTYPE"`
            options = (_option(name, text) for name in sorted(names) for _, text in further)
            own, is_value = next(filter(None, options), ""), False
        names = {name for name, _ in further}


def _of_launches(
    names: set[str], file: ParsedConfig, own: str, *, is_value: bool
) -> Iterator[Handed]:
    for started in _launches(file):
        source = _source(started, file)
        if names.isdisjoint(_TEXT.findall(source)):
            continue
        for name in sorted(names) if is_value else ():
            if option := _option(name, source):
                yield Handed(started, option)
        if not is_value:
            yield Handed(started, own)


def _option(name: str, source: str) -> str:
    """The option that takes a variable: `--dtype "$DTYPE"`, `model.dtype=${DTYPE}`."""
    found = re.search(
        rf"""(?:--?([\w.-]+)[ \t=]|(?<![\w.])\+*([\w.]+)=)[ \t]*["']?\$\{{?{name}\b""",
        source,
        re.ASCII,
    )
    return found[1] or found[2] if found is not None else ""


def _source(started: Launch, file: ParsedConfig) -> str:
    """A command as it is written: what an array gives it stands elsewhere."""
    found = _COMMAND.match(file.text.text, started.span.start)
    return found[0] if found is not None else ""


@fact
def _launches(file: ParsedConfig) -> tuple[Launch, ...]:
    commands = file.script.commands if file.script is not None else ()
    return tuple(filter(None, map(launch, commands)))


@fact
def _assignments(file: ParsedConfig) -> tuple[tuple[str, Span], ...]:
    """The assignments that are written in a script itself."""
    assigned = file.script.assigned if file.script is not None else ()
    return tuple((name, one.span) for name, one in assigned if one.elsewhere is None)
