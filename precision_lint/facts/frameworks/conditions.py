"""Whether the combination of settings that a conflict describes certainly holds in a run."""

from __future__ import annotations

import re

from precision_lint.facts.frameworks.reading import EffectiveConfig, Setting
from precision_lint.facts.frameworks.table import Conflict, Test
from precision_lint.model.dtypes import DtypeName
from precision_lint.source.config.settings_tree import Mapping

_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str, "boolean": bool, "integer": int, "float": float, "mapping": Mapping,
}  # fmt: skip


def is_met(conflict: Conflict, run: EffectiveConfig) -> bool:
    """True if all of `when` holds and none of `unless`; what is unknown never holds."""
    return all(_holds(key, test, run) for key, test in conflict.when.items()) and not any(
        _holds(key, test, run) for key, test in conflict.unless.items()
    )


def _holds(name: str, test: Test, run: EffectiveConfig) -> bool:
    if test.present is False:
        return run.is_absent(name)
    setting = run.setting(name)
    if setting is None:
        return False
    if test.present is True and setting.written is None:
        return False
    value = setting.value
    if value is None:
        return test.present is True and test == Test(present=True)
    return (
        (not test.one_of or any(_same(value, one) for one in test.one_of))
        and not any(_same(value, one) for one in test.none_of)
        and _is_of_type(value, test.type)
        and _relates(value, test, run)
        and (not test.beside or _is_beside(setting, test.beside, run))
        and _is_between(value, test)
        and (not test.matches or _matches(value, test.matches))
    )


def _matches(value: object, pattern: str) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _is_beside(setting: Setting, name: str, run: EffectiveConfig) -> bool:
    """True if both settings are written, and in the same file."""
    other = run.setting(name)
    return other is not None and other.file is not None and other.file is setting.file


def _relates(value: object, test: Test, run: EffectiveConfig) -> bool:
    for name, wanted in ((test.differs_from, False), (test.equals, True)):
        if name:
            other = run.setting(name)
            if other is None or other.value is None or _same(value, other.value) is not wanted:
                return False
    return True


def _is_between(value: object, test: Test) -> bool:
    if test.above is None and test.below is None:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return (test.above is None or value > test.above) and (test.below is None or value < test.below)


def _is_of_type(value: object, name: str) -> bool:
    if not name:
        return True
    if isinstance(value, bool):
        return name == "boolean"
    if name == "text":
        return isinstance(value, str) and not isinstance(value, DtypeName)
    return isinstance(value, _TYPES[name])


def _same(value: object, other: object) -> bool:
    """Equality that keeps booleans and numbers apart."""
    return isinstance(value, bool) == isinstance(other, bool) and value == other
