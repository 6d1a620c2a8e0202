"""The release of torch that the imports of a Python file need."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from precision_lint.model.regex import regex

_IMPORTS = regex(
    r"(?m)^(?:import[ ]+(torch\.[\w.]+)|from[ ]+(torch[\w.]*)[ ]+import[ ]*(\([^)]*|[^\n]*))"
)


def torch_needed(path: Path, content: bytes, argument: str = "") -> str:
    """The record of the newest release that brought one of the names, such as `2.4`; "" if none.

    Only imports at the top level count: one under `try`, `if` or in a function need not run.
    """
    from precision_lint.facts.project._generated.torch_names import SINCE

    if not any(name in SINCE for name in _mentioned(content.decode("utf-8", "replace"))):
        return ""
    try:
        body = ast.parse(content).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    found = [SINCE[name] for node in body for name in _imported(node) if name in SINCE]
    return max(found, key=_numbers, default="")


def _mentioned(source: str) -> Iterator[str]:
    """What the lines at the left margin may import: cheaper than a tree of the file."""
    for plain, module, names in _IMPORTS.findall(source):
        yield plain or module
        yield from (f"{module}.{name}" for name in re.findall(r"\w+", names))


def _imported(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Import(names=aliases):
            yield from (alias.name for alias in aliases)
        case ast.ImportFrom(module=str(module), names=aliases, level=0):
            yield module
            yield from (f"{module}.{alias.name}" for alias in aliases)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
