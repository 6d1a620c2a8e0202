"""Calls of torch's operators: which operator it is, and its operands as the tables number them."""

from __future__ import annotations

import ast
from dataclasses import replace

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.dtypes.domain.values import Constant, ModelOutput, Tensor, Value
from precision_lint.facts.dtypes.operators.promotion import COMPLEX
from precision_lint.model.dtypes import FLOATING
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.syntax_tree import SyntaxTree, calls_by_span, syntax_tree

OR_THE_LIKE = ", or the like"
"""After an error that stands for those of several operators."""

_TORCH = "torch."
_TENSOR = "torch.Tensor."


def operator(call: Call) -> str | None:
    """The name that the tables have for what is called; None if it is no operator of torch."""
    if call.function is None:
        return call.name if is_method(call) else None
    return call.function.removeprefix(_TORCH) if call.function.startswith(_TORCH) else None


def is_method(call: Call) -> bool:
    """True for a method of a tensor: its receiver is operand 0."""
    return call.function is None and isinstance(call.receiver, Tensor)


def operand(call: Call, position: int, keyword: str) -> Argument | None:
    """An operand by position or keyword; None if it is absent, or behind a star."""
    if is_method(call):
        if position == 0:
            return (
                None if call.receiver_span is None else Argument(call.receiver, call.receiver_span)
            )
        position -= 1
    return call.argument(position, keyword)


def tensor_given(argument: Argument) -> Tensor | None:
    """The tensor that an operand is; None for what holds tensors, and for anything else."""
    match argument.value:
        case Tensor() as tensor:
            return tensor
        case ModelOutput(tensor=tensor):
            return tensor
    return None


def of_real_numbers(call: Call) -> Call:
    """A call without the complex dtypes that a number of which nothing is known might bring."""
    return replace(
        call,
        arguments=tuple(replace(one, value=_real(one.value)) for one in call.arguments),
        keywords={
            name: replace(one, value=_real(one.value)) for name, one in call.keywords.items()
        },
        receiver=_real(call.receiver),
    )


def _real(value: Value) -> Value:
    match value:
        case ModelOutput(tensor=inner):
            return _real(inner)
        case Tensor(dtypes=dtypes) if dtypes & FLOATING:
            return replace(value, dtypes=dtypes - COMPLEX)
    return value


def is_unreduced(call: Call, file: PythonFile) -> bool:
    """True for a loss with `reduction="none"`: one number for each target, none is a sum.

    So is one of a module that is made with it: `nn.CrossEntropyLoss(reduction="none")`.
    """
    reduction = call.keywords.get("reduction")
    if reduction is not None and reduction.value == Constant("none"):
        return True
    node = calls_by_span(file).get(call.span)
    modules = () if node is None else _makers(node.func, syntax_tree(file))
    return any(
        keyword.arg in {"reduction", "reduce"}
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value in ("none", False)
        for made in modules
        for keyword in made.keywords
    )


def _makers(function: ast.expr, syntax: SyntaxTree) -> list[ast.Call]:
    """The calls that make a module which is called."""
    held: object = None
    match function:
        case ast.Call():
            return [function]
        case ast.Name():
            held = binding(function, syntax)
        case ast.Attribute():
            owner = enclosing_class(function, syntax)
            held = None if owner is None else attribute(function, owner, syntax)
    return [each for each in held if isinstance(each, ast.Call)] if isinstance(held, list) else []


def may_fail_on_purpose(call: Call, file: PythonFile) -> bool:
    """True for a call in `try`, or where a test expects that it raises."""
    node = file.node_at(call.span)
    return node is not None and syntax_tree(file).may_fail_on_purpose(node)


def is_expected_to_fail(call: Call, file: PythonFile) -> bool:
    """True for a call where a test expects that it raises."""
    node = file.node_at(call.span)
    return node is not None and syntax_tree(file).is_expected_to_fail(node)


def text_of(argument: Argument, file: PythonFile, otherwise: str) -> str:
    """The source of an operand in a message, if it is short."""
    text = file.text[argument.span]
    return f"`{text}`" if len(text) <= 40 and "\n" not in text else otherwise


def quoted(error: str) -> str:
    """An error as a part of a sentence."""
    text, like, _ = error.removesuffix(".").partition(OR_THE_LIKE)
    return f"`{text}`{like}"
