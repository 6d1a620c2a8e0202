"""The configuration file: which one applies, its keys and their values."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from precision_lint.engine.settings import (
    ConfigError,
    Settings,
    check_gpu,
    check_library,
    check_selectors,
    check_version,
)
from precision_lint.model.finding import Confidence, Severity
from precision_lint.model.formats import FORMATS
from precision_lint.project import disk
from precision_lint.project.roots import project_root

T = TypeVar("T")

CONFIG_NAMES = (".precision-lint.toml", "pyproject.toml")


def find_config(start: Path) -> Path | None:
    """The closest configuration file at or above a folder; a pyproject only if it has our table.

    Raises:
        ConfigError: a pyproject that names us cannot be parsed; our own file is no regular file.
    """
    for folder in (start, *start.parents):
        for name in CONFIG_NAMES:
            path = folder / name
            try:
                content = disk.read(path)
            except disk.Unsuitable as error:
                if name == "pyproject.toml":  # it cannot be known whether it is about us
                    continue
                raise ConfigError(f"{path}: {error.strerror}") from error
            except OSError:
                continue
            if name != "pyproject.toml" or (b"precision-lint" in content and _table(path)):
                return path
    return None


def load(path: Path) -> Settings:
    """Read a configuration file.

    Raises:
        ConfigError: it cannot be read or parsed, or has an unknown key or a wrong value.
    """
    table = _table(path) if path.name == "pyproject.toml" else _read_toml(path)
    settings = Settings(config_file=path)
    for key, value in _flat(table or {}, path).items():
        if key in _TARGETS:
            key, value = "target", {_TARGETS[key]: value}
        if key == "target" and isinstance(value, dict):
            value = {**settings.target, **value}
        settings = replace(settings, **{_field(key, path): _value(key, value, path)})
    check_selectors(settings, str(path))
    return settings


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


def _flat(table: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The table with `fix.helper-module` as a key: `fix` is a switch, or a table."""
    fix = table.get("fix")
    if not isinstance(fix, dict):
        return dict(table)
    for key in fix:
        if key != "helper-module":
            raise ConfigError(f"{path}: unknown key `fix.{key}`. Known keys: helper-module.")
    own = {f"fix.{key}": value for key, value in fix.items()}
    return {**{key: value for key, value in table.items() if key != "fix"}, **own}


_TARGETS = {"target-torch": "torch", "target-triton": "triton"}
_KEYS = {
    item.name.replace("_", "-"): item.name
    for item in fields(Settings)
    if item.name not in {"config_file", "helper_module"}
}


def _field(key: str, path: Path) -> str:
    if key == "fix.helper-module":
        return "helper_module"
    if key in _KEYS:
        return _KEYS[key]
    from difflib import get_close_matches

    if key == "tool":  # copied from a pyproject.toml
        raise ConfigError(
            f"{path}: only a pyproject.toml has `[tool.precision-lint]`: "
            "here the keys stand at the top, and tables are called `[target]`, `[per-file-ignores]`"
        )
    like = get_close_matches(key, [*_KEYS, *_TARGETS], 1)
    hint = f" Did you mean `{like[0]}`?" if like else f" Known keys: {', '.join(sorted(_KEYS))}."
    raise ConfigError(f"{path}: unknown key `{key}`.{hint}")


def _value(key: str, value: object, path: Path) -> Any:
    """The value of a key, as the type of its field in Settings."""
    match key, value:
        case "min-confidence", str():
            return _choice(key, value, {str(member): member for member in Confidence}, path)
        case "min-severity", str():
            return _choice(key, value, {str(member): member for member in Severity}, path)
        case "output-format", str():
            return _choice(key, value, {name: name for name in FORMATS}, path)
        case "baseline", str():
            return _readable(key, value, path)
        case "cache-dir", str():
            return _folder_in_project(key, value, path)
        case "jobs", int() if value >= 1 and not isinstance(value, bool):
            return value
        case "per-file-ignores", dict():
            return {pattern: _strings(key, row, path) for pattern, row in value.items()}
        case "fix.helper-module", str() if all(map(str.isidentifier, value.split("."))):
            return value
        case "fix.helper-module", _:
            raise ConfigError(f'{path}: `fix.helper-module` must be a module: "mypkg.precision"')
        case "target-gpu", str():
            return check_gpu(value, str(path))
        case "target", dict():
            for name in value:
                check_library(name, str(path))
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


def _folder_in_project(key: str, value: str, path: Path) -> Path:
    """A folder to write to: a project's configuration must not make us write elsewhere."""
    root = project_root(path.parent.absolute())
    folder = path.parent / value
    try:
        is_inside = Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(root))
    except (OSError, ValueError):  # a null character
        is_inside = False
    if is_inside:
        return folder
    raise ConfigError(
        f"{path}: `{key}` must be a folder inside the project ({root});"
        " use --cache-dir for a folder elsewhere"
    )


def _readable(key: str, value: str, path: Path) -> Path:
    """A file to read: a project's configuration must not make us wait for a FIFO."""
    file = path.parent / value
    if disk.is_special(file):
        raise ConfigError(f"{path}: `{key}`: {file} is not a regular file")
    return file


def _choice(key: str, value: str, choices: Mapping[str, T], path: Path) -> T:
    if (chosen := choices.get(value.lower())) is not None:
        return chosen
    raise ConfigError(f"{path}: `{key}` must be one of {', '.join(choices)}")


def _strings(key: str, value: object, path: Path) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ConfigError(f"{path}: `{key}` must be a list of strings")
