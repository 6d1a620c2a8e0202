"""Settings: the command line over `[tool.precision-lint]` over the defaults."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from precision_lint import registry
from precision_lint.discovery import DEFAULT_EXCLUDE, Excludes
from precision_lint.finding import Confidence, Finding, Severity
from precision_lint.formats import FORMATS

T = TypeVar("T")

CONFIG_NAMES = (".precision-lint.toml", "pyproject.toml")


class ConfigError(Exception):
    """A configuration that cannot be used; the message names the file and the key."""


@dataclass(frozen=True)
class Settings:
    """What to report, where, for which versions, and how. Field names are the option names."""

    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_confidence: Confidence = Confidence.MEDIUM
    min_severity: Severity = Severity.INFO
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    markdown: bool = False
    """Read the fences of Markdown files."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    target: Mapping[str, str] = field(default_factory=dict)
    """Library versions by name (`torch`, `triton`, `transformers` …), over the project's pins."""
    fix: bool = False
    unsafe_fixes: bool = False
    output_format: str = "full"
    baseline: Path | None = None
    statistics: bool = False
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    jobs: int | None = None
    no_cache: bool = False
    cache_dir: Path | None = None
    config_file: Path | None = None

    def selected(self) -> frozenset[str]:
        """The codes that are on."""
        return self._selected

    @cached_property
    def _selected(self) -> frozenset[str]:
        # The most specific selector wins, and `ignore` on a tie.
        chosen = dict.fromkeys(ALWAYS_ON, (0, True))
        for selectors, on in (
            (self.select, True),
            (self.extend_select, True),
            (self.ignore, False),
        ):
            for selector in selectors:
                weight = _specificity(selector)
                for code in registry.select(selector):
                    if weight >= chosen.get(code, (0, True))[0]:
                        chosen[code] = (weight, on)
        return frozenset(code for code, (_, on) in chosen.items() if on)

    def reports(self, finding: Finding) -> bool:
        """True if a finding is sure and severe enough to show."""
        return finding.confidence >= self.min_confidence and finding.severity >= self.min_severity

    def codes_for(self, path: Path, root: Path) -> frozenset[str]:
        """The codes that are on for a file: those selected, less its `per-file-ignores`."""
        return self._selected - {
            code
            for pattern, selectors in self.per_file_ignores.items()
            if Excludes(root, [pattern]).match(path)
            for selector in selectors
            for code in registry.select(selector)
        }


def _specificity(selector: str) -> int:
    """How narrow a selector is: ALL, then prefixes by their length, then a code or a name."""
    if selector in registry.by_selector():
        return len("MP1234")
    return 0 if selector.upper() == "ALL" else len(selector)


ALWAYS_ON = ("MP903", "MP904")
"""A file that cannot be checked is reported whatever was selected, unless it is ignored."""


def find_config(start: Path) -> Path | None:
    """The closest configuration file at or above a folder; a pyproject only if it has our table.

    Raises:
        ConfigError: a pyproject that names us cannot be parsed.
    """
    for folder in (start, *start.parents):
        for name in CONFIG_NAMES:
            path = folder / name
            try:
                content = path.read_bytes()
            except OSError:
                continue
            if name != "pyproject.toml" or (b"precision-lint" in content and _table(path)):
                return path
    return None


def load(path: Path) -> Settings:
    """Read a configuration file.

    Raises:
        ConfigError: it cannot be read or parsed, or holds an unknown key or a wrong value.
    """
    table = _table(path) if path.name == "pyproject.toml" else _read_toml(path)
    settings = Settings(config_file=path)
    for key, value in (table or {}).items():
        if key in _TARGETS:
            key, value = "target", {_TARGETS[key]: value}
        if key == "target" and isinstance(value, dict):
            value = {**settings.target, **value}
        settings = replace(settings, **{_field(key, path): _value(key, value, path)})
    check_selectors(settings, str(path))
    return settings


