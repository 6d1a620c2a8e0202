"""The values that the project's configuration gives to a setting that code reads.

`cfg.training.precision` where a YAML file says so, `args.mixed_precision` where a parser has a
default for it, `os.environ["PRECISION"]` where a launch script exports it. Only settings of
precision are known: either the name or one of its values names a dtype. A wrong link is worse than
no link, so an ambiguous name has no setting.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from precision_lint.facts.origin import Choice, Setting
from precision_lint.facts.settings.declarations import declared
from precision_lint.facts.settings.files import config_settings
from precision_lint.facts.settings.given import Declaration, Kind, normal, read_text
from precision_lint.facts.settings.vocabulary import is_about_precision, names_precision
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.project.discovery import kind_of
from precision_lint.project.disk import LARGEST_SETTINGS
from precision_lint.source.python.parse import ReadPython

_Question: TypeAlias = "tuple[tuple[str, ...], Path | None]"

_BITS = frozenset({8, 16, 32, 64})
_UNKNOWN = frozenset({"auto", "none", "null", ""})
_HOLDER = regex(
    r"(?:^|_)(?:arg(?:ument)?s|cfg|conf(?:ig(?:uration)?s?)?|opts?|options|hparams|hps"
    r"|settings|param(?:eter)?s|flags)$",
    re.IGNORECASE,
)


def holds_settings(name: str) -> bool:
    """True for a name that programs give to the object that holds their settings."""
    return _HOLDER.search(name) is not None


@frozen(slots=False)
class SettingsIndex:
    """The settings of a project, read from `paths` on first use.

    `read_python` gives the syntax tree of a Python file, `record` what is kept of a file: the names
    that it seems to give ("settings"), its fields of other classes, and its imports.
    """

    root: Path
    paths: Sequence[Path] = field(repr=False)
    read_python: ReadPython = field(repr=False)
    record: Callable[[str, Path], str] = field(repr=False)
    _read: dict[Path, tuple[Declaration, ...]] = field(default_factory=dict, repr=False)
    _imported: dict[Path, frozenset[str]] = field(default_factory=dict, repr=False)
    _answers: dict[_Question, Setting | None] = field(default_factory=dict, repr=False)

    def setting(self, path: tuple[str, ...], near: Path | None = None) -> Setting | None:
        """The choices for a setting by the names that lead to it: those of `cfg.a.b` are (a, b).

        Two names and more are the end of a key path. A single one is an option, a field, or a key
        at the top of a file; a key further down only if the project has it in one place of its
        files. `near` is the file that asks: what is said in its own folder counts alone, then
        what is said in the folder above, and so on. None if nothing is said.
        """
        path = tuple(map(normal, path))
        if not path or path[-1] not in self._candidate_files:
            return None
        question = (path, near)
        if question not in self._answers:
            self._answers[question] = _as_setting(path[-1], self._setting(path, near))
        return self._answers[question]

    def variable(self, name: str, near: Path | None = None) -> Setting | None:
        """The choices for an environment variable; None if nothing sets it."""
        if name not in self._candidate_files:
            return None
        path = (name,)
        found = self._nearest(Kind.VARIABLE, name, near, lambda given: given.path == path)
        return _as_setting(name, found)

    @cached_property
    def _candidate_files(self) -> Mapping[str, list[Path]]:
        found: dict[str, list[Path]] = {}
        for path in self.paths:
            for name in self.record("settings", path).split("\n")[1:]:
                found.setdefault(name, []).append(path)
        return found

    def _setting(self, path: tuple[str, ...], near: Path | None) -> list[Declaration]:
        name = path[-1]

        def said(kind: Kind) -> list[Declaration]:
            return self._nearest(kind, name, near, lambda given: self._matches(given, path))

        launched = [given for given in said(Kind.LAUNCH) if self._is_run(near, given)]
        found = [*said(Kind.FILE), *launched, *said(Kind.ARGUMENT)]
        found += _of_one_owner(said(Kind.FIELD))
        if found or len(path) > 1:
            return found
        below = self._nearest(Kind.FILE, name, near, lambda given: name in given.path)
        return _in_one_place(below, name)

    def _matches(self, given: Declaration, path: tuple[str, ...]) -> bool:
        """True if what is given is the setting that `path` leads to."""
        if given.kind is Kind.FIELD:
            is_held = len(path) == 1 or (path[-2], given.owner) in self._fields_of_type
            return given.path == path[-1:] and is_held
        if len(path) == 1:
            return given.path == path
        whole, source = given.path, given.origin.source.path
        if given.kind is Kind.FILE and kind_of(source) == "yaml":
            # Hydra's groups are folders: `precision` in `conf/training/base.yaml`.
            whole = (*map(normal, source.relative_to(self.root).parts[:-1]), *whole)
        return whole[-len(path) :] == path

    def _nearest(
        self, kind: Kind, name: str, near: Path | None, matches: Callable[[Declaration], bool]
    ) -> list[Declaration]:
        """The values in the deepest folder above the reader that has any, in path order.

        Nothing beyond that folder is parsed. A Python file counts only for files that it imports
        or that import it: a folder of scripts can have many options `--dtype`.
        """
        files = [file for file in self._candidate_files[name] if _may_give(file, kind)]
        if near is not None and kind in (Kind.ARGUMENT, Kind.FIELD):
            files = [file for file in files if self._is_visible_from(near, file)]
        for folder in self._above(near):
            prefix = f"{folder}{os.sep}"
            within = [file for file in files if file == folder or str(file).startswith(prefix)]
            given = (given for file in within for given in self._given(file))
            if found := [one for one in given if one.kind is kind and matches(one)]:
                return found
        return []

    def _above(self, near: Path | None) -> Iterator[Path]:
        """The file that asks, and the folders above it up to the project's root."""
        if near is not None and self.root in near.parents:
            yield near
            for folder in near.parents:
                if folder == self.root:
                    break
                yield folder
        yield self.root

    def _given(self, path: Path) -> tuple[Declaration, ...]:
        if path not in self._read:
            if kind_of(path) == "python":
                python = self.read_python(path, LARGEST_SETTINGS)
                self._read[path] = tuple(declared(python)) if python is not None else ()
            else:
                text = read_text(path)
                self._read[path] = tuple(config_settings(text)) if text is not None else ()
        return self._read[path]

    @cached_property
    def _fields_of_type(self) -> frozenset[tuple[str, str]]:
        """The fields that are classes of settings themselves: `model: ModelConfig`."""
        return frozenset(
            (name, owner)
            for path in self.paths
            if kind_of(path) == "python"
            for line in self.record("fields", path).split("\n")
            for name, _, owner in (line.partition(" "),)
            if name
        )

    def _is_visible_from(self, near: Path, file: Path) -> bool:
        """True if a Python file is another or one that it imports, or imports it."""
        return near == file or bool(
            self._imports(near) & _names(file) or self._imports(file) & _names(near)
        )

    def _imports(self, path: Path) -> frozenset[str]:
        if path not in self._imported:
            self._imported[path] = frozenset(self.record("imported", path).split())
        return self._imported[path]

    def _is_run(self, near: Path | None, given: Declaration) -> bool:
        """True if a launch script starts the file that asks, or one that imports it.

        A program that is not found here is not the project's.
        """
        if near is None or not given.owner:
            return True
        for folder in self._above(given.origin.source.path):
            program = Path(os.path.normpath(folder / given.owner))
            if program in self._all:
                return program == near or bool(self._imports(program) & _names(near))
        return False

    @cached_property
    def _all(self) -> frozenset[Path]:
        return frozenset(self.paths)


