"""Rewriting a call: its receiver, an argument, a keyword."""

from __future__ import annotations

from typing import TYPE_CHECKING

from precision_lint.dtypes.calls import Call
from precision_lint.finding import Edit, Span
from precision_lint.source.python import PythonFile

if TYPE_CHECKING:
    import libcst as cst


def insert_before_method(file: PythonFile, call: Call, chained: str) -> Edit | None:
    """`x.cpu().numpy()` to `x.cpu()<chained>.numpy()`; None where LibCST has no node for it."""
    end = _receiver_end(file, call)
    return None if end is None else Edit(Span(end, end), chained)


def wrap_receiver(file: PythonFile, call: Call, function: str) -> list[Edit] | None:
    """`x.cpu().numpy()` to `function(x.cpu())`; None if that would lose a comment."""
    end = _receiver_end(file, call)
    if end is None or "#" in file.text[Span(end, call.span.end)]:
        return None
    start = Span(call.span.start, call.span.start)
    tail = Span(end, call.span.end)
    if _is_parenthesized(file, call):  # `(a + b).numpy()`: its parentheses become the call's
        return [Edit(start, function), Edit(tail, "")]
    return [Edit(start, f"{function}("), Edit(tail, ")")]


def wrap_before_method(file: PythonFile, call: Call, function: str) -> list[Edit] | None:
    """`x.cpu().tolist()` to `function(x.cpu()).tolist()`; None where LibCST has no node for it."""
    end = _receiver_end(file, call)
    return None if end is None else wrap_argument(Span(call.span.start, end), function)


def wrap_argument(span: Span, function: str) -> list[Edit]:
    """`f(x)` to `f(function(x))` for the argument at `span`."""
    return [
        Edit(Span(span.start, span.start), f"{function}("),
        Edit(Span(span.end, span.end), ")"),
    ]


def append_method(file: PythonFile, span: Span, chained: str) -> list[Edit]:
    """`x` to `x<chained>`, in parentheses where the expression binds less tightly than a call."""
    import libcst as cst

    end = Span(span.end, span.end)
    kinds = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)
    if any(file.node(span, kind) is not None for kind in kinds):
        return [Edit(end, chained)]
    return [Edit(Span(span.start, span.start), "("), Edit(end, f"){chained}")]


def set_keyword(file: PythonFile, call: Call, keyword: str, expression: str) -> Edit | None:
    """`f(a)` to `f(a, keyword=expression)`, or the new value of a keyword that is there."""
    import libcst as cst

    if (given := call.keywords.get(keyword)) is not None:
        return Edit(given.span, expression)
    node = file.node(call.span, cst.Call)
    if node is None:
        return None
    if not node.args:
        offset = call.span.end - 1
        return Edit(Span(offset, offset), f"{keyword}={expression}")
    # Behind the last argument and before its trailing comma, if any: comments stay where they are.
    offset = file.nodes.extent(node.args[-1].value).end
    return Edit(Span(offset, offset), f", {keyword}={expression}")


def _receiver_end(file: PythonFile, call: Call) -> int | None:
    """The offset behind `x.cpu()` in `x.cpu().numpy()`, before the dot and its blanks."""
    func = _method(file, call)
    return None if func is None else file.nodes.extent(func.value).end


def _is_parenthesized(file: PythonFile, call: Call) -> bool:
    func = _method(file, call)
    return func is not None and len(getattr(func.value, "lpar", ())) == 1


def _method(file: PythonFile, call: Call) -> cst.Attribute | None:
    import libcst as cst

    node = file.node(call.span, cst.Call)
    if node is None or not isinstance(node.func, cst.Attribute) or node.func.lpar:
        return None
    return node.func
