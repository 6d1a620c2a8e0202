"""Which calls of frameworks get a table as a whole that a program makes and fills.

`settings["fp16"] = {"enabled": True, "hysteresis": config.hysteresis}` is for DeepSpeed where
`deepspeed.initialize(config=settings)` follows: the key there is `fp16.hysteresis`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TypeAlias

from precision_lint.facts.runs.code.taking_calls import in_table
from precision_lint.facts.runs.code.torch_sinks import TorchPlace
from precision_lint.model.frozen import frozen
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_HOPS = 3
"""Names that a table gets."""
_At: TypeAlias = "ast.Assign | None"
"""The statement that puts an entry into the table, if that is not the display itself."""


_Read: TypeAlias = "tuple[ast.expr, ParsedPython]"
_COPYING = frozenset({"copy", "deepcopy", "dict"})


@frozen
class Tables:
    """Follows tables: `results` gives the places where a function's result is used, `members` those
    where a member of `self` is read, and `parameters` those where the functions that a call means
    read what it gives.
    """

    results: Callable[[FunctionDefinition], Iterator[_Read]]
    members: Callable[[str, ast.expr, ParsedPython], Iterator[_Read]]
    parameters: Callable[[str, ast.Call, ParsedPython], Iterator[_Read]]

    def put(
        self, target: ast.Subscript, key: str, at: ast.Assign, file: ParsedPython
    ) -> Iterator[TorchPlace]:
        """What gets a table in which a statement puts something: `table["fp16"]["enabled"] = x`."""
        match _path(target, key):
            case ast.Name() as table, str(path):
                for read in _reads(table, file):
                    yield from self.of(read, path, at, file)

    def of(
        self, table: ast.expr, path: str, at: _At, file: ParsedPython, hops: int = _MOST_HOPS
    ) -> Iterator[TorchPlace]:
        """What gets a table in which something has a path of keys."""
        syntax = syntax_tree(file)
        parent = syntax.parent(table)
        match parent:
            case ast.keyword(arg=str(argument)):
                call = syntax.parent(parent)
                if isinstance(call, ast.Call):
                    yield from in_table(call, argument, path, at or call, file)
                    for read, home in self.parameters(argument, call, file) if hops else ():
                        yield from self.of(read, path, None, home, hops - 1)
            case ast.Call(args=[only], keywords=[]) if only is table:
                if callee_name(parent) in _COPYING:
                    yield from self.of(parent, path, at, file, hops)
            case ast.Dict(keys=keys, values=values) if table in values:
                match keys[values.index(table)]:
                    case ast.Constant(value=str(section)):
                        yield from self.of(parent, f"{section}.{path}", at, file, hops)
            case ast.Assign(targets=[ast.Subscript() as target]) if hops:
                yield from self.put(target, path, at or parent, file)
            case ast.Assign(targets=[ast.Name() as other]) if hops:
                for read in _reads(other, file):
                    yield from self.of(read, path, at, file, hops - 1)
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name) as kept]):
                for read, home in self.members(name, kept, file) if hops else ():
                    yield from self.of(read, path, None, home, hops - 1)
            case ast.Return() if hops:
                function = syntax.function(parent)
                if isinstance(function, FunctionDefinition):
                    for result, home in self.results(function):
                        yield from self.of(result, path, None, home, hops - 1)


def _reads(name: ast.Name, file: ParsedPython) -> Iterator[ast.Name]:
    syntax = syntax_tree(file)
    scope = syntax.function(name) or syntax.tree
    for each in syntax.reads(scope, name.id):
        if isinstance(each, ast.Name):
            yield each


def _path(target: ast.expr, rest: str) -> tuple[ast.Name, str] | None:
    """The variable and the path of keys of an entry: `table["fp16"]["enabled"]`."""
    match target:
        case ast.Subscript(value=holder, slice=ast.Constant(value=str(key))):
            path = f"{key}.{rest}" if rest else key
            return (holder, path) if isinstance(holder, ast.Name) else _path(holder, path)
    return None
