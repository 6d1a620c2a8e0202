"""What the functions that a kernel calls return, by the types of their arguments.

Measured on Triton 3.0 to 3.9; where versions differ, the transfers ask for the version.
"""

from __future__ import annotations

from precision_lint.facts.triton import (
    casts,
    creation,
    elementwise,
    memory,
    products,
    reductions,
    shapes,
)
from precision_lint.facts.triton.language import Language
from precision_lint.facts.triton.operators import are_constant
from precision_lint.facts.triton.transfer import Transfer, same, table
from precision_lint.facts.triton.values import (
    COMPILE_TIME,
    NONE,
    NUMBER_NOT_KNOWN,
    UNKNOWN,
    Arguments,
    Constant,
    Value,
)

BUILTINS = frozenset({"float", "int", "len", "isinstance", "getattr", "hasattr", "min", "max"})
"""Those of Python that kernels can use."""
_PACKAGES = frozenset(
    f"triton.language{package}" for package in ("", ".math", ".core", ".standard", ".random")
)


def _nothing(arguments: Arguments, language: Language) -> Value:
    return NONE


_TRANSFERS: dict[str, Transfer] = {
    **elementwise.TRANSFERS,
    **reductions.TRANSFERS,
    **products.TRANSFERS,
    **casts.TRANSFERS,
    **creation.TRANSFERS,
    **shapes.TRANSFERS,
    **memory.TRANSFERS,
    **table("multiple_of max_contiguous max_constancy", same),
    **table("static_assert static_print device_print device_assert", _nothing),
    **table("debug_barrier assume", _nothing),
}
"""By name in `triton.language`; `tl.math` and tensor methods have the same names."""


def call(path: str, arguments: Arguments, language: Language) -> Value:
    """What a function of Triton returns, by its qualified name."""
    package, _, name = path.rpartition(".")
    if package in _PACKAGES and name in _TRANSFERS:
        return _TRANSFERS[name](arguments, language)
    if name in elementwise.LIBDEVICE and package.startswith(("triton.language", "triton.ops")):
        return elementwise.LIBDEVICE[name](arguments, language)
    if path == "triton.cdiv":
        return _TRANSFERS["cdiv"](arguments, language)
    return NUMBER_NOT_KNOWN if package == "triton" else UNKNOWN


def builtin(name: str, arguments: Arguments, language: Language) -> Value:
    """What one of Python's builtins returns, as far as Triton lets kernels use it."""
    values = arguments.positional
    match name, values:
        case "float", (Constant(value=str() | int() | float() as value),):
            try:
                return Constant(float(value), is_number=True)
            except ValueError:
                return NUMBER_NOT_KNOWN
        case "min" | "max", (left, right) if not are_constant(left, right):
            name = "minimum" if name == "min" else "maximum"
            return call(f"triton.language.{name}", arguments, language)
        case "min" | "max" | "int" | "float" | "len", _:
            return NUMBER_NOT_KNOWN if are_constant(*values) or name == "len" else UNKNOWN
    return COMPILE_TIME
