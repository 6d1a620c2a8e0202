"""The files in the folder of a file, and in the folders around it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.model.trace import apart, note
from precision_lint.project import disk
from precision_lint.source.config.config_file import ParsedConfig

MOST_SIBLINGS = 40
_SHOWING = (".sh", ".bash", ".md")
_MOST_FOLDERS = 5
_MOST_SCRIPTS = 12


def is_nearest(path: Path, program: Path, project: Recording) -> bool:
    """True if no other file with the name is as near to a program, as each recipe may have one."""

    def compute() -> tuple[Path, ...]:
        return tuple(one for one in project.config_files.project.files if one.name == path.name)

    alike = project.config_files.once(("files with the name", path.name), compute)
    near = {one: len({*one.parents} & {*program.parents}) for one in alike}
    return all(near[one] < near.get(path, 0) for one in alike if one != path)


def scripts_around(path: Path, project: Recording) -> Iterator[ParsedConfig]:
    """The scripts and pages in the folders around a file: `--config configs/${task}_half.yaml`."""
    for folder in path.parents[:_MOST_FOLDERS]:
        for shown in _shown_in(folder, project):
            script = project.config_files.at(shown)
            if script is not None:
                yield script
        if folder == project.root:
            return


def _shown_in(folder: Path, project: Recording) -> tuple[Path, ...]:
    """The first scripts and pages of a folder."""

    def compute() -> tuple[Path, ...]:
        names = (name for name in names_in(folder) if name.endswith(_SHOWING))
        return tuple(folder / name for name in islice(names, _MOST_SCRIPTS))

    return project.config_files.once(("shown in", folder), compute)


def files_beside(path: Path, project: Recording) -> Iterator[Path]:
    """The files of the same kind in the folder of a file, the first by name."""
    folder, suffix = path.parent, path.suffix

    def compute() -> tuple[Path, ...]:
        paths = (folder / name for name in names_in(folder) if name.endswith(suffix))
        alike = (path for path in paths if path.suffix == suffix)
        return tuple(islice(alike, MOST_SIBLINGS + 1))

    alike = project.config_files.once(("of one kind in", folder, suffix), compute)
    yield from islice((other for other in alike if other != path), MOST_SIBLINGS)


def names_in(folder: Path) -> list[str]:
    """What is in a folder, in the order of the names."""
    note(("names_in", folder))
    return sorted(apart(lambda: disk.names_in(folder)))
