"""The variables of a program that hold the file that it opens, known by what is read from them.

Loading may be out of sight: a helper library does it, or a module that is imported by its name. The
variable from which the program reads the keys of the file, or of a section, is still in sight.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from precision_lint.facts.runs.interpreter.known import Known, Settings
from precision_lint.model.memo import fact
from precision_lint.source.config.settings_tree import Mapping as Tree
from precision_lint.source.python.parse import ParsedPython

_LEAST = 3
"""Keys that are read from a variable."""
_SHARE = 0.6
"""Of what is read from the variable that the file must have, or of its keys that must be read."""
_MOST_SECTIONS = 60
_METHODS = frozenset({
    "get", "items", "keys", "values", "pop", "update", "copy", "setdefault", "merge", "freeze",
    "defrost", "dump", "to_dict", "parse_args",
})  # fmt: skip
"""What a mapping has that is no key."""


def held(node: ast.Name | ast.Attribute, file: ParsedPython, opened: Settings) -> Known | None:
    """The opened file, or its section, that a variable holds; None if that is not clear."""
    read = _members(file).get(_name(node), frozenset())
    if len(read) < _LEAST:
        return None
    scores: dict[int, list[Settings]] = {}
    for section in _sections(opened):
        names = {*section.names()}
        shared = len(names & read)
        if shared >= _LEAST and shared >= _SHARE * min(len(read), len(names)):
            scores.setdefault(shared, []).append(section)
    best = scores[max(scores)] if scores else []
    return Known(best[0]) if len(best) == 1 else None


def _sections(opened: Settings) -> Iterator[Settings]:
    """The file and its sections. Programs merge more into them: what is not there is unknown."""
    pending = [replace(opened, is_partial=True)]
    for section in pending:  # grows
        yield section
        for name in section.names() if len(pending) < _MOST_SECTIONS else ():
            known = section.get(name)
            written = known.written if known is not None else None
            if known is not None and written is not None and isinstance(written.value, Tree):
                assert isinstance(known.value, Settings)
                pending.append(known.value)


@fact
def _members(file: ParsedPython) -> Mapping[str, frozenset[str]]:
    """The attributes and keys that are read from each variable and attribute of `self`."""
    found: dict[str, set[str]] = {}
    for node in file.nodes:
        match node:
            case ast.Attribute(value=owner, attr=name) if name not in _METHODS:
                pass
            case ast.Subscript(value=owner, slice=ast.Constant(value=str(name))):
                pass
            case ast.Call(
                func=ast.Attribute(value=owner, attr="get"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                pass
            case _:
                continue
        if holder := _name(owner):
            found.setdefault(holder, set()).add(name)
    return {holder: frozenset(names) for holder, names in found.items()}


def _name(node: ast.expr) -> str:
    """The name of a variable, or of an attribute of `self`; empty for anything else."""
    match node:
        case ast.Name(id=name) if name != "self":
            return name
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return f"self.{name}"
    return ""
