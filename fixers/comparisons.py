"""Rewriting comparisons with dtypes."""

from __future__ import annotations

from precision_lint.model.finding import Edit, Span
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython

_FLOAT16 = regex(r"""(?:["'](?:float16|fp16|half)["']|torch\.(?:float16|half))""")


def only_float16(file: ParsedPython, span: Span) -> Edit | None:
    """`dtype in ["float16", "bfloat16"]` to `dtype == "float16"`; None for any other expression."""
    import libcst as cst

    found = file.expression(span)
    if found is None or not isinstance(found.node, cst.Comparison):
        return None
    if len(found.node.comparisons) != 1:
        return None
    target = found.node.comparisons[0]
    if not isinstance(target.operator, cst.In):
        return None
    if not isinstance(target.comparator, cst.List | cst.Tuple | cst.Set):
        return None
    texts = [file.text[found.extent(item.value)] for item in target.comparator.elements]
    float16 = [text for text in texts if _FLOAT16.fullmatch(text)]
    if len(float16) != 1:
        return None
    subject = file.text[found.extent(found.node.left)]
    return Edit(span, f"{subject} == {float16[0]}")
