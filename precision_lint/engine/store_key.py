"""What a stored result depends on besides the files: the linter, its libraries and its settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from precision_lint.engine.settings import Settings
from precision_lint.model.version import __version__
from precision_lint.project.contents import digest_of

_PACKAGES = ("precision_lint", "precision_lint.rules", "precision_lint.fixers")
_LIBRARIES = ("libcst", "yaml", "tomli", "tree_sitter", "tree_sitter_json", "tree_sitter_toml")


def store_key(root: Path, exclude: tuple[str, ...], settings: Settings) -> str:
    """A name for the results of one project, under one linter and one set of settings.

    Which rules run on a file is no part of it: that is stored with the results of the file.
    """
    facts = (
        __version__,
        sorted(_code()),
        sorted(_libraries()),
        sys.version_info[:3],
        str(root),
        exclude,
        sorted(settings.target.items()),
        settings.target_gpu,
        settings.helper_module,
        int(settings.min_confidence),
        int(settings.min_severity),
    )
    return digest_of(repr(facts).encode("utf-8", "surrogatepass"))


def _code() -> Iterator[tuple[str, int, int]]:
    """The linter's own files, which change under one version in development."""
    for top in (folder for name in _PACKAGES for folder in import_module(name).__path__):
        for folder, folders, names in os.walk(top):
            folders[:] = [each for each in folders if each != "__pycache__"]
            for name in names:
                status = os.stat(os.path.join(folder, name))
                yield name, status.st_mtime_ns, status.st_size


def _libraries() -> Iterator[tuple[str, int, int]]:
    """The libraries that read files for the linter."""
    for name in _LIBRARIES:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            status = os.stat(spec.origin)
            yield name, status.st_mtime_ns, status.st_size
