"""Helpers of the runtime package as one file, for projects that do not want to depend on it.

The source of a helper is copied with everything at the top level of its module that it uses. The
modules are read, not imported: they need torch.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from importlib.util import find_spec
from pathlib import Path

from precision_lint.model.frozen import frozen
from precision_lint.model.version import __version__
from precision_lint.source.python.helper_module import RUNTIME
from precision_lint.source.python.nodes import walk

_MODULES = ("dtypes", "host", "amp", "masking")
"""The modules that can be copied, each after those that it imports."""

_MARK = "# Copied by `precision-lint vendor` from precision-lint "
_HEADER = (
    f"{_MARK}{__version__}\n# SPDX-License-Identifier: Apache-2.0\n# fmt: off\n# isort: skip_file\n"
    "# ruff: noqa: E501, RUF100\n"
)
"""The project's formatters leave the file alone, whatever their settings are, and ruff says nothing
of long lines, nor that it would not have."""


def helpers_in(copy: str) -> list[str] | None:
    """The helpers in the text of a copy; None if it is something else."""
    if not copy.startswith(_MARK):
        return None
    try:
        tree = ast.parse(copy)
    except SyntaxError:
        return None
    return list(_public(tree))


def helpers() -> list[str]:
    """The helpers that can be copied, in order."""
    return sorted(name for module in _MODULES for name in _public(_module(module).tree))


def _public(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name


def is_copy(text: str, names: Sequence[str]) -> bool:
    """True for a copy with some helpers as this release writes it."""
    return text == vendored(names)


def vendored(names: Iterable[str]) -> str:
    """A module with some helpers: annotated, and with no import but torch and NumPy."""
    needed = set(names)
    parts: dict[str, list[ast.stmt]] = {}
    for name in reversed(_MODULES):  # a module imports those before it
        parts[name] = list(_used(_module(name), needed))
    chosen = [(_module(name), node) for name in _MODULES for node in parts[name]]
    imports = [node for _, node in chosen if isinstance(node, ast.Import | ast.ImportFrom)]
    # `if TYPE_CHECKING: import numpy as np`
    for_types = [ast.unparse(node) for _, node in chosen if isinstance(node, ast.If)]
    text = '"""Mixed-precision helpers for PyTorch."""\n\n'
    text += "from __future__ import annotations\n\n" + _sorted(imports, needed)
    for block in dict.fromkeys(for_types):
        text += f"\n{block}\n"
    was_function = False
    for module, node in chosen:
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.If):
            is_function = isinstance(node, ast.FunctionDef)
            text += "\n" * (2 if is_function or was_function else 1)
            text += module.segment(node)
            was_function = is_function
    return _HEADER + text


@frozen(slots=False)
class _Module:
    text: str
    tree: ast.Module = field(repr=False)

    def segment(self, node: ast.stmt) -> str:
        """The lines of a statement, with the comments directly above it."""
        lines = self.text.splitlines(keepends=True)
        first = node.lineno - 1
        while lines[first - 1].startswith("#"):
            first -= 1
        return "".join(lines[first : node.end_lineno])


def _module(name: str) -> _Module:
    spec = find_spec(RUNTIME)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    text = Path(spec.submodule_search_locations[0], f"{name}.py").read_text("utf-8")
    return _Module(text, ast.parse(text))


def _used(module: _Module, needed: set[str]) -> Iterator[ast.stmt]:
    """The statements of a module that define what is needed; what they need is added to that."""
    chosen: set[ast.stmt] = set()
    size = -1
    while size < len(chosen):
        size = len(chosen)
        for node in module.tree.body:
            if node not in chosen and needed & set(_bound(node)):
                chosen.add(node)
                needed.update(_names(node))
    yield from (node for node in module.tree.body if node in chosen and not _is_ours(node))


def _bound(node: ast.stmt) -> Iterator[str]:
    """What a statement defines; for a call such as `_NAMES.update(…)`, what it changes."""
    match node:
        case ast.FunctionDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            if getattr(node, "module", "") != "__future__":
                yield from (alias.asname or alias.name for alias in aliases)
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            yield name
        case ast.If(body=body):
            for inner in body:
                yield from _bound(inner)


def _names(node: ast.stmt) -> Iterator[str]:
    return (inner.id for inner in walk(node) if isinstance(inner, ast.Name))


def _is_ours(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith(RUNTIME)


def _sorted(imports: list[ast.Import | ast.ImportFrom], needed: set[str]) -> str:
    """The imports that are needed in the order of ruff and isort, each module once."""
    plain = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    members: dict[str, set[str]] = {}
    for node in imports:
        if isinstance(node, ast.ImportFrom):
            assert node.module is not None
            members.setdefault(node.module, set()).update(
                alias.name for alias in node.names if alias.name in needed
            )
    text = ""
    for is_standard in (True, False):
        lines = [f"import {name}\n" for name in sorted(plain) if _is_standard(name) is is_standard]
        lines += [
            f"from {name} import {', '.join(sorted(members[name], key=_by_kind))}\n"
            for name in sorted(members)
            if _is_standard(name) is is_standard
        ]
        text += "\n" * bool(text and lines) + "".join(lines)
    return text


def _by_kind(name: str) -> tuple[bool, str]:
    """Constants before classes."""
    return not name.isupper(), name


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names
