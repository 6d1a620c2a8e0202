"""What configuration files, launch scripts and env files give settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from precision_lint.facts.origin import Origin
from precision_lint.facts.settings.given import Declaration, Kind, key_path, normal, witness
from precision_lint.facts.settings.vocabulary import names_bfloat16, switches_bfloat16
from precision_lint.model.regex import regex
from precision_lint.project.discovery import kind_of
from precision_lint.source.config.options import options
from precision_lint.source.config.settings_tree import (
    MAX_DEPTH,
    Entry,
    Mapping,
    Scalar,
    Sequence,
    Value,
)
from precision_lint.source.shell.commands import Command
from precision_lint.source.shell.parse import Script
from precision_lint.source.shell.words import UNKNOWN
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText

ITEM = "[]"
"""Stands for the items of a list in a path: no code asks for that name."""

_MOST = 20_000
"""Settings of one file; aliases can make any number of them."""

_LAUNCHERS = regex(
    r"(?:.*/)?(?:python[\d.]*|accelerate|torchrun|deepspeed|srun|mpirun|colossalai|composer)"
)
_OVERRIDE = regex(r"(\+{0,2}[A-Za-z_][\w.]*)=(.+)", re.DOTALL)
_BOOLEANS = {"true": True, "false": False}


def config_settings(text: SourceText) -> Iterator[Declaration]:
    """The settings of a file, in order; none if it is broken."""
    with suppress(Unparsable, RecursionError, MemoryError):
        match kind_of(text.path):
            case "yaml":
                from precision_lint.source.config import yaml

                yield from _settings(text, yaml.parse(text))
            case "json":
                from precision_lint.source.config import json

                yield from _settings(text, json.parse(text)[0])
            case "toml":
                from precision_lint.source.config import toml

                yield from _settings(text, toml.parse(text))
            case "shell":
                from precision_lint.source.shell import parse as shell

                yield from _of_script(shell.parse(text)[0])
            case "markdown":
                yield from _of_page(text)


def _of_page(text: SourceText) -> Iterator[Declaration]:
    """What the commands of a page ask for, if it is bfloat16: each is a run that is documented.

    Another value says nothing: a page shows some runs of many. So does a command of no program.
    """
    from precision_lint.source.config.parse import parse_config

    for part in parse_config(text, "markdown").embedded:
        if part.file.script is not None:
            for given in _of_script(part.file.script):
                if given.kind is Kind.LAUNCH and given.owner and _asks_for_bfloat16(given):
                    yield given


def _asks_for_bfloat16(given: Declaration) -> bool:
    if given.value is True:
        return switches_bfloat16(given.path[-1])
    return names_bfloat16(given.value)


def _settings(text: SourceText, documents: tuple[Value, ...]) -> Iterator[Declaration]:
    for document in documents:
        yield from islice(_below(text, document, ()), _MOST)


def _below(text: SourceText, value: Value, path: tuple[str, ...]) -> Iterator[Declaration]:
    """The settings of a collection."""
    if len(path) > MAX_DEPTH:
        return
    match value:
        case Mapping():
            sources = (value, *value.merged)
            entries = (entry for source in sources for entry in source.entries)
            for name in dict.fromkeys(entry.name for entry in entries):
                member = value.get(name) if name is not None else None
                if name is not None and member is not None:
                    yield from _of_entry(text, member.entry, (*path, *key_path(name)))
        case Sequence(items=items):
            for item in items:
                if isinstance(item, Scalar):
                    origin = Origin(
                        text,
                        item.span,
                        f"`{'.'.join(path)}` lists it",
                        witness=witness(path, item.value),
                    )
                    yield Declaration(Kind.FILE, (*path, ITEM), item.value, origin)
                else:
                    yield from _below(text, item, (*path, ITEM))


def _of_entry(text: SourceText, entry: Entry, path: tuple[str, ...]) -> Iterator[Declaration]:
    if isinstance(entry.value, Scalar):
        origin = Origin(
            text,
            entry.span,
            f"`{'.'.join(path)}` is set here",
            witness=witness(path, entry.value.value),
        )
        yield Declaration(Kind.FILE, path, entry.value.value, origin)
    else:
        yield from _below(text, entry.value, path)


def _of_script(script: Script) -> Iterator[Declaration]:
    for command in script.commands:
        if _is_launch(command):
            yield from _of_launch(script.source, command)
    for name, assigned in script.variables.items():
        value = assigned.text.chars.strip()
        if UNKNOWN not in value:
            origin = Origin(
                script.source,
                assigned.span,
                f"`{name}` is set here",
                witness=witness((name,), value),
            )
            yield Declaration(Kind.VARIABLE, (name,), value, origin)


def _is_launch(command: Command) -> bool:
    """True if a command starts a Python program."""
    first = command.words[0].text if command.words else ""
    return _LAUNCHERS.fullmatch(first) is not None or any(
        word.text.endswith(".py") for word in command.words
    )


def _of_launch(source: SourceText, command: Command) -> Iterator[Declaration]:
    program = _program(command)
    for option in options(command.words):
        path, value = key_path(option.name), _typed(option.value)
        origin = Origin(
            source,
            option.span,
            f"`--{option.name}` is given here",
            witness=witness(path, value),
        )
        yield Declaration(Kind.LAUNCH, path, value, origin, program)
    for word in command.words:
        if UNKNOWN not in word.text and (match := _OVERRIDE.fullmatch(word.text)):
            path = tuple(map(normal, match[1].lstrip("+").split(".")))
            value = _typed(match[2])
            origin = Origin(
                source,
                word.span,
                f"`{match[1]}` is given here",
                witness=witness(path, value),
            )
            yield Declaration(Kind.LAUNCH, path, value, origin, program)


def _program(command: Command) -> str:
    """The path of the program that a command starts, as far as it is known."""
    words = [word.text for word in command.words]
    for index, word in enumerate(words):
        if word.endswith(".py"):
            return word.rpartition(UNKNOWN)[2].lstrip("/")
        if words[index - 1 : index] == ["-m"] and UNKNOWN not in word:
            return f"{word.replace('.', '/')}.py"
    return ""


def _typed(value: str | bool | None) -> object:
    """A word as the parsers of command lines read it: strings but for the booleans."""
    return _BOOLEANS.get(value.lower(), value) if isinstance(value, str) else value
