"""Sections of a framework's file from which it reads keys of its own alone.

`accelerate launch` makes arguments of the keys below `deepspeed_config` and hands on those that it
knows: what stands there as in a file of DeepSpeed reaches nobody.
"""

from __future__ import annotations

import re

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.runs import runs
from precision_lint.facts.frameworks.sources import MappingSource
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.readers.readers import readers
from precision_lint.model.finding import Related
from precision_lint.source.config.config_file import ParsedConfig


def in_own_section(run: EffectiveConfig, project: Recording) -> Related | None:
    """Why nobody reads a section with the keys of a framework; None if somebody may."""
    file = run.file
    if not isinstance(run.source, MappingSource) or file.python is not None:
        return None
    for other in (part for each in runs(file, project) for part in each.parts):
        source, framework = other.source, other.framework
        if not isinstance(source, MappingSource) or source.file.text.path != file.text.path:
            continue
        for name in framework.own_sections:
            member = source.member(name)
            if member is not None and member.entry.value.span == run.source.span:
                if framework.slug == run.framework.slug or _may_be_read(file, name, project):
                    return None
                place = file.text.place(member.span)
                return Related(place, f"{framework.name} reads keys of its own alone in `{name}`")
    return None


def _may_be_read(file: ParsedConfig, section: str, project: Recording) -> bool:
    """True if a program of the project may load the file, or code names the section."""
    named = rf"[\"']{re.escape(section)}[\"']".encode()
    return bool(readers(file, project)) or project.python_source_matches(named)
