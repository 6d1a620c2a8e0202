"""Literals that name a dtype: `"bf16"` to `"bfloat16"`, or to `torch.bfloat16`."""

from __future__ import annotations

from precision_lint.model.dtypes import ALIASES, BFLOAT16, FLOAT16, FLOAT32
from precision_lint.model.finding import Edit, Span
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import syntax_tree

_SHORT = {"bf16": BFLOAT16, "fp16": FLOAT16, "fp32": FLOAT32, "fp64": "float64"}
_LITERAL = regex(r"""(['"])(?:torch\.)?(\w+)\1""")


def meant(name: str) -> str | None:
    """The dtype that a text means, in any spelling; None if it is none."""
    bare = name.lower().removeprefix("torch.")
    return _SHORT.get(bare) or ALIASES.get(bare)


def as_name(file: ParsedPython, literal: Span) -> Edit | None:
    """`"bf16"` to `"bfloat16"`, the name that torch has; None for any other expression."""
    return _replaced(file, literal, "{quote}{dtype}{quote}")


def as_dtype(file: ParsedPython, literal: Span) -> Edit | None:
    """`"bf16"` to `torch.bfloat16`; None where the file does not call torch so."""
    if syntax_tree(file).names.get("torch") != "torch":
        return None
    return _replaced(file, literal, "torch.{dtype}")


def _replaced(file: ParsedPython, literal: Span, form: str) -> Edit | None:
    written = _LITERAL.fullmatch(file.text[literal])
    dtype = None if written is None else meant(written[2])
    if written is None or dtype is None:
        return None
    return Edit(literal, form.format(quote=written[1], dtype=dtype))
