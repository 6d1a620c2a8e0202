"""How a value is written in a format, in the style of the existing text."""

from __future__ import annotations

import json
import math
from typing import Any, TypeAlias

from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import Format

Written: TypeAlias = bool | str | int | float

_BOOLEANS = (
    ("true", "false"), ("True", "False"), ("TRUE", "FALSE"), ("yes", "no"), ("Yes", "No"),
    ("YES", "NO"), ("on", "off"), ("On", "Off"), ("ON", "OFF"),
)  # fmt: skip
_DIGITS = regex(r"[+-]?\d+")
_NO_POINT = regex(r"^(-?\d+)e")
_UNWRITABLE = regex(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")
_PLAIN = regex(r"[\w/.][\w/.+-]*")


@frozen
class Style:
    """The style of a literal.

    `quotes` are its quotes, empty for none; a YAML string that needs quotes gets `usual_quotes`.
    `boolean` is how the file writes another boolean.
    """

    quotes: str = '"'
    usual_quotes: str = '"'
    boolean: str = "true"


def quotes_of(raw: str) -> str:
    """The quote character that a literal begins with; empty if there is none."""
    return raw[:1] if raw[:1] in ("'", '"') else ""


def spelled(value: Written, format: Format, style: Style, old: str = "") -> str | None:
    """The literal for `value` that replaces `old`; None for text with unprintable characters."""
    match value:
        case bool():
            return _boolean(value, format, (old, style.boolean))
        case str():
            return None if _UNWRITABLE.search(value) else _string(value, format, style)
        case int():
            return str(value)
        case float() if _DIGITS.fullmatch(old) and float(old) == value:
            return f"{old}.0"
        case float():
            return _float(value, format)


def _boolean(value: bool, format: Format, models: tuple[str, ...]) -> str:
    if format == "python":
        return str(value)
    if format in ("yaml", "shell"):
        for model in models:
            for pair in _BOOLEANS:
                if model in pair:
                    return pair[not value]
    return "true" if value else "false"


def _float(value: float, format: Format) -> str | None:
    if not math.isfinite(value):
        return None
    # YAML reads a number with an exponent but without a decimal point as a string.
    return _NO_POINT.sub(r"\1.0e", repr(value)) if format == "yaml" else repr(value)


def _string(value: str, format: Format, style: Style) -> str:
    quotes = style.quotes or style.usual_quotes
    if format == "yaml" and not style.quotes and _is_plain(value):
        return value
    if format == "yaml" and quotes == "'":
        return "'" + value.replace("'", "''") + "'"
    if format == "json" or quotes == '"' or "'" in value or "\\" in value:
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}'"


def _is_plain(value: str) -> bool:
    """True if YAML reads a text without quotes as that string, in blocks and in brackets."""
    import yaml

    resolver: Any = yaml.resolver.Resolver()
    tag = resolver.resolve(yaml.ScalarNode, value, (True, False))
    return tag == "tag:yaml.org,2002:str" and _PLAIN.fullmatch(value) is not None
