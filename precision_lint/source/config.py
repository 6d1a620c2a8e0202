"""A configuration file: its settings with spans, whatever the format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from precision_lint.project import Project
from precision_lint.source.errors import Unparsable
from precision_lint.source.file import File
from precision_lint.source.settings_tree import Value
from precision_lint.source.shell import Script
from precision_lint.source.text import SourceText

Format: TypeAlias = Literal["yaml", "json", "toml", "shell"]

MAX_CHARACTERS = 1024 * 1024


@dataclass(frozen=True)
class ConfigFile(File):
    """A parsed YAML, JSON, TOML or shell file.

    YAML, JSON and TOML have `documents`, a shell file has a `script`. A `defect` is where a file
    that could still be read is not valid in its format: findings stand, but nothing is fixed.
    """

    format: Format
    documents: tuple[Value, ...] = ()
    script: Script | None = None
    defect: Unparsable | None = None


def parse_config(text: SourceText, project: Project, format: str) -> ConfigFile:
    """Parse `text` as `format`: "yaml", "json", "toml" or "shell".

    A file larger than any configuration is data, and has no settings.

    Raises:
        Template: the text is a configuration only after substitution.
        Unparsable: the text is not valid in its format, or nested too deeply.
        ValueError: there is no such format.
    """
    if format not in ("yaml", "json", "toml", "shell"):
        raise ValueError(f"unknown configuration format: {format!r}")
    kind = cast(Format, format)
    if len(text.text) > MAX_CHARACTERS:
        return ConfigFile(text, project, kind)
    match kind:
        case "yaml":
            from precision_lint.source import yaml

            return ConfigFile(text, project, kind, yaml.parse(text))
        case "json":
            from precision_lint.source import json

            documents, defect = json.parse(text)
            return ConfigFile(text, project, kind, documents, defect=defect)
        case "toml":
            from precision_lint.source import toml

            return ConfigFile(text, project, kind, toml.parse(text))
        case "shell":
            from precision_lint.source import shell

            script, defect = shell.parse(text)
            return ConfigFile(text, project, kind, script=script, defect=defect)
