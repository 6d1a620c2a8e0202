"""Settings: the command line over `[tool.precision-lint]` over the defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from precision_lint import registry
from precision_lint.discovery import DEFAULT_EXCLUDE, Excludes
from precision_lint.finding import Confidence, Finding, Severity

CONFIG_NAMES = (".precision-lint.toml", "pyproject.toml")


class ConfigError(Exception):
    """A configuration that cannot be used; the message names the file and the key."""


@dataclass(frozen=True)
class Settings:
    """What to report, where, and for which versions. Field names are the option names."""

    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_confidence: Confidence = Confidence.MEDIUM
    min_severity: Severity = Severity.INFO
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    target: Mapping[str, str] = field(default_factory=dict)
    """Library versions by name (`torch`, `triton`, `transformers` …), over the project's pins."""
    config_file: Path | None = None

    def selected(self) -> frozenset[str]:
        """The codes that are on. The most specific selector wins, and `ignore` on a tie."""
        chosen: dict[str, tuple[int, bool]] = {}
        for selectors, on in (
            (self.select, True),
            (self.extend_select, True),
            (self.ignore, False),
        ):
            for selector in selectors:
                codes = registry.select(selector)
                for code in codes:
                    weight = -len(codes)
                    if code not in chosen or weight >= chosen[code][0]:
                        chosen[code] = (weight, on)
        return frozenset(code for code, (_, on) in chosen.items() if on)

    def reports(self, finding: Finding) -> bool:
        """True if a finding is sure and severe enough to show."""
        return finding.confidence >= self.min_confidence and finding.severity >= self.min_severity

    def ignored_in(self, path: Path, root: Path) -> frozenset[str]:
        """The codes that `per-file-ignores` turns off for a file."""
        return frozenset(
            code
            for pattern, selectors in self.per_file_ignores.items()
            if Excludes(root, [pattern]).match(path)
            for selector in selectors
            for code in registry.select(selector)
        )


def find_config(start: Path) -> Path | None:
    """The closest configuration file at or above a folder; a pyproject only if it has our table."""
    for folder in (start, *start.parents):
        for name in CONFIG_NAMES:
            path = folder / name
            try:
                content = path.read_bytes()
            except OSError:
                continue
            if name != "pyproject.toml" or b"tool.precision-lint" in content:
                return path
    return None


def load(path: Path) -> Settings:
    """Read a configuration file.

    Raises:
        ConfigError: it cannot be read or parsed, or holds an unknown key or a wrong value.
    """
    table = _read_toml(path)
    if path.name == "pyproject.toml":
        table = table.get("tool", {}).get("precision-lint", {})
    settings = Settings(config_file=path)
    for key, value in table.items():
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


def project_root(start: Path) -> Path:
    """The folder whose files are one project: the closest with a .git, else with a pyproject."""
    above = (start, *start.parents)
    for mark in (".git", "pyproject.toml", "setup.py", ".precision-lint.toml"):
        for folder in above:
            if (folder / mark).exists():
                return folder
    return start


def common_folder(paths: list[Path]) -> Path:
    """The deepest folder that holds every path."""
    folders = [path if path.is_dir() else path.parent for path in paths]
    return Path(os.path.commonpath(folders))


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib
    try:
        with path.open("rb") as stream:
            return tomllib.load(stream)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error


_KEYS = {
    item.name.replace("_", "-"): item.name
    for item in fields(Settings)
    if item.name != "config_file"
}


def _field(key: str, path: Path) -> str:
    if key in _KEYS:
        return _KEYS[key]
    from difflib import get_close_matches

    like = get_close_matches(key, _KEYS, 1)
    hint = f" Did you mean `{like[0]}`?" if like else f" Known keys: {', '.join(sorted(_KEYS))}."
    raise ConfigError(f"{path}: unknown key `{key}`.{hint}")


def _value(key: str, value: object, path: Path) -> object:
    match key, value:
        case "min-confidence" | "min-severity", str():
            kind = Confidence if key == "min-confidence" else Severity
            try:
                return kind[value.upper()]
            except KeyError:
                names = ", ".join(str(member) for member in kind)
                raise ConfigError(f"{path}: `{key}` must be one of {names}") from None
        case "per-file-ignores", dict():
            return {pattern: _strings(key, row, path) for pattern, row in value.items()}
        case "target", dict() if all(isinstance(version, str) for version in value.values()):
            return value
        case "min-confidence" | "min-severity", _:
            raise ConfigError(f"{path}: `{key}` must be a string")
        case "per-file-ignores" | "target", _:
            raise ConfigError(f"{path}: `{key}` must be a table of strings")
        case _:
            return _strings(key, value, path)


def _strings(key: str, value: object, path: Path) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ConfigError(f"{path}: `{key}` must be a list of strings")
