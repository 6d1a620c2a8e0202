"""What `@hydra.main(config_path="../conf", config_name="base")` says of the files of a program.

A program whose first file is not there stops before its function runs (Hydra 1.3). That is not said
if the file may come from elsewhere: a command, a page or code names another one, or makes it.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.own_folders import own_path
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.project import disk
from precision_lint.project.discovery import is_ignored
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import syntax_tree

OF_HYDRA = rb"\bhydra\.main\(|\bhydra_runner\(|\bfrom hydra import [^\n]*\bmain\b"
"""How a program says it."""
_MAIN = "hydra.main"
_RUNNER = "hydra_runner"
_PARAMETERS = ("config_path", "config_name", "version_base")
_WITHOUT_FOLDER = (1, 2)
"""From this `version_base` on, a program that names no folder has none."""
_OTHERWISE = (
    rb"--config-(?:name|path|dir)\b|(?<![\w-])-c[npd](?![\w-])|\bConfigStore\b"
    rb"|\bsearchpath\b(?!: \[\])|\bSearchPath|\bhydra[_-]zen\b"
)
"""How a program gets another first file, or files of other folders."""


@frozen(slots=False)
class HydraMain:
    """A decorator that composes files for a function."""

    span: Span
    folder: Path | None
    """Where the files are; None if there is no folder, or if it is not known."""
    name: str | None
    """The first file, without its suffix; empty for none, None if it is not known."""


def hydra_mains(path: Path, project: Recording) -> tuple[HydraMain, ...]:
    """The decorators of a Python file."""
    files = project.config_files

    def compute() -> tuple[HydraMain, ...]:
        if re.search(OF_HYDRA, files.text(path).encode()) is None:
            return ()
        file = project.module(path)
        return () if file is None else tuple(_found(file, project))

    return files.once(("hydra mains", path), compute)


def missing_file(main: HydraMain, project: Recording) -> Path | None:
    """The first file of a program, if it is certainly not there."""
    return project.config_files.once(
        ("missing", main.folder, main.name), lambda: _missing(main, project)
    )


def missing_first_file(path: Path, project: Recording) -> Path | None:
    """The file that a program composes first, if it is certainly not there: it stops at once."""
    found = [missing_file(main, project) for main in hydra_mains(path, project)]
    return found[0] if found and None not in found and not project.users(path) else None


def lacked_by(
    function: FunctionDefinition, file: ParsedPython, project: Recording
) -> tuple[Span, Path] | None:
    """The file without which Hydra never calls a function, and the decorator that names it."""
    path = file.text.path
    missing = missing_first_file(path, project) if function.decorator_list else None
    if missing is None:
        return None
    # Hydra composes nothing for who gives the settings: `main(cfg)`.
    around = frozenset(map(file.span_of, function.decorator_list))
    calls = syntax_tree(file).calls(function.name)
    if any((call.args or call.keywords) and file.span_of(call) not in around for call in calls):
        return None
    mains = hydra_mains(path, project)
    return next(((main.span, missing) for main in mains if main.span in around), None)


def _found(file: ParsedPython, project: Recording) -> Iterator[HydraMain]:
    names = syntax_tree(file).names
    for call in file.nodes_of(ast.Call):
        called = qualified(call.func, names)
        if called == _MAIN or called.rpartition(".")[2] == _RUNNER:
            given = dict(zip(_PARAMETERS, call.args, strict=False))
            given |= {each.arg: each.value for each in call.keywords if each.arg is not None}
            is_all = all(each.arg is not None for each in call.keywords)
            folder = _folder(given, file, project) if is_all else None
            yield HydraMain(
                file.span_of(call), folder, _name(given.get("config_name"), file, project)
            )


def _folder(given: dict[str, ast.expr], file: ParsedPython, project: Recording) -> Path | None:
    said = given.get("config_path")
    beside = file.text.path.parent
    if said is None:
        return None if _has_none_by_default(given.get("version_base")) else beside
    path = own_path(said, file, project)
    if path is None or "pkg:" in path.parts:
        return None
    whole = Path(os.path.normpath(beside / path))
    if not path.is_absolute() or whole.is_relative_to(project.root):
        return whole
    # One that is written as a whole is that of another machine, and the checkout has the end of it.
    parts = PurePosixPath(path).parts[1:]
    ends = (project.root.joinpath(*parts[start:]) for start in range(len(parts)))
    return next((folder for folder in ends if disk.is_folder(folder)), whole)


def _has_none_by_default(version: ast.expr | None) -> bool:
    """True for a program that says by its `version_base` that it names its folder, if any."""
    match version:
        case ast.Constant(value=None):
            return True
        case ast.Constant(value=str(text)):
            numbers = [int(each) for each in text.split(".")[:2] if each.isdigit()]
            return tuple(numbers) >= _WITHOUT_FOLDER
    return False


def _name(said: ast.expr | None, file: ParsedPython, project: Recording) -> str | None:
    if said is None or (isinstance(said, ast.Constant) and said.value is None):
        return ""
    path = own_path(said, file, project)
    return None if path is None else path.as_posix().removesuffix(".yaml")


def _missing(main: HydraMain, project: Recording) -> Path | None:
    if main.folder is None or not main.name:
        return None
    path = main.folder / f"{main.name}.yaml"
    if not path.is_relative_to(project.root) or not disk.is_folder(path.parent):
        return None
    stem = path.stem
    if any(stem in name for name in disk.names_in(path.parent)):  # `base.example.yaml` is to copy
        return None
    if is_ignored(path, project.root):  # everybody has one of their own
        return None
    return None if _may_be_elsewhere(path, project) else path


def _may_be_elsewhere(path: Path, project: Recording) -> bool:
    """True if something names the file, another first file, or another folder."""
    pattern = _OTHERWISE + rb"|\b" + re.escape(path.name).encode()
    return (
        project.python_source_matches(pattern)
        or project.page_matches(pattern)
        or project.other_file_matches(pattern)
    )
