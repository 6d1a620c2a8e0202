"""Which programs compose the files of a folder, with Hydra, and which start from a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.hydra_mains import (
    OF_HYDRA,
    hydra_mains,
    missing_file,
    missing_first_file,
)
from precision_lint.facts.runs.readers.composing import (
    composed_folders,
    composing_modules,
    users_of_composing,
)
from precision_lint.facts.runs.written.program_files import is_started
from precision_lint.model.regex import regex
from precision_lint.project import disk
from precision_lint.source.config.config_file import ParsedConfig

_PACKAGE = regex(r"^#[ \t]*@package[ \t]+([\w.]+)", re.MULTILINE)


def of_hydra(path: Path, project: Recording) -> tuple[Path, ...]:
    """The programs that start from a file, or the only one that composes those of its folder, or
    that trains: `@hydra.main(config_path="configs", config_name="base")`.
    """
    starting, composing = composed_by(path, project)
    if starting or len(composing) == 1:
        return starting or composing
    # One that trains and one that evaluates often share a folder.
    what = "eval" if "eval" in path.stem else "train"
    named = tuple(program for program in composing if what in program.stem)
    return named if len(named) == 1 else ()


def composed_by(path: Path, project: Recording) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The programs that start from a file, and those that compose the files of its folder."""
    starting, composing = [], []
    for program in _composing_programs(project):
        for folder, name in _composing(program, project):
            if folder in path.parents and not project.is_test(program):
                composing.append(program)
                if name and folder / f"{name}.yaml" == path:
                    starting.append(program)
    return tuple(dict.fromkeys(starting)), tuple(dict.fromkeys(composing))


def composing_folders(path: Path, project: Recording) -> tuple[tuple[Path, Path, Path | None], ...]:
    """The programs that compose the files of a folder around a file, each with that folder and with
    the first file.
    """

    def compute() -> tuple[tuple[Path, Path, Path | None], ...]:
        return tuple(
            (program, folder, folder / f"{name.removesuffix('.yaml')}.yaml" if name else None)
            for program in composed_by(path, project)[1]
            for folder, name in _composing(program, project)
            if folder in path.parents
        )

    return project.config_files.once(("composing around", path.parent), compute)


def stopping_at(path: Path, project: Recording) -> Iterator[tuple[Path, Path]]:
    """The programs that would compose a file, each with the file that it lacks: it stops there."""
    for program in project.python_sources_matching(OF_HYDRA):
        missing = missing_first_file(program, project)
        folders = (main.folder for main in hydra_mains(program, project))
        if missing is not None and any(folder in path.parents for folder in folders):
            yield program, missing


def folders_above(path: Path, project: Recording) -> tuple[Path, ...]:
    """The folders around a file that some program composes files of."""
    programs = _composing_programs(project)
    folders = {folder for one in programs for folder, _ in _composing(one, project)}
    return tuple(folder for folder in path.parents if folder in folders)


def group_of(path: Path, program: Path, project: Recording) -> str:
    """The name of the group that a file is an option of, if a program composes such groups: that of
    its folder, also where the folders of groups are elsewhere (`--config-dir`).
    """
    group = path.parent
    for folder, _ in _composing(program, project):
        is_inside = folder in group.parents
        if is_inside or (folder != group and disk.is_folder(folder / group.name)):
            return group.name
    return ""


def choice_of(path: Path, program: Path, project: Recording) -> str:
    """The word that chooses a file for a program, `experiment=small`, where no list of defaults, no
    command and no code of the project does; empty if one may.
    """
    groups = (
        path.parent.relative_to(folder).as_posix()
        for folder, _ in _composing(program, project)
        if folder in path.parent.parents
    )
    group = next(groups, "")
    if not group or path.suffix != ".yaml":
        return ""
    last, name = re.escape(path.parent.name), re.escape(path.stem)
    option = rf"[\"']?{name}(?:\.yaml)?\b(?![\w.-])"
    chosen = rf"\b{last}(?:@[\w.:]+)?[\"']?[ \t]*[:=][ \t\[]*(?:[\w./-]+,[ \t]*)*{option}"
    listed = rf"(?m)^[ \t]*-[ \t]+(?:[\w/]+/)?{option}"
    patterns = (chosen.encode(), listed.encode())
    searches = (project.other_file_matches, project.python_source_matches)
    is_chosen = any(search(pattern) for pattern in patterns for search in searches)
    return "" if is_chosen else f"{group}={path.stem}"


def package_said(file: ParsedConfig) -> tuple[str, ...] | None:
    """The section that a file says it goes to: `# @package model.encoder`; None for its group."""
    said = _PACKAGE.search(file.text.text)
    if said is None or said[1] == "_group_":
        return None
    return () if said[1] == "_global_" else tuple(said[1].split("."))


def _composing(program: Path, project: Recording) -> Iterator[tuple[Path, str]]:
    """The folders that a program composes files of, and the name of the first file."""
    for module in composing_modules(project):
        if program in _calling(module, project):
            yield from composed_folders(module, project)
    for main in hydra_mains(program, project):
        if main.folder is not None and missing_file(main, project) is None:
            yield main.folder, main.name or ""


def _composing_programs(project: Recording) -> tuple[Path, ...]:
    """The programs that compose files by a decorator, or by what they call."""
    calling = (each for module in composing_modules(project) for each in _calling(module, project))
    return tuple(dict.fromkeys((*project.python_sources_matching(OF_HYDRA), *calling)))


def _calling(module: Path, project: Recording) -> tuple[Path, ...]:
    """The programs that call what composes files in a module."""

    def compute() -> tuple[Path, ...]:
        users = users_of_composing(module, project)
        return tuple(path for path in users if is_started(path, project))

    return project.config_files.once(("composing by", module), compute)
