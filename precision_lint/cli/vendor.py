"""The command `vendor`: writing helpers into the project."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from precision_lint.cli import console
from precision_lint.engine.session import Session
from precision_lint.engine.vendor import helpers, helpers_in, is_copy, vendored
from precision_lint.engine.writing import create, write_atomically
from precision_lint.project import disk


class CannotVendor(Exception):
    """The helpers cannot be written; the message says why."""


def vendor(names: Sequence[str], output: Path | None, session: Session) -> None:
    """Write helpers to a module of the project, beside those that it has.

    Raises:
        CannotVendor: a helper is unknown, or the file is unknown or somebody else's.
        NotWritten: the file cannot be written.
    """
    known = helpers()
    for name in names:
        if name not in known:
            raise CannotVendor(f"no helper is called `{name}`. Helpers: {', '.join(known)}.")
    root, module = session.project.root, session.settings.helper_module
    path = output or _path_of(module, root)
    if path is None:
        raise CannotVendor(
            "name the file with --output FILE, or its module in the configuration, in "
            '[tool.precision-lint.fix]: helper-module = "mypkg.precision"'
        )
    if not disk.is_folder(path.parent):
        raise CannotVendor(f"{path.parent}: no such folder")
    if path.exists():
        try:
            old = disk.read(path).decode("utf-8", "replace")
        except OSError as error:
            raise CannotVendor(f"{path}: {error.strerror or error}") from error
        there = helpers_in(old)
        if there is None:
            raise CannotVendor(f"{path}: not a file that `precision-lint vendor` wrote")
        if not is_copy(old, there):
            raise CannotVendor(f"{path}: edited, or written by another version: remove it first")
        new = vendored([*there, *names])
        write_atomically(path, old.encode(), new.encode())
    else:
        new = vendored(names)
        create(path, new.encode())
    console.note(f"{os.path.relpath(path)}: now contains {', '.join(helpers_in(new) or names)}")
    if not module:
        console.note(
            "so that fixes import from there, add to the configuration, in "
            f'[tool.precision-lint.fix]: helper-module = "{_module_of(path, root)}"'
        )


def _path_of(module: str, root: Path) -> Path | None:
    """The file of a module of the project; None if the settings name no module of its own."""
    if not module or module.partition(".")[0] == "precision_lint":
        return None
    parts = module.split(".")
    top = next((base for base in (root, root / "src") if disk.is_folder(base / parts[0])), root)
    return top.joinpath(*parts).with_suffix(".py")


def _module_of(path: Path, root: Path) -> str:
    """The name by which the project imports a file."""
    path = path.absolute()
    inside = path.relative_to(root) if path.is_relative_to(root) else Path(path.name)
    parts = inside.with_suffix("").parts
    return ".".join(parts[1:] if parts[0] == "src" and len(parts) > 1 else parts)
