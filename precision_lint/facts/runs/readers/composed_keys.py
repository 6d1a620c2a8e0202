"""Programs that read the keys of a framework by themselves in what they compose with Hydra: such a
program is the framework, or a copy of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.frameworks.families import is_of_classes
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import MappingSource
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.readers.composing_programs import composing_folders
from precision_lint.facts.runs.written.keys import parts_of, words_of
from precision_lint.model.frozen import frozen


@frozen
class Composer:
    """A program that composes a file, and the word that makes it, if it starts from another one."""

    program: Path
    word: str


def reads_keys(program: Path, reading: EffectiveConfig, project: Recording) -> bool:
    """True if a program mentions each part of the keys about precision that a file has, and the
    first part of them itself.
    """
    if is_of_classes(reading.framework):
        return False
    keys = [*_keys(reading)]
    parts = {part for key in keys for part in key.split(".")}
    first = {key.partition(".")[0] for key in keys}
    return (
        bool(keys)
        and first <= words_of((program,), project)
        and parts <= words_of(parts_of(program, project), project)
    )


def composer_of(reading: EffectiveConfig, project: Recording) -> Composer | None:
    """The program that composes a whole file which only its keys give to a framework, and that
    reads these; None if several may.
    """
    source, path = reading.source, reading.file.text.path
    if is_of_classes(reading.framework) or not isinstance(source, MappingSource):
        return None
    if source.section_name != "":
        return None
    rows = [
        (program, first)
        for program, folder, first in composing_folders(path, project)
        if folder == path.parent and not project.is_test(program)
    ]
    starting = {program for program, first in rows if first == path}
    programs = starting or {program for program, _ in rows}
    found = [one for one in sorted(programs) if reads_keys(one, reading, project)]
    if len(found) != 1:
        return None
    return Composer(found[0], "" if starting else f"--config-name={path.stem}")


def _keys(reading: EffectiveConfig) -> Iterator[str]:
    """The keys about precision that a file has."""
    for name, key in reading.framework.keys.items():
        if key.role != "other" and reading.source.get(name) is not None:
            yield name
