"""Names of AMP that the torch of a project does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.facts.context import PythonFile
from precision_lint.model.frozen import frozen
from precision_lint.source.python.compatibility import is_for_another_version
from precision_lint.source.python.scopes import Scopes, Step, scopes_in

SINCE: Mapping[str, tuple[int, int]] = {
    "torch.autocast": (1, 10),
    "torch.amp.GradScaler": (2, 3),
    "torch.amp.custom_fwd": (2, 4),
    "torch.amp.custom_bwd": (2, 4),
    "torch.amp.is_autocast_available": (2, 4),
    "torch.get_autocast_dtype": (2, 4),
    "torch.set_autocast_dtype": (2, 4),
}
"""The release that brought each name."""


@frozen
class MissingName:
    """A name that torch `version` lacks: where it is imported or read."""

    name: str
    node: ast.expr | ast.alias
    is_import: bool
    since: tuple[int, int]
    version: tuple[int, int]


def missing_names(file: PythonFile) -> Iterator[MissingName]:
    """The names that the pinned torch lacks, each where it is imported, or read first."""
    version = _newest(file)
    if version is None or version >= max(SINCE.values()):
        return
    seen = set()
    for name, node, at in _uses(scopes_in(file)):
        since = SINCE.get(name)
        if since is None or version >= since or name in seen:
            continue
        if is_for_another_version(node, at, file.text):
            continue
        needed = file.project.torch_of_python_needed_with(file.text.path)
        if needed is not None and needed > version:
            return  # no Python that can run the program has packages of the pinned torch
        seen.add(name)
        is_import = isinstance(node, ast.ImportFrom)
        shown = _alias(node, name) if isinstance(node, ast.ImportFrom) else node
        yield MissingName(name, shown, is_import, since, version)


def _newest(file: PythonFile) -> tuple[int, int] | None:
    """The newest torch that the project installs; None where it pins none."""
    pinned = file.project.version_of("torch")
    declared = file.project.lowest_version_of("torch", file.text.path)
    return None if pinned is None or declared is None else max(pinned, declared)


def _uses(
    scopes: Scopes,
) -> Iterator[tuple[str, ast.ImportFrom | ast.Name | ast.Attribute, Step]]:
    for scope in scopes.all:
        for bindings in scope.bindings.values():
            for binding in bindings:
                if isinstance(binding.statement, ast.ImportFrom) and binding.qualified is not None:
                    yield binding.qualified, binding.statement, binding.at
    for reference in scopes.references:
        qualified = reference.qualified
        if qualified is not None and len(reference.names) > 1:
            yield qualified, reference.node, reference.at


def _alias(node: ast.ImportFrom, name: str) -> ast.alias:
    return next(alias for alias in node.names if alias.name == name.rpartition(".")[2])
