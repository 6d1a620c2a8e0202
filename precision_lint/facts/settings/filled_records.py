"""Records that a program fills from a file, and the fields of them that code reads.

`experiment.precision` is a setting where `experiment: Experiment` is annotated with a dataclass of
the project that some code fills with all that a file says: `Experiment(**json.loads(text))`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from precision_lint.facts.project.facts import Recording
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import innermost_name, last_name
from precision_lint.source.python.syntax_tree import syntax_tree

_HOPS = 4
"""Modules that a class is imported through."""
_MOST_FILES = 24
"""Files that may fill a record."""


@frozen
class Record:
    """A dataclass of the project."""

    node: ast.ClassDef
    file: ParsedPython

    def annotation(self, name: str) -> ast.expr | None:
        """The annotation of a field."""
        for each in self.node.body:
            match each:
                case ast.AnnAssign(target=ast.Name(id=field)) if field == name:
                    return each.annotation
        return None


def field_path(node: ast.expr, file: ParsedPython, project: Recording) -> tuple[str, ...] | None:
    """The names that lead to a field of a record which a program fills: (amp, dtype) for
    `run.amp.dtype` of `run: RunConfig`; None for anything else.
    """
    names: list[str] = []
    inner = node
    while isinstance(inner, ast.Attribute):
        names.insert(0, inner.attr)
        record = record_of(inner.value, file, project)
        if record is not None:
            return _path_in(record, names, project)
        inner = inner.value
    return None


def _path_in(record: Record, names: list[str], project: Recording) -> tuple[str, ...] | None:
    """The path of a field, if all that leads to it are fields, and code fills the first record."""
    if not is_filled(record, project):
        return None
    holder: Record | None = record
    for name in names:
        annotation = None if holder is None else holder.annotation(name)
        if holder is None or annotation is None:
            return None
        holder = _named_in(annotation, holder.file, project)
    return tuple(names)


def record_of(node: ast.expr, file: ParsedPython, project: Recording) -> Record | None:
    """The record that a parameter is annotated with, or an attribute that holds the parameter."""
    syntax = syntax_tree(file)
    match node:
        case ast.Name(id="self"):
            return None
        case ast.Name():
            parameter = binding(node, syntax)
            if isinstance(parameter, ast.arg) and parameter.annotation is not None:
                return _named_in(parameter.annotation, file, project)
        case ast.Attribute(value=ast.Name(id="self")):
            owner = enclosing_class(node, syntax)
            match None if owner is None else attribute(node, owner, syntax):
                case [ast.Name() as held]:
                    return record_of(held, file, project)
    return None


def _named_in(annotation: ast.expr, file: ParsedPython, project: Recording) -> Record | None:
    """The record that an annotation names."""
    for inner in walk(annotation):
        match inner:
            case ast.Name(id=name) | ast.Constant(value=str(name)):
                if (found := _record(name, file, project, _HOPS)) is not None:
                    return found
    return None


def _record(name: str, file: ParsedPython, project: Recording, hops: int) -> Record | None:
    """The record that a name of a module means."""
    for node in file.tree.body:
        match node:
            case ast.ClassDef(name=defined) if defined == name:
                is_record = "dataclass" in map(innermost_name, node.decorator_list)
                return Record(node, file) if is_record else None
    imported = syntax_tree(file).names.get(name)
    if imported is None or not hops:
        return None
    module, _, original = imported.rpartition(".")
    if imported.startswith(".") and not module.strip("."):
        module = imported[: len(imported) - len(original)]
    path = project.locate(file.text.path, module) if module else None
    found = None if path is None or path == file.text.path else project.module(path)
    return None if found is None else _record(original, found, project, hops - 1)


def is_filled(record: Record, project: Recording) -> bool:
    """True if code makes the record of a mapping: `Config(**values)`, `cls(**values)` in itself."""
    if any(_unpacks(call) for call in walk(record.node) if _is_call_of(call, "cls")):
        return True
    name = record.node.name
    return any(
        _unpacks(call) for file in _users(record, project) for call in syntax_tree(file).calls(name)
    )


def _users(record: Record, project: Recording) -> Iterator[ParsedPython]:
    yield record.file
    importing = project.importing(record.file.text.path, record.node.name)
    yield from filter(None, map(project.module, islice(importing, _MOST_FILES)))


def _is_call_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == name


def _unpacks(call: ast.AST) -> bool:
    """True for a call that is given all values of a mapping."""
    return isinstance(call, ast.Call) and any(each.arg is None for each in call.keywords)
