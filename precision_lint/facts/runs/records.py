"""Records of finished runs: files of results, which also say in which precision they were made."""

from __future__ import annotations

from itertools import islice

from precision_lint.facts.project.facts import Recording
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Scalar, mappings

_MOST_MAPPINGS = 500
_LEAST = 2
"""Measured numbers that make a record."""
_DIGITS = 6
"""Digits of a number that was measured: people write shorter ones."""


def is_record(file: ParsedConfig, project: Recording) -> bool:
    """True for a JSON file with measured numbers that no file of the project names."""
    if file.format != "json" or not _has_measurements(file):
        return False
    path = file.text.path
    return not project.config_files.referring(path) and not project.config_files.named_in_python(
        path
    )


def _has_measurements(file: ParsedConfig) -> bool:
    """Lists are not looked at: the means of an image processor have as many digits."""
    numbers = (
        entry.value.value
        for mapping in islice(mappings(file.documents), _MOST_MAPPINGS)
        for entry in mapping.entries
        if isinstance(entry.value, Scalar)
    )
    measured = {one for one in numbers if isinstance(one, float) and _digits(one) >= _DIGITS}
    return len(measured) >= _LEAST


def _digits(number: float) -> int:
    """The significant digits of a number."""
    return len(repr(number).partition("e")[0].replace(".", "").strip("-0"))
