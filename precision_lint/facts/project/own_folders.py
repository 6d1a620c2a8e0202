"""Paths that code makes from where it is: `Path(__file__).resolve().parents[1] / "conf"`."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.named import own_module
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, parameters
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_HOPS = 16
_NOTHING: Mapping[str, Path] = MappingProxyType({})
PATHS = frozenset({"str", "Path", "PurePath", "abspath", "realpath", "normpath", "fspath"})
"""Functions that leave a path what it is."""
PATH_METHODS = frozenset({"resolve", "absolute", "as_posix", "expanduser"})
"""Methods that do."""


def own_path(
    node: ast.expr,
    file: ParsedPython,
    project: Recording,
    hops: int = _MOST_HOPS,
    given: Mapping[str, Path] = _NOTHING,
) -> Path | None:
    """A path that is written out, relative to the folder of its file or from there.

    `given` is what a call gives the parameters of the function around it.
    """
    if not hops:
        return None

    def inner(each: ast.expr) -> Path | None:
        return own_path(each, file, project, hops - 1, given)

    match node:
        case ast.Constant(value=str(text)):
            return Path(text)
        case ast.Name(id="__file__"):
            return file.text.path
        case ast.Name():
            return _assigned(node, file, project, hops, given)
        case ast.JoinedStr() | ast.BinOp(op=ast.Add()):
            whole = _text(node, inner)
            return Path(whole) if whole else None
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _joined([inner(left), inner(right)])
        case ast.Attribute(value=value, attr="parent"):
            found = inner(value)
            return found.parent if found is not None and found.is_absolute() else None
        case ast.Subscript(
            value=ast.Attribute(value=value, attr="parents"), slice=ast.Constant(value=int(number))
        ):
            found = inner(value)
            above = found.parents if found is not None and found.is_absolute() else ()
            return above[number] if 0 <= number < len(above) else None
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=[]) if (
            method in PATH_METHODS
        ):
            return inner(value)
        case ast.Call(func=ast.Attribute(value=value, attr="joinpath"), args=args):
            return _joined([inner(value), *map(inner, args)])
        case ast.Call(args=[first, *rest]) if callee_name(node) in ("join", *PATHS):
            is_join = callee_name(node) in ("join", "Path", "PurePath")
            return _joined([inner(first), *map(inner, rest)]) if is_join else inner(first)
        case ast.Call(args=[first]) if callee_name(node) == "dirname":
            found = inner(first)
            return found.parent if found is not None else None
    return None


def _joined(parts: list[Path | None]) -> Path | None:
    known = [part for part in parts if part is not None]
    return Path(os.path.normpath(Path(*known))) if known and len(known) == len(parts) else None


def _text(node: ast.expr, path_of: Callable[[ast.expr], Path | None]) -> str | None:
    """Texts one after the other: `f"configs/{task}.yaml"`, `folder + "/a.yaml"`."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            found = [_text(part, path_of) for part in parts]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            found = [_text(left, path_of), _text(right, path_of)]
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            found = [_text(value, path_of)]
        case _:
            path = path_of(node)
            found = [None if path is None else str(path)]
    return None if None in found else "".join(filter(None, found))


def _assigned(
    name: ast.Name,
    file: ParsedPython,
    project: Recording,
    hops: int,
    given: Mapping[str, Path],
) -> Path | None:
    """What a variable holds that gets its value once, here or in the module that it is of."""
    syntax = syntax_tree(file)
    function = syntax.function(name)
    stores = syntax.stores(function, name.id) if function is not None else []
    if function is not None and any(each.arg == name.id for each in parameters(function.args)):
        return None if stores else given.get(name.id)
    if stores:
        return _stored(stores, file, project, hops, given)
    if stores := syntax.stores(syntax.tree, name.id):
        return _stored(stores, file, project, hops)
    return _imported(name.id, file, project, hops)


def _imported(name: str, file: ParsedPython, project: Recording, hops: int) -> Path | None:
    module, dot, own = imported_names(file).get(name, "").rpartition(".")
    if not module.strip("."):  # `from . import name`
        module += dot
    home = own_module(module, file, project) if module else None
    if home is None:
        return None
    return _stored(syntax_tree(home).stores(home.tree, own), home, project, hops)


def _stored(
    stores: Sequence[ast.Name],
    file: ParsedPython,
    project: Recording,
    hops: int,
    given: Mapping[str, Path] = _NOTHING,
) -> Path | None:
    match [syntax_tree(file).parent(store) for store in stores]:
        case [ast.Assign(targets=[_], value=value) | ast.AnnAssign(value=ast.expr() as value)]:
            return own_path(value, file, project, hops - 1, given)
    return None
