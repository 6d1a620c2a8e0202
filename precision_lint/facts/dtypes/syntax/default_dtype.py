"""The default dtype of torch, where the code of a file sets it: `torch.set_default_dtype(…)`.

A call counts for what follows it in its own block, that of a branch or a `with`. Other code has the
dtype that all calls of the file agree on: nothing says when it runs.
"""

from __future__ import annotations

import ast

from precision_lint.model.dtypes import ALIASES, BFLOAT16, FLOAT16, FLOAT32
from precision_lint.model.frozen import frozen
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_SETTING = ("set_default_dtype", "set_default_tensor_type")
_TENSOR_TYPES = {
    "FloatTensor": FLOAT32,
    "HalfTensor": FLOAT16,
    "BFloat16Tensor": BFLOAT16,
    "DoubleTensor": "float64",
}


@frozen
class DefaultDtype:
    """A call that sets the default dtype in a `body`, from `start` to the `end` of its block.

    The dtype is float32 where the call names none: what was the default before is restored so.
    """

    start: int
    end: int
    body: ast.AST
    dtype: str


@frozen
class DefaultDtypes:
    """The calls of a file that set the default dtype, the last first."""

    calls: tuple[DefaultDtype, ...]
    file: ParsedPython

    @property
    def agreed(self) -> str:
        """What all calls set; float32 if they differ."""
        dtypes = {each.dtype for each in self.calls}
        return dtypes.pop() if len(dtypes) == 1 else FLOAT32

    def at(self, node: ast.expr) -> str:
        """The default dtype where an expression is evaluated."""
        offset, body = self.file.span_of(node).start, syntax_tree(self.file).body(node)
        for each in self.calls:
            if each.body is body and each.start <= offset < each.end:
                return each.dtype
        return self.agreed


def default_dtypes(file: ParsedPython) -> DefaultDtypes | None:
    """What sets the default dtype in a file; None if nothing does."""
    if "set_default_" not in file.text.text:
        return None
    syntax = syntax_tree(file)
    calls = [
        DefaultDtype(file.span_of(call).end, _end_of_block(call, syntax, file), body, dtype)
        for name in _SETTING
        for call in syntax.calls(name)
        if (dtype := _set_by(call)) is not None
        for body in [syntax.body(call)]
    ]
    in_order = sorted(calls, key=lambda each: each.start, reverse=True)
    return DefaultDtypes(tuple(in_order), file) if calls else None


def _end_of_block(call: ast.Call, syntax: SyntaxTree, file: ParsedPython) -> int:
    statement = next(each for each in syntax.around(call) if isinstance(each, ast.stmt))
    return file.span_of(syntax.block(statement)[-1]).end


def _set_by(call: ast.Call) -> str | None:
    match call.args:
        case [ast.Attribute(attr=name) | ast.Constant(value=str(name))]:
            last = name.rpartition(".")[2]
            if callee_name(call) == _SETTING[1]:
                return _TENSOR_TYPES.get(last, FLOAT32)
            return ALIASES.get(last, FLOAT32)
        case [_]:
            return FLOAT32
    return None