def check_selectors(settings: Settings, origin: str) -> None:
    """Raise ConfigError if a selector names no rule."""
    per_file = [selector for row in settings.per_file_ignores.values() for selector in row]
    for selector in (*settings.select, *settings.extend_select, *settings.ignore, *per_file):
        if not registry.select(selector):
            like = registry.resembling(selector)
            hint = f" Did you mean `{like}`?" if like else ""
            raise ConfigError(f"{origin}: no rule is called `{selector}`.{hint}")


def check_version(library: str, version: object, origin: str) -> str:
    """The version as a string.

    Raises:
        ConfigError: it is none.
    """
    if isinstance(version, str) and _VERSION.match(version):
        return version
    raise ConfigError(f"{origin}: `{version}` is not a version of {library}, such as 2.6")


def project_root(start: Path) -> Path:
    """The folder whose files are one project: the closest with a .git, else with a pyproject."""
    above = (start, *start.parents)
    for mark in (".git", "pyproject.toml", "setup.py", ".precision-lint.toml"):
        for folder in above:
            if os.path.exists(folder / mark):
                return folder
    return start


def common_folder(paths: list[Path]) -> Path:
    """The deepest folder that holds every path."""
    folders = [path if os.path.isdir(path) else path.parent for path in paths]
    return Path(os.path.commonpath(folders))


def _read_toml(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with path.open("rb") as stream:
            table: dict[str, Any] = tomllib.load(stream)
            return table
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from error


def _table(path: Path) -> dict[str, Any] | None:
    """Our table in a pyproject; None if there is none."""
    tool = _read_toml(path).get("tool", {})
    table = tool.get("precision-lint") if isinstance(tool, dict) else None
    if table is None or isinstance(table, dict):
        return table
    raise ConfigError(f"{path}: `tool.precision-lint` must be a table")


_VERSION = re.compile(r"\d+(?:\.\d+)*")
_TARGETS = {"target-torch": "torch", "target-triton": "triton"}
_KEYS = {
    item.name.replace("_", "-"): item.name
    for item in fields(Settings)
    if item.name != "config_file"
}


def _field(key: str, path: Path) -> str:
    if key in _KEYS:
        return _KEYS[key]
    from difflib import get_close_matches

    like = get_close_matches(key, [*_KEYS, *_TARGETS], 1)
    hint = f" Did you mean `{like[0]}`?" if like else f" Known keys: {', '.join(sorted(_KEYS))}."
    raise ConfigError(f"{path}: unknown key `{key}`.{hint}")


def _value(key: str, value: object, path: Path) -> Any:
    """The value of a key as a field of Settings holds it."""
    match key, value:
        case "min-confidence", str():
            return _choice(key, value, {str(member): member for member in Confidence}, path)
        case "min-severity", str():
            return _choice(key, value, {str(member): member for member in Severity}, path)
        case "output-format", str():
            return _choice(key, value, {name: name for name in FORMATS}, path)
        case "baseline" | "cache-dir", str():
            return path.parent / value
        case "jobs", int() if value >= 1 and not isinstance(value, bool):
            return value
        case "per-file-ignores", dict():
            return {pattern: _strings(key, row, path) for pattern, row in value.items()}
        case "target", dict():
            return {
                name: check_version(name, version, str(path)) for name, version in value.items()
            }
    match getattr(_DEFAULTS, _KEYS[key]):
        case bool():
            if isinstance(value, bool):
                return value
            raise ConfigError(f"{path}: `{key}` must be true or false")
        case tuple():
            return _strings(key, value, path)
    raise ConfigError(f"{path}: `{key}` must be {_EXPECTED.get(key, 'a string')}")


_DEFAULTS = Settings()
_EXPECTED = {
    "jobs": "a positive number",
    "per-file-ignores": "a table of lists of strings",
    "target": "a table of versions",
}


def _choice(key: str, value: str, choices: Mapping[str, T], path: Path) -> T:
    if (chosen := choices.get(value.lower())) is not None:
        return chosen
    raise ConfigError(f"{path}: `{key}` must be one of {', '.join(choices)}")


def _strings(key: str, value: object, path: Path) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ConfigError(f"{path}: `{key}` must be a list of strings")
