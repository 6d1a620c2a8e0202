"""How a project sorts its imports and how long its lines are: its settings of ruff, isort or black.

The closest file with such settings counts. Where both tools are configured in a folder, ruff counts
if it sorts imports (`I` is selected, or it has a table `isort`), and isort otherwise. Without
settings, ruff's defaults apply, which isort shares.
"""

from __future__ import annotations

import configparser
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from precision_lint.model.frozen import frozen
from precision_lint.project import disk

FUTURE, STANDARD, THIRD, FIRST, LOCAL = SECTIONS = (
    "future",
    "standard-library",
    "third-party",
    "first-party",
    "local-folder",
)

_MAX_BYTES = 1_000_000
_STANDARD_LIBRARY = sys.stdlib_module_names


@frozen(slots=False)
class ImportStyle:
    """Where imports go, and how they are written. Names are those of ruff's settings."""

    sections: tuple[str, ...] = SECTIONS
    known: tuple[tuple[str, str], ...] = ()
    """Patterns of modules, and the section of each."""
    first_party: tuple[str, ...] = ()
    """The top-level modules in the project's source folders, in order."""
    default_section: str = THIRD
    no_sections: bool = False
    force_sort_within_sections: bool = False
    force_single_line: bool = False
    combine_as_imports: bool = False
    from_first: bool = False
    order_by_type: bool = True
    case_sensitive: bool = False
    length_sort: bool = False
    force_to_top: tuple[str, ...] = ()
    no_lines_before: tuple[str, ...] = ()
    lines_between_sections: int = 1
    lines_between_types: int = 0
    lines_after_imports: int = -1
    force_grid_wrap: int = 0
    """From how many names on each has a line of its own; 0 if only where one line is too long."""
    line_length: int = 88

    def section(self, module: str, level: int = 0) -> int:
        """The position of the section that an import of a module goes to."""
        if not level and module == "__future__":
            name = FUTURE
        elif self.no_sections:
            return 1
        elif level:
            name = LOCAL
        else:
            name = self._known(module) or self._found(module.partition(".")[0])
        name = name if name in self.sections else self.default_section
        return self.sections.index(name) if name in self.sections else len(self.sections)

    def lines_above(self, section: int, previous: int) -> int:
        """The blank lines between two sections; none if `no-lines-before` names all in between."""
        between = (*self.sections, self.default_section)[previous + 1 : section + 1]
        is_joined = all(name in self.no_lines_before for name in between)
        return 0 if is_joined else self.lines_between_sections

    def _known(self, module: str) -> str | None:
        """The section that the settings name for a module, or for the closest one above it."""
        parts = module.split(".")
        for count in range(len(parts), 0, -1):
            prefix = ".".join(parts[:count])
            for pattern, section in self.known:
                if fnmatchcase(prefix, pattern):
                    return section
        return None

    def _found(self, top: str) -> str:
        if top in _STANDARD_LIBRARY:
            return STANDARD
        return FIRST if top in self.first_party else self.default_section


def import_style(path: Path, root: Path) -> ImportStyle:
    """The style of a file of a project."""
    inside = [path.parent, *path.parent.parents] if path.is_relative_to(root) else []
    folders = [folder for folder in inside if folder.is_relative_to(root)] or [root]
    own = _package(path)
    for folder in folders:
        for style in _styles_of(folder):
            return replace(style, first_party=(*style.first_party, own))
    return ImportStyle(first_party=(*_modules([root, root / "src"]), own))


def _package(path: Path) -> str:
    """The name of the top-level package that a file is in."""
    folder = path.parent
    while disk.is_file(folder.parent / "__init__.py"):
        folder = folder.parent
    return folder.name if disk.is_file(folder / "__init__.py") else ""


