"""Texts of YAML, JSON and TOML as trees of settings."""

from __future__ import annotations

from precision_lint.source.config.config_file import Format
from precision_lint.source.config.settings_tree import Entry, Mapping, Scalar, Value
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText


def read_literal(text: SourceText, literal: str, format: Format) -> Scalar | None:
    """A single value of a format; None if a text is none."""
    written = f"x = {literal}" if format == "toml" else literal
    try:
        documents, defect = parse_tree(text.with_text(written), format)
    except (Unparsable, RecursionError, MemoryError):
        return None
    match documents:
        case (Scalar() as value,) if defect is None:
            return value
        case (Mapping(entries=(Entry(value=Scalar() as value),)),) if format == "toml":
            return value
    return None


def parse_tree(text: SourceText, format: Format) -> tuple[tuple[Value, ...], Unparsable | None]:
    """The documents of a text, and the first defect if it is not valid; none for other formats.

    Raises:
        Unparsable: nothing of it can be read.
    """
    match format:
        case "yaml":
            from precision_lint.source.config import yaml

            return yaml.parse(text), None
        case "json":
            from precision_lint.source.config import json

            return json.parse(text)
        case "toml":
            from precision_lint.source.config import toml

            return toml.parse(text), None
        case _:
            return (), None
