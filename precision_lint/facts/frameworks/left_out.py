"""Files of settings that no code reads, as it names another file of the same name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.project.facts import Recording


def is_left_out(run: EffectiveConfig, project: Recording) -> bool:
    """True for a file that only its keys give to a framework, where code names its namesake.

    `"configs/ds_config.json"` in code is not `train/ds_config.json`. A command, a page or code
    that gives nothing but the name may mean either.
    """
    path, files = run.file.text.path, project.config_files
    if not run.is_by_keys or run.file.python is not None:
        return False
    if files.named_in_pages(path) or any(one.python is None for one in files.referring(path)):
        return False
    named = [*_named(path, project)]
    return bool(named) and path not in named


def _named(path: Path, project: Recording) -> Iterator[Path | None]:
    """The files that strings of the code mean which end with the name of a file."""
    for user in project.config_files.named_in_python(path):
        module = project.module(user)
        if module is None:  # a notebook
            yield path
            continue
        for node in module.nodes_of(ast.Constant):
            if isinstance(node.value, str) and node.value.rpartition("/")[2] == path.name:
                found = project.config_files.find(node.value, user)
                yield path if found is None or "/" not in node.value else found
