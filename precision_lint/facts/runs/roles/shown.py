"""What `explain-config` shows as a framework's: not the settings that the program reads by itself.

Many files have `torch_dtype` next to the fields of `TrainingArguments`, and it is none of them: the
program that reads the file may load its model in it, or may not look at it at all.
"""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import program_of
from precision_lint.facts.frameworks.sources import CommandSource, MappingSource
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.readers.readers import candidates, readers
from precision_lint.facts.runs.roles.picked_keys import left_out
from precision_lint.facts.runs.written.bare_models import without_saved


def as_shown(
    reading: EffectiveConfig, project: Recording, without: frozenset[str] = frozenset()
) -> EffectiveConfig:
    """A configuration and those it refers to, without what their program reads by itself, and
    without the keys that it leaves out.
    """
    framework = reading.framework
    without |= left_out(reading, project)
    if framework.program_keys and _has_program(reading, project):
        without |= {*framework.program_keys}
    links = {name: as_shown(part, project) for name, part in reading.links.items()}
    beneath = tuple(as_shown(part, project, without) for part in reading.fallbacks)
    if without:
        keys = {name: key for name, key in framework.keys.items() if name not in without}
        framework = replace(framework, keys=keys)
    return without_saved(replace(reading, framework=framework, links=links, fallbacks=beneath))


def _has_program(reading: EffectiveConfig, project: Recording) -> bool:
    """True if a program of the project gets the settings, or may."""
    match reading.source:
        case CommandSource(launch=started, file=file) if started is not None:
            return program_of(started, file, project) is not None
        case MappingSource(file=file) if file.python is None and file.around is None:
            return bool(readers(file, project) or candidates(file, project))
    return False
