"""What conditions and comparisons come to, where it is known what their parts come to."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeAlias

from precision_lint.facts.runs.interpreter.here_documents import WrittenFile
from precision_lint.facts.runs.interpreter.known import Holder, Items, Known, agreed, equal, truth

Value: TypeAlias = "Callable[[ast.expr], Known | None]"


def chosen(value: Value, test: Known | None, body: ast.expr, orelse: ast.expr) -> Known | None:
    """`body if test else orelse`."""
    holds = truth(test)
    if test is None or holds is None:
        return agreed([value(body), value(orelse)])
    known = value(body if holds else orelse)
    if known is None or known.written is not None or test.written is None:
        return known
    return test.derived(known.value)


def connected(value: Value, is_or: bool, values: list[ast.expr]) -> Known | None:
    """`a or b`, `a and b`: of comparisons, one that decides is enough, and so is a part that is
    false: `installed and config["use_deepspeed"]`.
    """
    last: Known | None = None
    is_unknown = False
    for each in values:
        known = value(each)
        holds = truth(known)
        if known is None or holds is None:
            if is_or and not _is_comparison(each):
                return None
            is_unknown = True
            continue
        if is_unknown:
            if not isinstance(known.value, bool):
                return None
            if holds is is_or:
                return known
            continue
        last = known if last is None or known.written else last.derived(known.value)
        if holds is is_or:
            return last
    return None if is_unknown else last


def _is_comparison(node: ast.expr) -> bool:
    """True for an expression whose value is a truth value, whatever its parts are."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp(values=values):
            return all(map(_is_comparison, values))
    return False


def compared(value: Value, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Known | None:
    """`left == right`, `left in right`."""
    one = value(left)
    if one is None or isinstance(one.value, Holder | Items):
        return None
    if isinstance(op, ast.In | ast.NotIn):
        found = _contained(value, one, right)
        return found.derived(found.value is isinstance(op, ast.In)) if found is not None else None
    other = value(right)
    if other is None or isinstance(other.value, Holder | Items):
        return None
    if (one.is_opened or other.is_opened) and None not in (one.value, other.value):
        return None
    if isinstance(one.value, WrittenFile) and other.value is not None:
        return None  # its path is not known
    said = one if one.written is not None else other
    match op:
        case ast.Eq() | ast.Is():
            return said.derived(equal(one.value, other.value))
        case ast.NotEq() | ast.IsNot():
            return said.derived(not equal(one.value, other.value))
    return None


def _contained(value: Value, one: Known, right: ast.expr) -> Known | None:
    """`name in ("a", "b")`, and `"a" in name`, which looks for a part of a text."""
    if one.is_opened or isinstance(one.value, WrittenFile):
        return None
    if isinstance(right, ast.List | ast.Tuple | ast.Set):
        items = [value(item) for item in right.elts]
        if any(item is None for item in items):
            return None
        return one.derived(any(item and equal(one.value, item.value) for item in items))
    text = value(right)
    if text is None or text.is_opened:
        return None
    if not isinstance(text.value, str) or not isinstance(one.value, str):
        return None
    return (one if one.written is not None else text).derived(one.value in text.value)
