"""The folders whose files a program composes by calls of Hydra, in a module that others import:
`initialize_config_dir(config_dir=str(ROOT / "conf"))`, then `compose(config_name="base")`.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.own_folders import own_path
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax_tree import syntax_tree

_INITIALIZING = {"initialize": "config_path", "initialize_config_dir": "config_dir"}
_COMPOSING = rb"(?s)\A(?=.*\binitialize(?:_config_dir)?\().*\bcompose\("
"""Both calls, from the start of the text: a search from each call takes quadratic time."""


def composing_modules(project: Recording) -> tuple[Path, ...]:
    """The modules of a project that compose files by calls."""
    return project.python_sources_matching(_COMPOSING)


def composed_folders(module: Path, project: Recording) -> tuple[tuple[Path, str], ...]:
    """The folders that a module composes files of, and the name of the first file."""
    files = project.config_files
    return files.once(("composed in", module), lambda: tuple(_found(module, project)))


def users_of_composing(module: Path, project: Recording) -> Iterator[Path]:
    """The files that call what composes in a module; the module itself, if that is at its top."""
    file = project.module(module)
    names = frozenset(_functions(file)) if file is not None else frozenset[str]()
    yield module
    for user in project.users(module) if names else ():
        text = project.config_files.text(user)
        if any(f"{name}(" in text for name in names):
            yield user


def _found(module: Path, project: Recording) -> Iterator[tuple[Path, str]]:
    file = project.module(module)
    if file is None:
        return
    names = [
        name.value.removesuffix(".yaml")
        for call in syntax_tree(file).calls("compose")
        for name in (_argument(call, "config_name"),)
        if isinstance(name, ast.Constant) and isinstance(name.value, str)
    ]
    for function, option in _INITIALIZING.items():
        for call in syntax_tree(file).calls(function):
            given = _argument(call, option)
            folder = own_path(given, file, project) if given is not None else None
            if folder is not None:
                whole = Path(os.path.normpath(module.parent / folder))
                yield from ((whole, name) for name in names or [""])


def _argument(call: ast.Call, name: str) -> ast.expr | None:
    named = (each.value for each in call.keywords if each.arg == name)
    return next(named, next(iter(call.args), None))


def _functions(file: ParsedPython) -> Iterator[str]:
    """The names of the functions around the calls that compose."""
    for call in syntax_tree(file).calls("compose"):
        function = syntax_tree(file).function(call)
        if isinstance(function, FunctionDefinition):
            yield function.name
