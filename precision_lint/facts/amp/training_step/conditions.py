"""What a path takes for granted: the truth of conditions, by their source text."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from precision_lint.source.python.syntax import compared_with_texts
from precision_lint.source.python.truth import connected, implied, opposite

PathConditions = Mapping[str, bool]


def truth(test: ast.expr, assumed: PathConditions) -> bool | None:
    """Whether a condition holds under assumptions; None if they do not say."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return opposite(truth(operand, assumed))
        case ast.BoolOp(op=op, values=values):
            holds = connected(op, (truth(value, assumed) for value in values))
            if holds is not None:
                return holds
        case ast.Compare(
            left=ast.Constant(value=one), ops=[op], comparators=[ast.Constant(value=other)]
        ):
            match op:
                case ast.Is() | ast.Eq():
                    return type(one) is type(other) and one == other
                case ast.IsNot() | ast.NotEq():
                    return not (type(one) is type(other) and one == other)
    text, positive = _atom(test)
    return assumed[text] is positive if text in assumed else _compared(test, assumed)


def _compared(test: ast.expr, assumed: PathConditions) -> bool | None:
    """Whether `x == "a"` or `x in ("a", "b")` holds, by what else `x` is compared with."""
    match compared_with_texts(test):
        case left, texts, is_positive:
            holds = _equals_one_of(ast.unparse(left), [*map(repr, texts)], assumed)
            return None if holds is None else holds is is_positive
    return None


def _equals_one_of(left: str, texts: Sequence[str], assumed: PathConditions) -> bool | None:
    known = [assumed.get(f"{left} == {text}") for text in texts]
    if True in known:
        return True
    if None not in known:
        return False
    is_another_text = (
        holds and re.fullmatch(rf"{re.escape(left)} == (['\"]).*\1", condition) is not None
        for condition, holds in assumed.items()
    )
    return False if any(is_another_text) else None


def assuming(test: ast.expr, holds: bool, assumed: PathConditions) -> PathConditions:
    """The assumptions, and that a condition holds, or does not."""
    rows = ((_atom(part), is_met) for part, is_met in implied(test, holds))
    return {**assumed, **{text: is_met is positive for (text, positive), is_met in rows}}


def without(names: frozenset[str], assumed: PathConditions) -> PathConditions:
    """The assumptions that do not mention names which have changed."""
    if not names or not assumed:
        return assumed
    return {text: value for text, value in assumed.items() if not mentions(text, names)}


@lru_cache(maxsize=1 << 14)
def mentions(text: str, names: frozenset[str]) -> bool:
    """True if a condition mentions one of some variables or attributes (`self.step`).

    The states of a step have few texts, and meet the same assignments again and again.
    """
    return any(re.search(rf"(?<![\w.]){re.escape(name)}\b", text) for name in names)


def atoms(test: ast.expr) -> frozenset[str]:
    """The texts that assumptions about a condition can be made of, its parts and itself."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return atoms(operand)
        case ast.BoolOp(values=values):
            return frozenset({ast.unparse(test)}).union(*map(atoms, values))
    return frozenset({_atom(test)[0]})


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._names.get(node.id, node)


def with_names(test: ast.expr, names: Mapping[str, ast.expr]) -> ast.expr:
    """A condition in which names are replaced by what they stand for."""
    renamed: ast.expr = _Renaming(names).visit(copy.deepcopy(test))
    return renamed


def _atom(test: ast.expr) -> tuple[str, bool]:
    """A condition as others may spell it too: `x is not None` is the opposite of `x is None`."""
    match test:
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[right]):
            return f"{ast.unparse(left)} is {ast.unparse(right)}", False
        case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]):
            return f"{ast.unparse(left)} == {ast.unparse(right)}", False
        case ast.Compare(left=left, ops=[ast.NotIn()], comparators=[right]):
            return f"{ast.unparse(left)} in {ast.unparse(right)}", False
        case ast.NamedExpr(value=value):
            return _atom(value)
    return ast.unparse(test), True
