"""What names of modules and attributes of values stand for in a kernel."""

from __future__ import annotations

import ast
from collections.abc import Container

from precision_lint.facts.triton import dtype_tests
from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.module import Module
from precision_lint.facts.triton.usage import Usage
from precision_lint.facts.triton.values import (
    COMPILE_TIME,
    NUMBER_NOT_KNOWN,
    UNKNOWN,
    Constant,
    Function,
    Items,
    Method,
    Pointer,
    Tensor,
    TypeRef,
    Value,
)


def member(path: str) -> Value:
    """What a qualified name of Triton stands for."""
    package, _, name = path.rpartition(".")
    if package in ("triton.language", "triton.language.core") and name in types.BY_NAME:
        return TypeRef(frozenset({types.BY_NAME[name]}))
    return Function(path)


def module_constant(node: ast.expr, module: Module) -> Value:
    """What a module assigns to a name: usable in kernels as a compile-time value only."""
    match node:
        case ast.Constant(value=value):
            return Constant(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return Constant(-value)
        case ast.Call(func=func, args=[value]) if (module.qualified(func) or "").endswith(
            ".constexpr"
        ):
            return module_constant(value, module)
        case ast.Attribute() if (path := module.qualified(node)) is not None:
            return member(path)
    return COMPILE_TIME


def path_of(node: ast.Attribute, module: Module, variables: Container[str]) -> str | None:
    """The qualified name of an attribute of a module, unless a local variable hides it."""
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id not in variables:
        return module.qualified(node)
    return None


def attribute(value: Value, name: str, usage: Usage) -> Value:
    """`value.name`."""
    match value, name:
        case Tensor() | Pointer(), "dtype" | "type":
            usage.vary(value)
            usage.pin(value)
            if isinstance(value, Pointer):
                return TypeRef(value.elements, is_pointer=True)
            return TypeRef(value.dtypes)
        case TypeRef(), "element_ty" | "scalar":
            return TypeRef(value.dtypes)
        case Tensor(rank=int() as rank), "shape":
            return Items((NUMBER_NOT_KNOWN,) * rank)
        case Tensor(), "T":
            return value
        case TypeRef(), test if test in dtype_tests.TESTS:
            return Method(value, test)
        case TypeRef() | Constant(), _:
            return COMPILE_TIME
        case ((Tensor() | Pointer()), _):
            return Method(value, name)
        case _, "to":
            return Method(value, "to")
    return UNKNOWN
