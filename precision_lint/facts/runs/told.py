"""What is told of a configuration: without the settings that its program reads by itself.

`torch_dtype` stands beside the fields of `TrainingArguments` in many files, and is none of them:
the program that reads the file may load its model in it, or may not look at it at all.
"""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import program_of
from precision_lint.facts.frameworks.sources import CommandSource, MappingSource
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.bare_models import without_saved
from precision_lint.facts.runs.readers import candidates, readers


def told(reading: EffectiveConfig, project: Recording) -> EffectiveConfig:
    """A configuration, with those it refers to, without what its program reads by itself."""
    links = {name: told(part, project) for name, part in reading.links.items()}
    beneath = tuple(told(part, project) for part in reading.fallbacks)
    framework = reading.framework
    if framework.beside and _has_program(reading, project):
        keys = {name: key for name, key in framework.keys.items() if name not in framework.beside}
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
