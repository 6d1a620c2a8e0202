"""Rewriting a call: its receiver, an argument, a keyword."""

from __future__ import annotations

import ast
from typing import NamedTuple

from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.model.finding import Edit, Span
from precision_lint.source.python.parse import ParsedPython


class _Receiver(NamedTuple):
    """`x.cpu()` in `x.cpu().numpy()`, before the dot and its whitespace."""

    span: Span
    is_parenthesized: bool


def insert_before_method(file: ParsedPython, call: Call, chained: str) -> Edit | None:
    """`x.cpu().numpy()` to `x.cpu()<chained>.numpy()`; None where LibCST has no node for it."""
    receiver = _receiver(file, call)
    return None if receiver is None else Edit(Span(receiver.span.end, receiver.span.end), chained)


def wrap_receiver(file: ParsedPython, call: Call, function: str) -> list[Edit] | None:
    """`x.cpu().numpy()` to `function(x.cpu())`; None if that would lose a comment."""
    receiver = _receiver(file, call)
    if receiver is None or "#" in file.text[Span(receiver.span.end, call.span.end)]:
        return None
    start = Span(call.span.start, call.span.start)
    tail = Span(receiver.span.end, call.span.end)
    if receiver.is_parenthesized:  # `(a + b).numpy()`: its parentheses become the call's
        return [Edit(start, function), Edit(tail, "")]
    return [Edit(start, f"{function}("), Edit(tail, ")")]


def wrap_before_method(file: ParsedPython, call: Call, function: str) -> list[Edit] | None:
    """`x.cpu().tolist()` to `function(x.cpu()).tolist()`; None where LibCST has no node for it."""
    receiver = _receiver(file, call)
    return None if receiver is None else wrap_argument(receiver.span, function)


def wrap_argument(span: Span, function: str) -> list[Edit]:
    """`f(x)` to `f(function(x))` for the argument at `span`."""
    return [
        Edit(Span(span.start, span.start), f"{function}("),
        Edit(Span(span.end, span.end), ")"),
    ]


def append_method(file: ParsedPython, span: Span, chained: str) -> list[Edit]:
    """`x` to `x<chained>`, in parentheses if the expression binds less tightly than a call."""
    import libcst as cst

    end = Span(span.end, span.end)
    expression = file.expression(span)
    tight = cst.Name | cst.Attribute | cst.Call | cst.Subscript
    if expression is not None and isinstance(expression.node, tight):
        return [Edit(end, chained)]
    return [Edit(Span(span.start, span.start), "("), Edit(end, f"){chained}")]


def set_keyword(file: ParsedPython, call: Call, keyword: str, expression: str) -> Edit | None:
    """`f(a)` to `f(a, keyword=expression)`, or the new value of an existing keyword."""
    if (given := call.keywords.get(keyword)) is not None:
        return Edit(given.span, expression)
    return add_keyword(file, call.span, keyword, expression)


def add_keyword(file: ParsedPython, call: Span, keyword: str, expression: str) -> Edit | None:
    """`f(a)` to `f(a, keyword=expression)` for the call at a span, which lacks the keyword."""
    import libcst as cst

    found = file.expression(call)
    if found is None or not isinstance(found.node, cst.Call):
        return None
    arguments = found.node.args
    if not arguments:
        offset = call.end - 1
        return Edit(Span(offset, offset), f"{keyword}={expression}")
    # After the last argument and before its trailing comma, if any: comments stay in place.
    offset = found.extent(arguments[-1].value).end
    return Edit(Span(offset, offset), f", {keyword}={expression}")


def remove_keyword(file: ParsedPython, call: ast.Call, keyword: ast.keyword) -> Edit | None:
    """`f(a, b=1)` to `f(a)`; None for an argument that is the only one."""
    span = file.span_of(keyword)
    given = [*map(file.span_of, call.args), *map(file.span_of, call.keywords)]
    after = min((each.start for each in given if each.start > span.start), default=None)
    before = max((each.end for each in given if each.end < span.start), default=None)
    if after is not None:
        return Edit(Span(span.start, after), "")
    return None if before is None else Edit(Span(before, span.end), "")


def _receiver(file: ParsedPython, call: Call) -> _Receiver | None:
    import libcst as cst

    found = file.expression(call.span)
    if found is None or not isinstance(found.node, cst.Call):
        return None
    func = found.node.func
    if not isinstance(func, cst.Attribute) or func.lpar:
        return None
    return _Receiver(found.extent(func.value), len(getattr(func.value, "lpar", ())) == 1)
