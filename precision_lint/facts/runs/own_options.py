"""The options of a program that it takes from its command line alone.

A program may load files for its data, and declare `--mixed_precision` for itself. A file with a key
of that name is none of its files, unless it brings what it loads and its options together.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.ways import members
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, last_name

_MERGING = re.compile(
    r"\bset_defaults\(|\bvars\(|\b__dict__\b|\bsetattr\(|\bNamespace\(|\bnamespace=|configargparse"
    r"|jsonargparse|\bexec\(|\bglobals\(\)|\bHfArgumentParser\b|\bTrlParser\b|\bfrom_cli\("
)
"""How a program puts what it loads into the object that holds its options, or the other way."""
_PARSING = frozenset({"parse_args", "parse_known_args"})


def options_alone(
    names: frozenset[str], parts: Sequence[Path], project: Recording
) -> frozenset[str]:
    """Those of some names that a program declares as options, and reads from these alone."""
    text = project.config_files.text
    declared = frozenset(
        name for name in names if any(_declaring(name).search(text(part)) for part in parts)
    )
    if not declared or any(_MERGING.search(text(part)) for part in parts):
        return frozenset()
    holders = frozenset(
        holder
        for part in parts
        if any(each in text(part) for each in _PARSING)
        for file in (project.module(part),)
        if file is not None
        for holder in _parsed(file)
    )
    return frozenset(name for name in declared if _is_alone(name, holders, parts, project))


def _is_alone(
    name: str, holders: frozenset[str], parts: Sequence[Path], project: Recording
) -> bool:
    """True if code reads a name, and from what holds options alone: `self.args.amp`."""
    is_read = False
    for part in parts:
        file = project.module(part) if name in project.config_files.text(part) else None
        for _, holder in members(file).get(name, ()) if file is not None else ():
            is_read = True
            if last_name(holder) not in holders:
                return False
    return is_read


def _declaring(name: str) -> re.Pattern[str]:
    return re.compile(rf"""["']--{re.escape(name).replace("_", "[_-]")}["']""")


def _parsed(file: ParsedPython) -> Iterator[str]:
    """The names of what holds the options that a file parses: `args, rest = parse_known_args()`."""
    for node in file.nodes:
        match node:
            case ast.Assign(targets=[target], value=ast.Call() as call) if (
                callee_name(call) in _PARSING
            ):
                first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
                yield last_name(first)
