"""The release of Python that a file needs to be parsed, and for what runs when it is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import TryStar

FIRST_TORCH: Mapping[str, tuple[int, int]] = {
    "3.8": (1, 4),
    "3.9": (1, 7),
    "3.10": (1, 11),
    "3.11": (1, 13),
    "3.12": (2, 2),
}
"""The first torch with packages for a Python, on PyPI for Linux."""

_MAY_NEED = regex(
    rb":=|\bmatch\b|\bexcept\*|\btype\b|\|\s*None\b|\bNone\s*\|"
    rb"|\b(?:list|dict|tuple|set|frozenset|type)\s*\[|(?m:^\s*(?:def|class)\s+\w+\[)|[(,]\s*/\s*[,)]"
)
_GENERIC = frozenset({"list", "dict", "tuple", "set", "frozenset", "type"})


def python_needed(path: Path, content: bytes, argument: str = "") -> str:
    """The record of the oldest Python that can import a file, such as `3.10`; "" if any can."""
    if _MAY_NEED.search(content) is None:
        return ""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    needed = [*_by_syntax(tree)]
    if not _postpones_annotations(tree):
        needed += (each for one in _annotations(tree.body) for each in _by_annotation(one))
    return max(needed, key=lambda release: int(release.partition(".")[2]), default="")


def _by_syntax(tree: ast.Module) -> Iterator[str]:
    for node in walk(tree):
        match node:
            case ast.NamedExpr() | ast.arguments(posonlyargs=[_, *_]):
                yield "3.8"
            case ast.Match():
                yield "3.10"
            case TryStar():
                yield "3.11"
        if getattr(node, "type_params", None):
            yield "3.12"


def _postpones_annotations(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body
    )


def _annotations(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """The annotations that an import evaluates: those of the module, its classes and functions."""
    for node in body:
        match node:
            case ast.AnnAssign(annotation=annotation):
                yield annotation
            case ast.ClassDef(body=inner):
                yield from _annotations(inner)
            case ast.FunctionDef(args=given) | ast.AsyncFunctionDef(args=given):
                every = (
                    *given.posonlyargs,
                    *given.args,
                    *given.kwonlyargs,
                    given.vararg,
                    given.kwarg,
                )
                yield from (each.annotation for each in every if each and each.annotation)
                if node.returns is not None:
                    yield node.returns


def _by_annotation(annotation: ast.expr) -> Iterator[str]:
    for node in walk(annotation):
        match node:
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                if any(
                    isinstance(one, ast.Constant) and one.value is None for one in (left, right)
                ):
                    yield "3.10"
            case ast.Subscript(value=ast.Name(id=name)) if name in _GENERIC:
                yield "3.9"
