"""Which launches of a script get what a variable of it holds in one of its branches.

`if …; then ARGS+=(--bf16); fi` leaves open whether `train.py "${ARGS[@]}"` gets the option. It is
certain that it is one of `train.py`, and that `--dtype "$DTYPE"` hands on what branches assign.
What a condition on a variable decides goes where that goes: `if [ $DTYPE = fp16 ]; then ARGS=--amp;
fi`. Scripts that source a file hand on what it assigns. Each is handed on under the conditions of
its branch, so that no launch is said to get the words of two branches at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch, launch
from precision_lint.facts.frameworks.sources import Occurrence, typed
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.settings.vocabulary import is_setting_of_precision, names_precision
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.model.trace import apart, note
from precision_lint.project import disk
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import options
from precision_lint.source.shell.branches import Branch, excluded, further
from precision_lint.source.shell.variables import Assigned

_MOST_HOPS = 3
"""Variables that are put into others."""
_MOST_SCRIPTS = 40
_MOST_FOLDERS = 2
_UNNAMED = "what is before it holds"
"""A condition that has no words of its own."""
_COMMAND = regex(r"(?:[^\\\n]|\\[\s\S])*")
"""A line, with those that continue it."""
_TEXT = regex(r"""\$\{?([A-Za-z_]\w*)""", re.ASCII)
_KEYWORD = regex(
    r"(?:^|[;\n]|\b(?:then|do|else)\b)[ \t]*"
    r"(?:(if|case)\b(?:[^\n;]|;;)*|(elif)\b[^\n;]*|(fi|esac)\b)",
    re.MULTILINE,
)
_SHORT = regex(r"^[ \t]*(?:\[\[?|test)[ \t][^\n]*?(?:&&|\|\|)[^\n]*", re.MULTILINE)
"""`[ "$AMP" = true ] && FLAGS="--amp"`."""


@frozen(slots=False)
class Handed:
    """A launch that gets a setting, its file, and the option that it is, or is the value of.

    The option is empty where the name of the setting says it.
    """

    launch: Launch
    file: ParsedConfig
    option: str
    is_decided: bool = False
    """A condition on the setting decides whether the launch gets the option."""
    only_if: str = ""
    """What has to hold in the script for that; empty if nothing has to."""


@frozen(slots=False)
class _Held:
    """A variable that holds a setting: its value, or the words of an option; on which way through
    the script, and which other assignments would replace it.
    """

    name: str
    option: str = ""
    is_value: bool = False
    is_decided: bool = False
    way: tuple[Branch, ...] = ()
    others: tuple[tuple[Branch, ...], ...] = ()
    start: int = -1
    """Where it is assigned, for the variable in which the setting itself is written."""


def handed(setting: Occurrence, project: Recording) -> Iterator[Handed]:
    """The launches that get what a variable holds in which a setting is written."""
    file = setting.file
    words = setting.origin.text.chars if isinstance(setting.origin, Assigned) else ""
    is_value = isinstance(setting.origin, Assigned) and not words.lstrip().startswith("-")
    own = re.split(r"[\s=]", words.lstrip(" -"))[0] if not is_value else ""
    held = {
        _Held(
            name,
            own,
            is_value,
            way=one.branches,
            others=_replacing(name, one, file),
            start=one.span.start,
        )
        for name, one in _assignments(file)
        if one.span.start <= setting.origin.span.start < one.span.end
    }
    for _ in range(_MOST_HOPS):
        if not held:
            return
        found = [each for one in held for each in _of_launches(one, file)]
        for other in _sourcing(file, project) if not found else ():
            found += [each for one in held for each in _of_launches(one, other)]
        yield from found
        held = {each for one in held for each in _further(one, file)} - held


def launches_with(name: str, file: ParsedConfig) -> Iterator[Launch]:
    """The launches of a script that get what a variable holds, whatever branch assigns it."""
    for one in _launches(file):
        if name in one.variables:
            yield one.started


def condition_of(name: str, one: Assigned, way: tuple[Branch, ...], file: ParsedConfig) -> str:
    """What has to hold in a script, beyond what leads to a command, for a variable to have what one
    assignment gives it.
    """
    others = _replacing(name, one, file)
    return _condition(_Held(name, way=one.branches, others=others), way)


def _of_launches(held: _Held, file: ParsedConfig) -> Iterator[Handed]:
    for one in _launches(file):
        is_put_in = held.name in one.variables
        if excluded(held.way, one.way) or not (is_put_in or _is_added(held, one.started, file)):
            continue
        option = _option(held.name, one.source) if held.is_value else held.option
        if option or not held.is_value:
            yield Handed(one.started, file, option, held.is_decided, _condition(held, one.way))


def _is_added(held: _Held, started: Launch, file: ParsedConfig) -> bool:
    """True for words that are added to the variable of a command:
    `RUN="python train.py"; if …; then RUN="$RUN --bf16"; fi; $RUN`.
    """
    before = [
        one
        for name, one in _assignments(file)
        if name == held.name and one.span.start < held.start
        if not excluded(held.way, one.branches) and not _grows(name, one, file)
    ]
    begins = max(before, key=lambda one: one.span.start, default=None)
    return not held.is_value and any(one is begins for _, one in _holding(started, file))


def _condition(held: _Held, way: tuple[Branch, ...]) -> str:
    """What has to hold beyond what leads to a launch, for it to get what a variable holds."""
    own = [one.condition or _UNNAMED for one in further(held.way, way)]
    others = [one.condition or _UNNAMED for each in held.others for one in further(each, way)]
    return " and ".join(dict.fromkeys((*own, *(f"not {one}" for one in others))))


def _replacing(name: str, one: Assigned, file: ParsedConfig) -> tuple[tuple[Branch, ...], ...]:
    """The ways to further assignments of a variable, beyond the way to one: after them it holds
    something else.
    """
    found = (
        further(other.branches, one.branches)
        for also, other in _assignments(file)
        if also == name and other.span.start > one.span.start
        if not excluded(one.branches, other.branches)
        if not _grows(name, other, file)
    )
    return tuple(dict.fromkeys(way for way in found if way))


def _grows(name: str, one: Assigned, file: ParsedConfig) -> bool:
    """True for an assignment that keeps what a variable holds."""
    text = file.text[one.span]
    return name in _TEXT.findall(text) or "+=" in text


def _further(held: _Held, file: ParsedConfig) -> Iterator[_Held]:
    """The variables that get what one holds, and what conditions on it decide."""
    regions = _regions(held.name, file) if held.is_value else []
    for name, one in _assignments(file):
        text = file.text[one.span]
        if name != held.name and held.name in _TEXT.findall(text):
            option = _option(held.name, text) if held.is_value else ""
            if option or not held.is_value or not _is_in_a_word(held.name, text):
                # `MORE="--dtype=$DTYPE"`
                is_value = held.is_value and not option
                way = (*held.way, *further(one.branches, held.way))
                if not excluded(held.way, one.branches):
                    yield _Held(
                        name, option or held.option, is_value, held.is_decided, way, held.others
                    )
        elif any(each.start <= one.span.start < each.end for each in regions):
            yield from _decided(name, one, file)


def _is_in_a_word(name: str, text: str) -> bool:
    """True for `log_$NAME.txt`: a part of the name of something, and no value."""
    used = rf"\$(?:{name}\b|\{{{name}\b[^{{}}]*\}})"
    value = text.partition("=")[2]
    return re.search(rf"[\w./:-]{used}|{used}[\w./:-]", value, re.ASCII) is not None


def _decided(name: str, one: Assigned, file: ParsedConfig) -> Iterator[_Held]:
    """A variable that a condition on a precision decides, if it holds a precision, or options."""
    assert file.script is not None
    value = one.text.chars.strip()
    if value and not value.startswith("-") and " " not in value:
        if names_precision(value) or is_setting_of_precision(name, typed(value)):
            yield _Held(name, is_value=True, is_decided=True, way=one.branches)
        return
    words = one.elements if one.is_array else tuple(file.script.places.split(one.text))
    for option in options(words):
        if is_setting_of_precision(option.name, typed(option.value)):
            yield _Held(name, option.name, is_decided=True, way=one.branches)


def _regions(name: str, file: ParsedConfig) -> list[Span]:
    """The parts of a script that a condition on a variable decides."""
    tested = re.compile(rf"\$\{{?{name}\b", re.ASCII)
    found = [span for test, span in _conditions(file) if tested.search(test)]
    for match in _SHORT.finditer(file.text.text):
        if tested.search(re.split(r"&&|\|\|", match[0])[0]):
            found.append(Span(*match.span()))
    return found


@fact
def _conditions(file: ParsedConfig) -> tuple[tuple[str, Span], ...]:
    """The conditions of a script, each with what it decides, up to `fi` and `esac`."""
    found: list[tuple[str, Span]] = []
    pending: list[list[tuple[str, int]]] = []
    for match in _KEYWORD.finditer(file.text.text):
        start, end = match.span()
        if match[1]:
            pending.append([(match[0], end)])
        elif pending and match[2]:
            pending[-1].append((match[0], end))
        elif pending:
            found += [(test, Span(at, start)) for test, at in pending.pop()]
    return tuple(found)


def _sourcing(file: ParsedConfig, project: Recording) -> Iterator[ParsedConfig]:
    """The scripts that source a file; of one that only assigns variables, also those above it that
    source a file whose name is in a variable.
    """
    path = file.text.path
    is_found = False
    for other in project.config_files.referring(path):
        for word in other.script.sourced if other.script is not None else ():
            if word.text.rpartition("/")[2] == path.name and other.text.path != path:
                is_found = True
                yield other
                break
    if is_found or file.script is None or any(map(launch, file.script.commands)):
        return
    for folder in islice(path.parents, _MOST_FOLDERS):
        for other in _scripts_in(folder, project):
            sourced = other.script.sourced if other.script is not None else ()
            if other.text.path != path and any("$" in other.text[word.span] for word in sourced):
                yield other
        if folder == project.root:
            return


def _scripts_in(folder: Path, project: Recording) -> Iterator[ParsedConfig]:
    note(("names_in", folder))
    names = [
        name for name in apart(lambda: disk.names_in(folder)) if name.endswith((".sh", ".bash"))
    ]
    for name in sorted(names)[:_MOST_SCRIPTS]:
        script = project.config_files.at(folder / name)
        if script is not None:
            yield script


def _option(name: str, source: str) -> str:
    """The option that takes a variable: `--dtype "$DTYPE"`, `model.dtype=${DTYPE}`."""
    found = re.search(
        rf"""(?:--?([\w.-]+)[ \t=]|(?<![\w.])\+*([\w.]+)=)[ \t]*["']?\$\{{?{name}\b""",
        source,
        re.ASCII,
    )
    return found[1] or found[2] if found is not None else ""


def _source(started: Launch, file: ParsedConfig) -> str:
    """A command as it is written: what an array gives it stands elsewhere. Of one that starts in a
    variable, what that is put into: `RUN="torchrun train.py"; CMD="$RUN $ARGS"`.
    """
    found = _COMMAND.match(file.text.text, started.span.start)
    texts = [file.text[one.span] for _, one in _holding(started, file)]
    return "\n".join(texts) if texts else found[0] if found is not None else ""


def _holding(started: Launch, file: ParsedConfig) -> list[tuple[str, Assigned]]:
    """The assignments that a command starts in, and those that put their variables into others."""
    start = started.span.start
    found = [
        (name, one) for name, one in _assignments(file) if one.span.start <= start < one.span.end
    ]
    names = {name for name, _ in found}
    for _ in range(_MOST_HOPS):
        further = [
            (name, one)
            for name, one, put_in in _putting_in(file)
            if name not in names and not names.isdisjoint(put_in)
        ]
        found += further
        names = {name for name, _ in further}
    return found


@frozen
class _Started:
    """What a script starts, with the way that leads there and the variables of its source."""

    started: Launch
    way: tuple[Branch, ...]
    source: str
    variables: frozenset[str]


@fact
def _launches(file: ParsedConfig) -> tuple[_Started, ...]:
    """What a script starts, in the order of the script."""
    found: list[_Started] = []
    for command in file.commands:
        if (started := launch(command)) is not None:
            source = _source(started, file)
            variables = frozenset(_TEXT.findall(source))
            found.append(_Started(started, command.branches, source, variables))
    return tuple(found)


@fact
def _putting_in(file: ParsedConfig) -> tuple[tuple[str, Assigned, frozenset[str]], ...]:
    """The assignments that are written in a script, with the variables that each puts in."""
    return tuple(
        (name, one, frozenset(_TEXT.findall(file.text[one.span])))
        for name, one in _assignments(file)
    )


@fact
def _assignments(file: ParsedConfig) -> tuple[tuple[str, Assigned], ...]:
    """The assignments that are written in a script itself."""
    assigned = file.script.assigned if file.script is not None else ()
    return tuple((name, one) for name, one in assigned if one.elsewhere is None)
