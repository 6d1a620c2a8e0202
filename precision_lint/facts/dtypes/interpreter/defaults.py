"""What defaults offer: `cfg.get("dtype", "bfloat16")`, `dtype="bfloat16"`, `args.dtype or "bf16"`.

A run that says nothing else has the default, so that a default that names a half dtype is a
setting of the project. Any other default says nothing: it is one of many values.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from precision_lint.facts.dtypes.domain.lattice import join, join_settings
from precision_lint.facts.dtypes.domain.values import Constant, Dtype, Unknown, Value
from precision_lint.facts.dtypes.operators.conversions import as_dtype
from precision_lint.facts.origin import Choice, Origin, Setting
from precision_lint.model.dtypes import HALF
from precision_lint.model.finding import Span
from precision_lint.source.text.text import SourceText


def names_dtype(value: Constant) -> bool:
    """True for a string that names a dtype."""
    return bool(_named_by(value))


def names_half(value: Value) -> bool:
    """True for a string that names a half dtype."""
    return isinstance(value, Constant) and bool(_named_by(value) & HALF)


def or_default(found: Value, default: Value, source: SourceText, span: Span) -> Value:
    """What a lookup gives that has a default; `span` is the place of the default."""
    match default:
        case Dtype():
            return join(found, default)
        case Constant() if names_half(default):
            setting = _setting(default, source, span, "{} is the default here")
            if isinstance(found, Unknown):
                return setting
            if isinstance(found, Dtype) and found.is_open:
                return join(found, as_dtype(setting))
    return found


def given_to(parameter: str, value: Constant, source: SourceText, span: Span) -> Setting:
    """A string that names a dtype, as what a call gives to a parameter, or leaves it at."""
    return _setting(value, source, span, f"`{parameter}` is {{}} in this call")


def one_of(values: Iterable[tuple[Value, Span]], source: SourceText) -> Setting | None:
    """Strings of which one names a half dtype, as a setting that each of them may be."""
    alternatives = list(values)
    if not any(names_half(value) for value, _ in alternatives):
        return None
    settings = [
        _setting(value, source, span, "{} is chosen here")
        for value, span in alternatives
        if isinstance(value, Constant) and isinstance(value.value, str)
    ]
    return reduce(join_settings, settings) if len(settings) == len(alternatives) else None


def _setting(value: Constant, source: SourceText, span: Span, text: str) -> Setting:
    dtype = " or ".join(sorted(_named_by(value))) or f"`{value.value}`"
    return Setting((Choice(value.value, Origin(source, span, text.format(dtype))),))


def _named_by(value: Constant) -> frozenset[str]:
    return as_dtype(value).dtypes
