"""Loops that give every entry of a mapping a new value.

    for key in checkpoint:
        checkpoint[key] = checkpoint[key].float()

One assignment of an entry leaves the others as they are. Such a loop leaves none, but for those
that a test whether the entry is a (floating) tensor excludes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import Leaving
from precision_lint.source.python.syntax import callee_name, last_name

_TESTS = frozenset({"isinstance", "is_tensor", "is_floating_point"})
_TENSORS = frozenset({"Tensor", "Parameter"})
_COPIES = frozenset({"list", "tuple", "sorted", "tqdm"})


@dataclass(frozen=True, slots=True)
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
        case ast.Name(id=key) | ast.Tuple(elts=[ast.Name(id=key), ast.Name()]):
            pass
        case _:
            return None
    if mapping is None or loop.orelse:
        return None
    entries = {f"{mapping}[{key}]"}
    if isinstance(loop.target, ast.Tuple):
        entries.add(ast.unparse(loop.target.elts[1]))
    before: list[ast.stmt] = []
    for statement in _unguarded(loop.body, entries):
        match statement:
            case ast.Assign(targets=[target], value=value) if (
                ast.unparse(target) == f"{mapping}[{key}]"
            ):
                return Rewriting(mapping, tuple(before), value)
        if any(isinstance(node, Leaving) for node in walk(statement)):
            return None
        before.append(statement)
    return None


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


def _unguarded(body: list[ast.stmt], entries: set[str]) -> Iterator[ast.stmt]:
    """The statements of a body, without tests whether the entry is a tensor."""
    for statement in body:
        match statement:
            case ast.If(test=test, body=inner, orelse=[]) if _asks_for_tensor(test, entries):
                yield from _unguarded(inner, entries)
            case ast.If(
                test=ast.UnaryOp(op=ast.Not(), operand=test), body=[ast.Continue()], orelse=[]
            ) if _asks_for_tensor(test, entries):
                continue
            case _:
                yield statement


def _asks_for_tensor(test: ast.expr, entries: set[str]) -> bool:
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_asks_for_tensor(each, entries) for each in values)
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[entry]),
            ops=[ast.Eq() | ast.Is()],
            comparators=[kind],
        ):
            return ast.unparse(entry) in entries and last_name(kind) in _TENSORS
        case ast.Call(func=ast.Attribute(value=entry, attr="is_floating_point"), args=[]):
            return ast.unparse(entry) in entries
        case ast.Call(args=[entry, *kinds]) if callee_name(test) in _TESTS:
            is_tensor = all(last_name(kind) in _TENSORS for kind in kinds)
            return ast.unparse(entry) in entries and is_tensor
    return False