def _styles_of(folder: Path) -> Iterator[ImportStyle]:
    """The style that the settings in a folder ask for: none or one."""
    ruff, isort = _ruff_table(folder), _isort_table(folder)
    black = _table(_table(_toml(folder / "pyproject.toml"), "tool"), "black")
    if ruff is not None and (isort is None or _sorts_imports(ruff)):
        yield _of_ruff(ruff, folder)
    elif isort is not None:
        yield _with_length(_of_isort(isort, folder), ruff or black)
    elif black:
        yield _with_length(_of_ruff({}, folder), black)


def _with_length(style: ImportStyle, table: Mapping[str, Any]) -> ImportStyle:
    """The style with the lines as long as the table of a formatter says."""
    length = table.get("line-length", table.get("line_length"))  # black accepts both
    return replace(style, line_length=length) if isinstance(length, int) else style


# ruff


def _ruff_table(folder: Path) -> dict[str, Any] | None:
    for name in (".ruff.toml", "ruff.toml"):
        if (table := _toml(folder / name)) is not None:
            return _with_base(table, folder)
    tool = _table(_toml(folder / "pyproject.toml"), "tool")
    ruff = tool.get("ruff")
    return _with_base(ruff, folder) if isinstance(ruff, dict) else None


def _with_base(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A table with what it takes from the file that it names by `extend`."""
    if not isinstance(base := table.get("extend"), str):
        return table
    found = _toml(folder / base) or {}
    below = _table(found, "tool").get("ruff", {}) if base.endswith("pyproject.toml") else found
    merged = {**below, **table}
    merged["lint"] = {**_table(below, "lint"), **_table(table, "lint")}
    return merged


def _sorts_imports(table: Mapping[str, Any]) -> bool:
    lint = _table(table, "lint")
    selected = [
        code
        for place in (table, lint)
        for key in ("select", "extend-select")
        for code in _strings(place.get(key))
    ]
    return any(code in {"ALL", "I", "I0", "I00", "I001"} for code in selected) or bool(
        _table(lint, "isort") or _table(table, "isort")
    )


def _of_ruff(table: Mapping[str, Any], folder: Path) -> ImportStyle:
    given = {**_table(table, "isort"), **_table(_table(table, "lint"), "isort")}
    custom = given.get("sections")
    known = [
        (pattern, section)
        for section, patterns in (custom if isinstance(custom, dict) else {}).items()
        for pattern in _strings(patterns)
    ]
    known += [
        (pattern, section)
        for section in (FIRST, THIRD, LOCAL)
        for pattern in _strings(given.get(f"known-{section}"))
    ]
    known += [(each, STANDARD) for each in _strings(given.get("extra-standard-library"))]
    sources = _strings(table.get("src")) or (".", "src")
    style = ImportStyle(
        sections=_strings(given.get("section-order")) or SECTIONS,
        known=tuple(known),
        first_party=_modules([folder / source for source in sources]),
        default_section=str(given.get("default-section", THIRD)),
        force_to_top=_strings(given.get("force-to-top")),
        no_lines_before=_strings(given.get("no-lines-before")),
    )
    style = _with_plain(style, {key.replace("-", "_"): value for key, value in given.items()})
    return _with_length(style, table)


# isort

_PROFILES: Mapping[str, dict[str, Any]] = {
    "black": {"line_length": 88, "multi_line_output": 3, "include_trailing_comma": True},
    "google": {
        "force_sort_within_sections": True,
        "force_single_line": True,
        "order_by_type": False,
        "line_length": 1000,
    },
    "open_stack": {"force_single_line": True, "force_sort_within_sections": True},
    "plone": {"force_single_line": True, "lines_after_imports": 2},
    "appnexus": {"force_sort_within_sections": True, "order_by_type": False, "line_length": 88},
    "hug": {"line_length": 100},
}
"""What profiles say of order and length (isort 9.0)."""

_OF_ISORT = {
    "FUTURE": FUTURE,
    "STDLIB": STANDARD,
    "THIRDPARTY": THIRD,
    "FIRSTPARTY": FIRST,
    "LOCALFOLDER": LOCAL,
}


def _isort_table(folder: Path) -> dict[str, Any] | None:
    sections = {
        ".isort.cfg": ("settings", "isort"),
        "setup.cfg": ("isort", "tool:isort"),
        "tox.ini": ("isort", "tool:isort"),
    }
    if found := _ini(folder / ".isort.cfg", sections[".isort.cfg"]):
        return found
    isort = _table(_toml(folder / "pyproject.toml"), "tool").get("isort")
    if isinstance(isort, dict):
        return isort
    for name in ("setup.cfg", "tox.ini"):
        if found := _ini(folder / name, sections[name]):
            return found
    return None


def _of_isort(table: Mapping[str, Any], folder: Path) -> ImportStyle:
    given = {"line_length": 79, **_PROFILES.get(str(table.get("profile")), {}), **table}
    named = {
        "FUTURE": "future_library",
        "STDLIB": "standard_library",
        "THIRDPARTY": "third_party",
        "FIRSTPARTY": "first_party",
        "LOCALFOLDER": "local_folder",
    }
    order = _strings(given.get("sections")) or tuple(_OF_ISORT)
    known = [
        (pattern, _OF_ISORT.get(section, section))
        for section in order
        for pattern in _strings(given.get(f"known_{named.get(section, section.lower())}"))
    ]
    sources = _strings(given.get("src_paths")) or (".", "src")
    default = str(given.get("default_section", "THIRDPARTY"))
    style = ImportStyle(
        sections=tuple(_OF_ISORT.get(section, section) for section in order),
        known=tuple(known),
        first_party=_modules([folder / source for source in sources]),
        default_section=_OF_ISORT.get(default, default),
        force_to_top=_strings(given.get("force_to_top")),
        no_lines_before=tuple(
            _OF_ISORT.get(section, section) for section in _strings(given.get("no_lines_before"))
        ),
    )
    found = _with_plain(style, given)
    is_hanging = str(given.get("multi_line_output")) in {"3", "VERTICAL_HANGING_INDENT"}
    has_comma = str(given.get("include_trailing_comma")).lower() in _ON
    return found if is_hanging and has_comma else replace(found, force_grid_wrap=0)


# Values

_ON = {"true", "1", "yes", "on"}


def _with_plain(style: ImportStyle, given: Mapping[str, Any]) -> ImportStyle:
    """The style with the settings that are a switch or a number."""
    changes: dict[str, bool | int] = {}
    for name, value in given.items():
        match getattr(style, name, None):
            case bool():
                changes[name] = str(value).strip().lower() in _ON
            case int() if str(value).strip().lstrip("-").isdigit():
                changes[name] = int(value)
    return replace(style, **changes)  # type: ignore[arg-type]


def _modules(folders: Iterable[Path]) -> tuple[str, ...]:
    """The modules and the folders directly in some folders: what they name is first-party."""
    names = set()
    for folder in folders:
        for path in map(folder.joinpath, disk.names_in(folder)):
            if path.suffix == ".py" or (not path.suffix and disk.is_folder(path)):
                names.add(path.stem)
    return tuple(sorted(names))


def _table(table: Mapping[str, Any] | None, key: str) -> dict[str, Any]:
    found = (table or {}).get(key)
    return found if isinstance(found, dict) else {}


def _strings(value: object) -> tuple[str, ...]:
    """A list of names: in TOML a list, in INI files with commas or on lines of their own."""
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _toml(path: Path) -> dict[str, Any] | None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text) if (text := _text(path)) is not None else None
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _ini(path: Path, sections: Iterable[str]) -> dict[str, Any] | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(_text(path) or "")
    except configparser.Error:
        return None
    return next((dict(parser[name]) for name in sections if parser.has_section(name)), None)


def _text(path: Path) -> str | None:
    """The text of a regular file of a usual size; None if there is none."""
    if not disk.is_file(path):
        return None
    try:
        return disk.read(path, _MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
