"""Loops that give every entry of a mapping a new value.

    for key in checkpoint:
        checkpoint[key] = checkpoint[key].float()

One assignment of an entry leaves the others as they are. Such a loop leaves none, but for those
that a test whether the entry is a (floating) tensor excludes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import Leaving
from precision_lint.source.python.syntax import callee_name, last_name

_TESTS = frozenset({"isinstance", "is_tensor", "is_floating_point"})
_TENSORS = frozenset({"Tensor", "Parameter"})
_COPIES = frozenset({"list", "tuple", "sorted", "tqdm"})


@frozen
class Rewriting:
    """A loop over a mapping that assigns each of its entries, or each tensor among them.

    `before` are the statements of the body in front of the assignment, `value` what is assigned.
    """

    mapping: str
    before: tuple[ast.stmt, ...]
    value: ast.expr


def rewriting(loop: ast.For) -> Rewriting | None:
    """The mapping that a loop assigns all entries of; None if it may leave some as they are."""
    mapping = _mapping(loop.iter)
    match loop.target:
        case ast.Name(id=key):
            entry = _Entry(mapping, key, None)
        case ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=value)]):
            entry = _Entry(mapping, key, value)
        case _:
            return None
    if mapping is None or not any(map(entry.is_stored, walk(loop))):
        return None
    if any(isinstance(node, ast.Break | ast.Return) for node in walk(loop)):
        return None
    found: Rewriting | None = None
    before: list[ast.stmt] = []
    for statement in _unguarded(loop.body, entry):
        match statement:
            case ast.Assign(targets=[target], value=expression) if entry.is_stored(target):
                found = Rewriting(mapping, tuple(before), expression)
            case _ if any(map(entry.is_stored, walk(statement))):
                return None  # under a condition
            case _ if found is None and any(isinstance(one, Leaving) for one in walk(statement)):
                return None
        before.append(statement)
    return found


@frozen
class _Entry:
    """An entry as the body of a loop writes it: `mapping[key]`, or `value`."""

    mapping: str | None
    key: str
    value: str | None

    def is_stored(self, node: ast.AST) -> bool:
        return (
            isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and self.is_it(node)
        )

    def is_it(self, node: ast.AST) -> bool:
        match node:
            case ast.Subscript(value=ast.Name(id=owner), slice=ast.Name(id=key)):
                return owner == self.mapping and key == self.key
            case ast.Name(id=name):
                return name == self.value
        return False


def _mapping(iterated: ast.expr) -> str | None:
    """The mapping whose keys, or items, a loop goes through."""
    match iterated:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Name(id=copy), args=[inner, *_]) if copy in _COPIES:
            return _mapping(inner)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="keys" | "items"), args=[]):
            return name
    return None


def _unguarded(body: list[ast.stmt], entry: _Entry) -> Iterator[ast.stmt]:
    """The statements of a body, without tests whether the entry is a tensor."""
    for statement in body:
        match statement:
            case ast.If(test=test, body=inner, orelse=[]) if _asks_for_tensor(test, entry):
                yield from _unguarded(inner, entry)
            case ast.If(
                test=ast.UnaryOp(op=ast.Not(), operand=test), body=[ast.Continue()], orelse=[]
            ) if _asks_for_tensor(test, entry):
                continue
            case _:
                yield statement


def _asks_for_tensor(test: ast.expr, entry: _Entry) -> bool:
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_asks_for_tensor(each, entry) for each in values)
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[asked]),
            ops=[ast.Eq() | ast.Is()],
            comparators=[kind],
        ):
            return entry.is_it(asked) and last_name(kind) in _TENSORS
        case ast.Call(func=ast.Attribute(value=asked, attr="is_floating_point"), args=[]):
            return entry.is_it(asked)
        case ast.Call(args=[asked, *kinds]) if callee_name(test) in _TESTS:
            return entry.is_it(asked) and all(last_name(kind) in _TENSORS for kind in kinds)
    return False
