"""The settings that Python code writes: displays, keyword arguments, modules of assignments.

They are the same tree of settings as that of a configuration file. A value that a name brings
stands where it was assigned, as after a YAML alias: outside the span of its entry.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.config.limits import MAX_CHARACTERS
from precision_lint.source.config.python_changes import MutationTracker
from precision_lint.source.config.python_values import Reader, is_dict
from precision_lint.source.config.settings_tree import Mapping
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.names import Names
from precision_lint.source.python.nodes import children
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import scopes_in
from precision_lint.source.python.syntax import callee_name, qualified


@frozen(eq=False, slots=False)
class Made:
    """Settings that one expression, or a configuration module as a whole, makes.

    `callee` is the qualified name of what is called, `dict` for that; a display has none.
    """

    node: ast.Dict | ast.Call | ast.Module
    callee: str
    _source: _Source

    @cached_property
    def mapping(self) -> Mapping:
        """The settings. What is changed later, or not known without running, is opaque."""
        if isinstance(self.node, ast.Module):
            return self._source.reader.module(self.node.body)
        return self._source.reader.mapping(self.node)


@fact
def python_settings(file: ParsedPython) -> tuple[Made, ...]:
    """The settings in a Python file, in the order of the source.

    Displays are the outermost ones that are assigned, passed or returned. Calls are those with
    keywords, and those of a class without: `Accelerator()` has all the defaults. A file of nothing
    but assignments and imports is a configuration of its own.
    """
    if len(file.text.text) > MAX_CHARACTERS:
        return ()
    return tuple(_Finder(file).made())


class _Source:
    """A file, and what is found out about it when the first settings are read."""

    def __init__(self, file: ParsedPython) -> None:
        self.file = file

    @cached_property
    def reader(self) -> Reader:
        names = Names(scopes_in(self.file))
        changes = MutationTracker(self.file.nodes, names)
        return Reader(self.file, names, changes, _inherits(self.file.tree))


_LEAVES = (ast.Name, ast.Constant)


class _Visit(NamedTuple):
    """A node.

    Its value `is_used` if it is assigned, passed or returned, and `is_inside` if settings around
    it hold it.
    """

    node: ast.AST
    is_used: bool = False
    is_inside: bool = False


class _Finder:
    """A walk through a file, outer before inner. It takes no recursion."""

    def __init__(self, file: ParsedPython) -> None:
        self._tree = file.tree
        self._source = _Source(file)
        self._imports = imported_names(file)

    def made(self) -> Iterator[Made]:
        is_configuration = _is_configuration(self._tree)
        if is_configuration:
            yield Made(self._tree, "", self._source)
        pending = [_Visit(self._tree, is_inside=is_configuration)]
        while pending:
            visit = pending.pop()
            match visit:
                case _Visit(node=ast.Dict() as node, is_used=True, is_inside=False):
                    yield Made(node, "", self._source)
                case _Visit(node=ast.Call() as node) if is_dict(node):
                    if not visit.is_inside:
                        yield Made(node, "dict", self._source)
                case _Visit(node=ast.Call() as node) if node.keywords or _constructs(node):
                    yield Made(node, self._callee(node), self._source)
            pending += [*self._below(visit)][::-1]

    def _below(self, visit: _Visit) -> Iterator[_Visit]:
        node, is_used, is_inside = visit
        match node:
            case ast.Module(body=body):
                yield from (_Visit(each, is_inside=is_inside) for each in body)
            case ast.Assign(targets=[target, *_], value=ast.expr() as value):
                yield _Visit(value, True, is_inside and isinstance(target, ast.Name))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield _Visit(value, True, is_inside and isinstance(target, ast.Name))
            case ast.NamedExpr(value=value) | ast.Return(value=ast.expr() as value):
                yield _Visit(value, True)
            case ast.Dict(values=values):
                is_held = is_inside or is_used
                yield from (_Visit(value, is_held, is_held) for value in values)
                yield from (_Visit(key) for key in node.keys if key is not None)
            case ast.Call():
                yield from self._arguments(node)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                yield from (_Visit(item, is_used, is_inside) for item in items)
            case ast.Set(elts=items) | ast.BoolOp(values=items):
                yield from (_Visit(item, is_used) for item in items)
            case ast.IfExp(test=test, body=one, orelse=other):
                yield _Visit(test)
                yield _Visit(one, is_used)
                yield _Visit(other, is_used)
            case ast.JoinedStr():
                pass  # before Python 3.12 nothing in it has a place
            case _:
                yield from (_Visit(each) for each in children(node) if type(each) not in _LEAVES)

    def _arguments(self, call: ast.Call) -> Iterator[_Visit]:
        yield _Visit(call.func)
        yield from (_Visit(argument, True, is_dict(call)) for argument in call.args)
        yield from (_Visit(keyword.value, True, is_inside=True) for keyword in call.keywords)

    def _callee(self, call: ast.Call) -> str:
        """The qualified name of what is called; "" for what no name calls."""
        try:
            return qualified(call.func, self._imports)
        except RecursionError:
            return ""


_CHANGES = frozenset({"update", "pop", "setdefault", "append", "extend", "insert", "remove"})


def _constructs(call: ast.Call) -> bool:
    name = callee_name(call)
    return name[:1].isupper() or name == "from_argparse_args"


def _is_configuration(tree: ast.Module) -> bool:
    """True for a module that does nothing but import and assign."""
    return all(map(_configures, tree.body)) and any(
        isinstance(each, ast.Assign | ast.AnnAssign) for each in tree.body
    )


def _configures(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method))):
            return method in _CHANGES
        case ast.With():
            return _reads_base(statement)
    return isinstance(
        statement,
        ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Delete | ast.Import | ast.ImportFrom,
    )


def _inherits(tree: ast.Module) -> bool:
    """True for a configuration that others are merged into."""
    return _is_configuration(tree) and any(map(_brings_a_base, tree.body))


def _brings_a_base(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id="_base_"), *_]):
            return True
        case ast.ImportFrom(names=[ast.alias(name="*")]):
            return True
        case ast.With():
            return _reads_base(statement)
    return False


def _reads_base(statement: ast.With) -> bool:
    """`with read_base():` of mmengine."""
    opened = statement.items[0].context_expr
    return isinstance(opened, ast.Call) and callee_name(opened) == "read_base"
