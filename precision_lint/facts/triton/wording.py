"""What Triton says when it refuses a kernel, in the words of each version."""

from __future__ import annotations

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.language import Version
from precision_lint.facts.triton.refusals import CompileError
from precision_lint.facts.triton.values import (
    NONE,
    Constant,
    Items,
    Pointer,
    Tensor,
    TypeRef,
    Value,
    is_only,
)

_CAPITALS: Version = (3, 2)
_VALUES_SHOW_THEIR_SHAPE: Version = (3, 3)
_AMBIGUOUS: Version = (3, 4)
_RETURN_MISMATCH: Version = (3, 6)
_OPERANDS: Version = (3, 3)
_FLOAT8_OPERATORS: Version = (3, 2)
"""Since then the front end lets them pass, and LLVM does not."""
_REASONS: Version = (3, 8)
"""Before, assertions about accumulators said nothing."""

_LANGUAGE_NAMES = {dtype: name for name, dtype in types.BY_NAME.items()}


def compiler_message(refusal: CompileError, version: Version) -> str:
    """The compiler's words, with `...` for sizes; empty where it has none."""
    name, before, after = refusal.subject, refusal.before, refusal.after
    left, right = type_of(before), type_of(after)
    match refusal.kind:
        case "mismatch":
            mismatched = "Mismatched" if version >= _CAPITALS else "mismatched"
            return (
                f"{mismatched} type for {name} between then block ({left}) and else block ({right})"
            )
        case "branch":
            shown = value_of if version >= _VALUES_SHOW_THEIR_SHAPE else type_of
            return (
                f"initial value for `{name}` is of type {shown(before)}, "
                f"but the {refusal.block} block redefines it as {shown(after)}"
            )
        case "none":
            return "'NoneType' object has no attribute 'type'"
        case "loop" if before == NONE:
            return f"Loop carried variable {name} is not a triton value"
        case "loop" if isinstance(before, Constant):
            return f"Loop carried variable {name} changed type"
        case "loop":
            return (
                f"Loop-carried variable {name} has initial type {left} but is re-assigned to "
                f"{right} in loop! Please make sure that the type stays consistent."
            )
        case "return" if version >= _RETURN_MISMATCH:
            return f"Return type mismatch: {left} and {right}."
        case "return":
            return f"Inconsistent return types: {left} and {right}"
        case "return in a loop":
            return "Cannot have `return` statements inside `while` or `for` statements in triton"
        case "ternary":
            ternary = "Ternary" if version >= _CAPITALS else "ternary"
            return (
                f"{ternary} expression with dynamic condition has inconsistent types "
                f"{left} and {right}"
            )
        case "math" if name.startswith("libdevice."):
            values = before.values if isinstance(before, Items) else (after,)
            names = (_LANGUAGE_NAMES.get(_dtype(value), "?") for value in values)
            return f"KeyError: ({', '.join(f'triton.language.{name}' for name in names)})"
        case "math":
            accepted = ["fp32"] if name in ("sqrt_rn", "div_rn") else ["fp32", "fp64"]
            return f"Expected dtype {accepted} but got {_dtype(after)}"
        case "dot":
            return _of_dot(refusal, version)
        case "float8" if any(is_only(value, types.INTEGERS) for value in (before, after)):
            return f"unexpected type {_dtype(before)} and {_dtype(after)}"
        case "float8" if version < _FLOAT8_OPERATORS:
            return "unexpected type"
        case "float8":
            return "PassManager::run failed"
        case "atomic":
            return f"{name} does not support {_dtype(after)}"
        case "bitcast":
            return (
                f"Cannot bitcast data-type of size {_bits(before)} to "
                f"data-type of size {_bits(after)}"
            )
        case "condition" if isinstance(after, Tensor):
            return f"Cannot bitcast data-type of size {_bits(before)} to data-type of size 1"
        case "tuple":
            return "unsupported tensor index"
        case "condition" if version >= _AMBIGUOUS:
            return "Boolean value of Tensor with more than one value is ambiguous"
        case "name":
            return f"{name} is not defined"
        case "argument" if name == "range":
            return "For loop bounds and step must all be ints"
        case "argument":
            return "missing a required argument: 'dtype'"
    return ""


def _of_dot(refusal: CompileError, version: Version) -> str:
    left, right = _dtype(refusal.before), _dtype(refusal.after)
    is_explained = refusal.subject == "out_dtype" or version >= _REASONS
    if right == "bf16" and refusal.subject != "dot" and is_explained:
        return (
            "out_dtype=bfloat16 is unsupported. Please use out_dtype=float32/float16 and cast "
            "with `.to(tl.bfloat16)`"
        )
    if refusal.subject == "acc":
        return f"expected accumulator dtype {left}, got {right}" if is_explained else ""
    if version >= _OPERANDS and (left == right or left in types.FLOAT8):
        return f"Unsupported lhs dtype {left}"
    if version >= _OPERANDS and right in types.FLOAT8:
        return f"Unsupported rhs dtype {right}"
    if right in types.FLOAT8:
        return f"Only supports fp8e4nv, fp8e5. First operand ({left})"
    if left in types.FLOAT8:
        return f"Only supports fp8e4nv, fp8e5. Second operand ({right})"
    if version >= _OPERANDS:
        return f"Both operands must be same dtype. Got {left} and {right}"
    return f"First input ({left}) and second input ({right}) must have the same dtype!"


def value_of(value: Value) -> str:
    """A value as Triton prints its type: `bf16[...]`, `fp32[]`, `pointer<bf16>[]`."""
    if isinstance(value, Items):
        return f"[{', '.join(map(value_of, value.values))}]"
    if not isinstance(value, Tensor | Pointer):
        return type_of(value)
    return f"{_element(value)}[]" if value.rank == 0 else f"{_element(value)}[...]"


def type_of(value: Value) -> str:
    """A type as Triton prints it: `<[...], bf16>`, `fp32`, `pointer<bf16>`."""
    match value:
        case Items(values=values):
            return f"[{', '.join(map(type_of, values))}]"
        case Tensor(rank=0) | Pointer(rank=0):
            return _element(value)
        case Tensor() | Pointer():
            return f"<[...], {_element(value)}>"
        case Constant(value=None):
            return "None"
        case Constant():
            return "constexpr"
    return "?"


def _element(value: Tensor | Pointer) -> str:
    return _dtype(value) if isinstance(value, Tensor) else f"pointer<{_dtype(value)}>"


def _dtype(value: Value) -> str:
    match value:
        case Tensor(dtypes=dtypes) | Pointer(elements=dtypes) | TypeRef(dtypes=dtypes):
            return "|".join(sorted(dtypes)) if dtypes != types.ANY else "?"
    return "?"


def _bits(value: Value) -> str:
    match value:
        case Tensor(dtypes=dtypes) if dtypes:
            return "|".join(str(bits) for bits in sorted({types.width(dtype) for dtype in dtypes}))
    return "?"
