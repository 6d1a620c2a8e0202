"""The commands of YAML files that describe jobs: workflows, compose files, Kubernetes, SkyPilot.

They all have the same keys: a script under `run` or `command`, variables under `env`. Variables of
a mapping hold for everything inside of it. A job with a matrix is read for each combination.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping as Variables
from dataclasses import replace
from typing import TypeAlias

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import Embedded, ParsedConfig, ParsePart
from precision_lint.source.config.job_matrix import (
    Combination,
    combinations,
    of_value,
    with_variables,
)
from precision_lint.source.config.settings_tree import (
    MAX_DEPTH,
    Entry,
    Mapping,
    Opaque,
    Scalar,
    Sequence,
    Value,
)
from precision_lint.source.shell.alternatives import added
from precision_lint.source.shell.commands import Command
from precision_lint.source.shell.variables import Assigned
from precision_lint.source.shell.words import UNKNOWN, Text
from precision_lint.source.text.masking import Mask

_SCRIPTS = frozenset({"run", "command", "script", "args", "setup", "entrypoint"})
_HALVES = {"args": "command", "command": "entrypoint"}
"""What holds the last words of a command, and what the first: in Kubernetes, in compose files."""
_ENVIRONMENTS = frozenset({"env", "environment", "envs", "env_variables"})

_EXPRESSION = regex(r"\$?\{\{(?:(?!\{\{).)*?\}\}", re.DOTALL)
_BLOCK = regex(r"[|>][-+\d]*[ \t]*(?:#[^\n]*)?\r?\n")
_MARGIN = regex(r" *(?=[^ \r\n])")
_BREAK = regex(r"\r?\n(?=[ \t]*\S)")
_PLAIN = regex(r"[\w@%+=:,./-]+")
_SPECIAL = regex(r"[^\w@%+=:,./-]")
"""What stands for something else in a word, or ends it where a shell reads it."""
_STARTS_SCRIPT = regex(r"[\"']?-[a-z]*c[\"']?")
_QUOTED = regex(r"\"[^\"\\$`]*\"|'[^']*'")

_Known: TypeAlias = "Variables[str, Assigned]"
_Job: TypeAlias = "tuple[Combination, _Known]"
"""What the matrix gives to a job, and the variables that it has."""
_Script: TypeAlias = "tuple[str, int, _Known]"


def job_scripts(file: ParsedConfig, parse: ParsePart) -> Iterator[Embedded]:
    """The scripts in a YAML file, each with the variables that are given to it."""
    mask = Mask((file.masked or file.text).text)
    for document in file.documents:
        yield from _below(file, parse, mask, document, (({}, {}),), "", 0)


def _below(
    file: ParsedConfig,
    parse: ParsePart,
    mask: Mask,
    value: Value,
    jobs: tuple[_Job, ...],
    name: str,
    depth: int,
) -> Iterator[Embedded]:
    """The scripts in a value; `jobs` are the combinations of the matrix around it."""
    if depth > MAX_DEPTH:
        return
    match value:
        case Sequence(items=items):
            for index, item in enumerate(items):
                if value.span.start <= item.span.start <= value.span.end:  # else an alias
                    yield from _below(file, parse, mask, item, jobs, f"{name}{index}.", depth + 1)
        case Mapping(entries=entries):
            if found := combinations(value, mask.text):
                jobs = tuple((one, known) for one in found for _, known in jobs[:1])
            for entry in entries:
                if entry.name in _ENVIRONMENTS:
                    jobs = tuple(
                        (one, {**known, **dict(_variables(entry.value, mask.text, one))})
                        for one, known in jobs
                    )
            for entry in entries:
                if _is_alias(entry):
                    continue  # what is elsewhere is read there
                if _is_first_half(value, entry):
                    continue
                if entry.name in _SCRIPTS and _script(value, entry, mask, {}) is not None:
                    for part in _of_jobs(file, parse, mask, value, entry, jobs):
                        yield Embedded(f"{name}{entry.name}", part)
                else:
                    inner = f"{name}{entry.name}."
                    yield from _below(file, parse, mask, entry.value, jobs, inner, depth + 1)


def _of_jobs(
    file: ParsedConfig,
    parse: ParsePart,
    mask: Mask,
    mapping: Mapping,
    entry: Entry,
    jobs: tuple[_Job, ...],
) -> Iterator[ParsedConfig]:
    """A script as each job reads it; of a later one, the commands that no earlier one has."""
    read: set[tuple[object, ...]] = set()
    known: list[Command] = []
    for combination, variables in jobs:
        script = _script(mapping, entry, mask, combination)
        if script is None:
            return
        masked, margin, given = script
        given = {**variables, **given}
        key = masked, tuple((name, one.text.chars) for name, one in given.items())
        part = None if key in read else parse(file, masked, "shell", margin=margin, given=given)
        read.add(key)
        if part is not None and part.script is not None:
            commands = tuple(added(known, part.script.commands))
            if not known or commands:
                known += commands
                yield replace(part, script=replace(part.script, commands=commands))


def _is_alias(entry: Entry) -> bool:
    return not entry.span.start <= entry.value.span.start <= entry.span.end


def _variables(value: Value, text: str, combination: Combination) -> Iterator[tuple[str, Assigned]]:
    """`NAME: value`, `- NAME=value`, `- {name: NAME, value: value}`."""
    match value:
        case Mapping(entries=entries):
            for entry in entries:
                if entry.name is not None:
                    given = of_value(text[slice(*entry.value.span)], combination)
                    yield entry.name, given or _assigned(entry.span, entry.value, text)
        case Sequence(items=items):
            for item in items:
                yield from _variable(item, text)


def _variable(item: Value, text: str) -> Iterator[tuple[str, Assigned]]:
    match item:
        case Scalar(span, str(written)) | Opaque(span, Scalar(value=str(written))):
            name, separator, value = written.partition("=")
            if separator:
                start = text.find("=", *span) + 1
                yield name, Assigned(span, _text(value, Span(start, span.end), text))
        case Mapping() as mapping:
            named = mapping.get("name") or mapping.get("key")
            given = mapping.get("value")
            if named and given and isinstance(named.entry.scalar, str):
                yield named.entry.scalar, _assigned(mapping.span, given.entry.value, text)


def _assigned(span: Span, value: Value, text: str) -> Assigned:
    match value:
        case Scalar(value=str(written)):
            return Assigned(span, _text(written, value.span, text))
        case Scalar(value=int() | float()) if not isinstance(value.value, bool):
            return Assigned(span, _text(text[slice(*value.span)], value.span, text))
        case _:
            return Assigned(span, Text(UNKNOWN, (value.span.start,)))


def _text(value: str, span: Span, text: str) -> Text:
    """A value as traced text; what something replaces before it is a variable is unknown."""
    if "$" in value or "{{" in value:
        return Text(UNKNOWN, (span.start,))
    start = text.find(value, *span)
    if start < 0:
        return Text(value, (span.start,) * len(value))
    return Text(value, tuple(range(start, start + len(value))))


def _script(mapping: Mapping, entry: Entry, mask: Mask, combination: Combination) -> _Script | None:
    """The text of a script at its offsets, how far it is indented, and what its matrix gives; None
    for what is none.
    """
    match entry.value:
        case Scalar(span, str()) | Opaque(span, Scalar(value=str())):
            return _of_string(span, mask, combination)
        case Sequence(items=[*words, script]):
            before = words
            if entry.name == "args" and not words:  # of `command: [bash, -c]`
                command = mapping.get("command")
                value = command.entry.value if command else None
                before = list(value.items) if isinstance(value, Sequence) else []
            if before and _STARTS_SCRIPT.fullmatch(mask.text[slice(*before[-1].span)]):
                return _of_string(script.span, mask, combination)
            first = _first_half(mapping, entry)
            return _of_list((*(first.items if first else ()), *entry.value.items), mask)
        case _:
            return None


def _first_half(mapping: Mapping, entry: Entry) -> Sequence | None:
    """The list with the first words of a command, where an entry has the last and is below it."""
    first = mapping.get(_HALVES.get(entry.name or "", ""))
    if first is None or not isinstance(entry.value, Sequence):
        return None
    value = first.entry.value
    is_above = value.span.end <= entry.value.span.start and not _is_alias(first.entry)
    return value if isinstance(value, Sequence) and value.items and is_above else None


def _is_first_half(mapping: Mapping, entry: Entry) -> bool:
    """True if what an entry has is read with another one, which has the last words."""
    rest = (mapping.get(last) for last, first in _HALVES.items() if first == entry.name)
    return any(
        other is not None
        and (half := _first_half(mapping, other.entry)) is entry.value
        and half is not None
        and not _STARTS_SCRIPT.fullmatch(_last(half))
        for other in rest
    )


def _last(words: Sequence) -> str:
    last = words.items[-1]
    return last.value if isinstance(last, Scalar) and isinstance(last.value, str) else ""


def _of_string(span: Span, mask: Mask, combination: Combination) -> _Script | None:
    written = mask.text[span.start : span.end]
    margin = 0
    if block := _BLOCK.match(written):
        span = Span(span.start + block.end(), span.end)
        content = written[block.end() :]
        indent = _MARGIN.match(content)
        margin = len(indent.group()) if indent else 0
        if written[0] == ">":
            content = _folded(content)
    elif written[:1] in ("'", '"'):
        content = " " + written[1:-1] + " "
        if "\\" in content or "''" in content:
            return None
        content = _folded(content)
    else:
        content = _folded(written)
    content, given = with_variables(content, combination)
    content = _EXPRESSION.sub(lambda match: UNKNOWN * len(match.group()), content)
    return mask.replacing([(span, content)]), margin, given


def _folded(content: str) -> str:
    """Lines that YAML makes one."""
    return _BREAK.sub(lambda match: " " * len(match.group()), content)


def _of_list(items: tuple[Value, ...], mask: Mask) -> _Script | None:
    """The words of a command, one an item: `["python", "train.py", "--fp16"]`."""
    parts = []
    for item in items:
        written = mask.text[item.span.start : item.span.end]
        if not (_PLAIN.fullmatch(written) or _QUOTED.fullmatch(written)):
            if "\n" in written or not isinstance(item, Scalar | Opaque):
                return None
            written = _SPECIAL.sub(UNKNOWN, written)
        parts.append((item.span, written))
    line = Span(items[0].span.start, parts[-1][0].end)
    masked = mask.replacing(parts)
    words = masked[line.start : line.end].replace("\n", " ").replace("\r", " ")
    return masked[: line.start] + words + masked[line.end :], 0, {}
