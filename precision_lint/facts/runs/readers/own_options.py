"""The options of a program that it takes from its command line alone.

A program may load files as data, and take `--mixed_precision` from its command line. It does not
read that setting from a file with a key of the same name, unless it merges the files that it loads
with its options.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.ways import members
from precision_lint.facts.runs.written.keys import parts_of
from precision_lint.facts.settings.given import normal
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, last_name

_MERGING = regex(
    r"\bset_defaults\(|\bvars\(|\b__dict__\b|\bsetattr\(|\bNamespace\(|\bnamespace=|configargparse"
    r"|jsonargparse|\bexec\(|\bglobals\(\)|\bHfArgumentParser\b|\bTrlParser\b|\bfrom_cli\("
)
"""How a program puts what it loads into the object that holds its options, or the other way."""
_PARSING = frozenset({"parse_args", "parse_known_args"})
_DECLARED = regex(r"""["']--([\w-]+)["']""")


def options_alone(names: frozenset[str], program: Path, project: Recording) -> frozenset[str]:
    """Those of some names that a program declares as options, and reads from these alone."""
    declared, holders = project.config_files.once(
        ("options alone", program), lambda: _options(parts_of(program, project), project)
    )
    found = names & declared
    return frozenset(name for name in found if _is_alone(name, holders, program, project))


def _options(parts: Sequence[Path], project: Recording) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the options that the files of a program declare, and of what holds them; none if
    it brings them together with what it loads.
    """
    texts = {part: project.config_files.text(part) for part in parts}
    if any(_merges(part, project) for part in parts):
        return frozenset(), frozenset()
    declared = (normal(name) for text in texts.values() for name in _DECLARED.findall(text))
    parsing = (part for part in parts if any(each in texts[part] for each in _PARSING))
    files = filter(None, map(project.module, parsing))
    return frozenset(declared), frozenset(holder for file in files for holder in _parsed(file))


def _merges(part: Path, project: Recording) -> bool:
    files = project.config_files
    return files.once(
        ("merges options", part), lambda: _MERGING.search(files.text(part)) is not None
    )


def _is_alone(name: str, holders: frozenset[str], program: Path, project: Recording) -> bool:
    """True if code reads a name, and from what holds options alone: `self.args.amp`."""
    is_read = False
    for part in parts_of(program, project):
        file = project.module(part) if name in project.config_files.text(part) else None
        for _, holder in members(file).get(name, ()) if file is not None else ():
            is_read = True
            if last_name(holder) not in holders:
                return False
    return is_read


def _parsed(file: ParsedPython) -> Iterator[str]:
    """The names of what holds the options that a file parses: `args, rest = parse_known_args()`."""
    for node in file.nodes:
        match node:
            case ast.Assign(targets=[target], value=ast.Call() as call) if (
                callee_name(call) in _PARSING
            ):
                first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
                yield last_name(first)