def _names(path: Path) -> frozenset[str]:
    """What an import of a module or of its package ends in."""
    return frozenset({path.stem, path.parent.name})


def _may_give(path: Path, kind: Kind) -> bool:
    """True if a file of this format can give a setting in this way."""
    match kind_of(path):
        case "python":
            return kind in (Kind.ARGUMENT, Kind.FIELD, Kind.VARIABLE)
        case "shell":
            return kind in (Kind.LAUNCH, Kind.VARIABLE)
        case "markdown":
            return kind is Kind.LAUNCH
    return kind is Kind.FILE


def _of_one_owner(fields: list[Declaration]) -> list[Declaration]:
    """Fields of one class; of several only if they give the same, for the object may be either."""
    values: dict[str, set[object]] = {}
    for given in fields:
        values.setdefault(given.owner, set()).add(_key(given.value))
    said = list(values.values())
    return fields if all(one == said[0] for one in said) else []


def _in_one_place(files: list[Declaration], name: str) -> list[Declaration]:
    """What is given under one path that ends so, where no other has the name in it."""
    paths = {given.path for given in files}
    if len(paths) != 1 or paths.pop().index(name) != len(files[0].path) - 1:
        return []
    return files if any(names_precision(given.value) for given in files) else []


def _as_setting(name: str, found: Iterable[Declaration]) -> Setting | None:
    """Each known value once, from where it is said first."""
    known: dict[object, Declaration] = {}
    for given in found:
        if _is_known(given.value):
            known.setdefault(_key(given.value), given)
    if not known or not (
        is_about_precision(name) or any(names_precision(given.value) for given in known.values())
    ):
        return None
    return Setting(tuple(map(_choice, known.values())))


def _choice(given: Declaration) -> Choice:
    if given.kind is not Kind.FIELD or not given.is_default:
        return Choice(given.value, given.origin, given.option)
    is_text = given.origin.source.text[given.origin.span.start] in "'\""
    return Choice(given.value, given.origin, given.option, "text" if is_text else "dtype")


def _is_known(value: object) -> bool:
    """True for what may name a precision: a string, a switch, a number of bits."""
    match value:
        case str():
            return value.strip().lower() not in _UNKNOWN
        case bool():
            return True
        case int():
            return value in _BITS
    return False


def _key(value: object) -> tuple[str, object]:
    """A key that distinguishes values: True is not 1."""
    return type(value).__name__, value
