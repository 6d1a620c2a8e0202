"""The Triton kernels of a file, as facts for rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from precision_lint.finding import Span
from precision_lint.source.text import SourceText
from precision_lint.triton_types.language import NEWEST, Version
from precision_lint.triton_types.mismatches import Analysis, Mismatch
from precision_lint.triton_types.module import JitFunction, Module
from precision_lint.triton_types.parameters import Parameter


@dataclass(frozen=True, slots=True)
class Kernel:
    """A `@triton.jit` function that the host launches."""

    name: str
    span: Span
    parameters: tuple[Parameter, ...]
    mismatches: tuple[Mismatch, ...]


def find_kernels(
    tree: ast.Module, text: SourceText, target_triton: Version | None = None
) -> tuple[Kernel, ...]:
    """The kernels of a file, typed for a version of Triton (the newest if None).

    A mismatch in a helper is reported once, with the first kernel that calls it so.
    """
    module = Module(tree, text)
    seen: set[tuple[Span, str]] = set()
    found = []
    for function in _entries(module):
        try:
            analysis = Analysis(module, function, target_triton or NEWEST)
            parameters, mismatches = analysis.facts()
        except RecursionError:
            continue  # an expression nested as deeply as Python's stack
        new = tuple(m for m in mismatches if (m.condition, m.variable) not in seen)
        seen.update((mismatch.condition, mismatch.variable) for mismatch in new)
        node = function.node
        found.append(Kernel(node.name, module.span(node), parameters, new))
    return tuple(found)


def _entries(module: Module) -> Iterator[JitFunction]:
    """The jit functions that the host launches, as far as this file shows.

    A helper's arguments can be compile-time values without an annotation, so it is only evaluated
    where it is called.
    """
    for function in module.jit_functions:
        name = function.node.name
        if function.is_launched or name in module.launches or _reads_program_id(module, function):
            yield function


def _reads_program_id(module: Module, function: JitFunction) -> bool:
    """True if it finds out its own place in the grid, and returns nothing."""
    reads = False
    for node in ast.walk(function.node):
        match node:
            case ast.Return(value=ast.expr()):
                return False
            case ast.Call(func=func) if module.qualified(func) == "triton.language.program_id":
                reads = True
    return reads
