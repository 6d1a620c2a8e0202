"""Short ways to read the settings of Python code in a test."""

from __future__ import annotations

import textwrap
from pathlib import Path

from precision_lint.source.config.python_settings import Made, python_settings
from precision_lint.source.config.settings_tree import (
    Mapping,
    Merge,
    Opaque,
    Scalar,
    Sequence,
    Value,
)
from precision_lint.source.python.parse import ParsedPython, parse_python
from precision_lint.source.text.text import SourceText

UNKNOWN = {...: ...}
"""What `plain` adds to a mapping that is open."""


def python(text: str) -> ParsedPython:
    source = SourceText(Path("case.py"), textwrap.dedent(text))
    return parse_python(source)


def made(text: str) -> list[Made]:
    return list(python_settings(python(text)))


def plain(value: Value) -> object:
    """The objects that Python would build; opaque values are `...`, and so is an open end."""
    match value:
        case Scalar():
            return value.value
        case Sequence():
            return [plain(item) for item in value.items]
        case Mapping():
            merged = [plain(each) for each in reversed(value.merged)]
            own = {
                each.key.value if isinstance(each.key, Scalar) else ...: plain(each.value)
                for each in value.entries
                if not (isinstance(each.key, Scalar) and each.key.value is Merge.KEY)
            }
            found: dict[object, object] = {}
            for each in [*merged, own]:
                assert isinstance(each, dict)
                found |= each
            return found | ({...: ...} if value.is_open else {})
        case Opaque():
            return ...
