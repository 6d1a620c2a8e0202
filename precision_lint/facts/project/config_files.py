"""The configuration files of a project, found by path and by reference."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from precision_lint.facts.frameworks.triggers import COMPOSED, is_about_settings, may_be_read
from precision_lint.facts.project.modules import ParsedModules
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import T
from precision_lint.model.regex import regex
from precision_lint.model.trace import Kept, apart, note
from precision_lint.project import disk
from precision_lint.project.discovery import Kind, kind_of
from precision_lint.project.files import Project
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.limits import MAX_CHARACTERS
from precision_lint.source.config.parse import parse_config
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText

if TYPE_CHECKING:
    from precision_lint.source.python.parse import ParsedPython
    from precision_lint.source.shell.parse import Follow, Script

_SUFFIX = regex(rb"\.(?:jsonc?|ya?ml|toml|env|conf(?:ig)?|cfg|(?:ba|z|k)?sh|py)\b")
_MODULE = regex(rb"[ \t]-m[ \t]+[\w.]*?(\w+)(?![\w.])")
"""`python -m package.module` names a file as well."""
_HYDRA = regex(rb"(?:config[_-]name|-cn)[ \t=]+[\"']?([\w-]+)\b(?!\.)")
"""So do `--config-name base` and `@hydra.main(config_name="base")`, without its suffix."""
_OF_NAMES = b"-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LONGEST_NAME = 200
"""Bytes of the name of a file before its suffix."""
_DEFAULTS = regex(rb"^defaults:[ \t]*(?:#.*)?\r?\n((?:[ \t]*(?:[-#].*)?\r?\n)+)", re.MULTILINE)
"""Hydra's list of the files from which a file is composed."""
_DEFAULTS_IN_A_ROW = regex(rb"^defaults:[ \t]*(\[[^]]*\]|[\w./-]+)", re.MULTILINE)
"""`defaults: [model, _self_]`, and `defaults: base.yaml` of NeMo RL."""
_NAMED = regex(rb"[\w.-]+")
_GENERAL = (
    "train", "main", "run", "eval", "test", "infer", "finetune", "sft", "model", "predict", "demo",
    "pretrain", "generate",
)  # fmt: skip
"""What the words start with in the names that programs of many projects have."""
_MAX_SOURCED = 16
"""Files that one script takes over."""


@frozen(slots=False)
class ConfigFiles:
    """Reads files once. `None` means that a file is missing or cannot be read."""

    project: Project
    modules: ParsedModules = field(repr=False)
    record: Callable[..., str] = field(repr=False)
    """What is kept of a file, by a kind, its path and an argument."""
    _parsed: Kept[ParsedConfig | None] = field(default_factory=Kept, repr=False)
    _python_files: list[Path] = field(default_factory=list, repr=False)
    _texts: dict[Path, str] = field(default_factory=dict, repr=False)
    _once: Kept[Any] = field(default_factory=Kept, repr=False)
    _found: dict[tuple[str, Path, str | None], Path | None] = field(
        default_factory=dict, repr=False
    )
    _naming: dict[str, tuple[Path, ...]] = field(default_factory=dict, repr=False)
    _by_name: dict[str, list[Path]] = field(default_factory=lambda: defaultdict(list), repr=False)

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What is worked out once for all files of the project; it must hold no trees."""
        found: T = self._once.get(key, compute)
        return found

    def at(self, path: Path) -> ParsedConfig | None:
        """The parsed file at a path with any name: the reference determines its kind."""
        note(("read", path))
        return self._parsed.get(path, lambda: self._parse(path))

    def is_shared(self, path: Path) -> bool:
        """True if the file at a path was asked for, or others contain its name."""
        return path in self._parsed or bool(apart(lambda: self.paths_referring(path.name)))

    def free_python(self) -> None:
        """Let go of the Python files: their trees are large, and `modules` says which are kept."""
        for path in self._python_files:
            self._parsed.drop(path)
        self._python_files.clear()

    def read(self, path: Path) -> ParsedConfig | None:
        """The file at a path, parsed now; None if it is too large for a configuration.

        Raises:
            OSError, UnicodeError, LookupError: the file cannot be read, or is no text.
            Unparsable, RecursionError, MemoryError: it is not valid in its format.
        """
        if disk.size(path) > disk.LARGEST_CONFIG:
            return None
        kind = kind_of(path)
        if kind == "python":
            python = self.modules.read(path)
            return python.fact(
                ParsedConfig, lambda: ParsedConfig(python.text, "python", python=python)
            )
        text = SourceText.from_bytes(path, disk.read(path, disk.ANY_SIZE))
        kind = kind or _kind_of_content(text.text)
        return parse_config(text, kind, follow=self.follow(path), parse_python=self._python)

    def _python(self, text: SourceText) -> ParsedPython:
        return self.modules.parse(text, is_on_disk=True)

    def follow(self, near: Path) -> Follow:
        """Finds what a script at `near` sources; each file is read once, and not while it is."""
        return self._follow(near, {})

    def _follow(self, near: Path, read: dict[Path, Script | None]) -> Follow:
        def follow(reference: str) -> Script | None:
            path = self.find(reference, near)
            if path is None:
                return None
            if path not in read:
                if len(read) >= _MAX_SOURCED:
                    return None
                read[path] = None
                read[path] = self._sourced(path, read)
            return read[path]

        return follow

    def _sourced(self, path: Path, read: dict[Path, Script | None]) -> Script | None:
        alone = self.once(("alone", path), lambda: _alone(path))
        return alone or _script_at(path, self._follow(path, read))

    def text(self, path: Path) -> str:
        """The text of a file; empty if it cannot be read."""
        note(("read", path))
        if path not in self._texts:
            try:
                self._texts[path] = disk.read(path, disk.LARGEST_CONFIG).decode("utf-8", "replace")
            except OSError:
                self._texts[path] = ""
        return self._texts[path]

    def find(self, reference: str, near: Path, directory: str | None = None) -> Path | None:
        """The file that a reference in the file `near` refers to, inside the project.

        Scripts are started from their own folder or from a parent folder: the closest match counts.
        `directory` is where a script went to before, seen from where it was started.
        """
        question = ("find", reference, near.parent, directory)
        note(question)
        return apart(lambda: self.found(*question[1:]))

    def found(self, reference: str, folder: Path, directory: str | None) -> Path | None:
        """The same for a file in a folder."""
        key = (reference, folder, directory)
        if key not in self._found:
            self._found[key] = self._find(reference, folder, directory)
        return self._found[key]

    def _find(self, reference: str, near: Path, directory: str | None) -> Path | None:
        root = self.project.root
        if not reference or "\0" in reference:
            return None
        if os.path.isabs(reference):  # `$(dirname "$0")/args.sh`
            path = Path(os.path.normpath(reference))
            if root not in path.parents:
                return self._from_elsewhere(path)
            return path if disk.is_file(path) else None
        if directory:
            found = self.found(os.path.join(directory, reference), near, None)
            if found is not None:
                return found
        for folder in (near, *near.parents):
            path = Path(os.path.normpath(folder / reference))
            if root in path.parents and disk.is_file(path):
                return path
            if folder == root:
                break
        return None

    def _from_elsewhere(self, path: Path) -> Path | None:
        """A file of the project by its path on another machine: `/data/me/project/conf/a.yaml`.

        Its folder is in the project, too, or has the name of the project: a name alone may be that
        of any file.
        """
        root, parts = self.project.root, path.parts[1:]
        for start in range(1, len(parts) - 1):
            inside = root.joinpath(*parts[start:])
            if disk.is_file(inside):
                return inside
        inside = root / path.name
        return inside if parts[-2:-1] == (root.name,) and disk.is_file(inside) else None

    def program(self, name: str, near: Path, directory: str | None = None) -> Path | None:
        """The file of a Python program: a path, or the dotted name of a module."""
        module = name.replace(".", "/")
        candidates = [name, f"{module}.py", f"{module}/__main__.py"]
        if "/" not in name and not name.endswith(".py"):  # with `src` on the path of Python
            candidates.append(f"src/{module}.py")
        found = (self.find(candidate, near, directory) for candidate in candidates)
        first = next((path for path in found if path is not None), None)
        return first or self._started_elsewhere(
            name if name.endswith(".py") else candidates[1], near
        )

    def _started_elsewhere(self, name: str, near: Path) -> Path | None:
        """A program for which a script does not say from where it is started: below a folder that
        only run time knows (`$ROOT/train.py`), by its path on another machine, or the only one
        whose path ends so, as that of `python -m package.train` with `src` on the path of Python.
        """
        _, unknown, rest = name.rpartition("\0")
        if unknown and not rest.startswith("/"):
            return None
        if unknown:
            return self.find(rest.lstrip("/"), near) or self._by_end(rest)
        if os.path.isabs(name):
            return self._by_end(os.path.normpath(name))
        parts = [part for part in name.split("/") if part != "."]
        if len(parts) < 2 or ".." in parts:
            return None
        found = self._all_ending("/".join(parts))
        if not found and len(parts) > 2:  # from the folder around the project
            inside = self.project.root / Path(*parts[1:])
            note(("is_file", inside))
            return inside if disk.is_file(inside) else None
        return found[0] if len(found) == 1 else None

    def _by_end(self, path: str) -> Path | None:
        """The only program whose path ends like one on another machine, from a folder on. Many
        programs are `train.py` in a folder `src`: the name has to say more than that.
        """
        *folders, name = (part for part in path.split("/") if part)
        is_general = all(word.startswith(_GENERAL) for word in Path(name).stem.lower().split("_"))
        if not folders or is_general or len(self._all_ending(name)) > 1:
            return None
        found = self._all_ending(f"{folders[-1]}/{name}")
        return found[0] if found else None

    def _all_ending(self, name: str) -> Sequence[Path]:
        question = ("ending", name)
        note(question)
        return apart(lambda: self.ending(name))

    def ending(self, name: str) -> Sequence[Path]:
        """The Python files whose paths end with a relative path."""
        if not self._by_name:
            for path in self.project.python_files:
                self._by_name[path.name].append(path)
        parts = tuple(name.split("/"))
        return [path for path in self._by_name[parts[-1]] if path.parts[-len(parts) :] == parts]

    def referring(self, path: Path) -> list[ParsedConfig]:
        """The files that contain the name of a file, in path order."""
        note(("referring", path.name))
        found = map(self.at, apart(lambda: self.paths_referring(path.name)))
        return [file for file in found if file is not None]

    def scripts_naming(self, path: Path) -> Sequence[ParsedConfig]:
        """The same, and the documents that may show how a program gets the file."""
        pages = filter(None, map(self.at, self.named_in_pages(path)))
        return tuple(dict.fromkeys((*self.referring(path), *pages)))

    def paths_referring(self, name: str) -> Sequence[Path]:
        """The files that contain a name of a file, in path order."""
        return self._references.get(name, ())

    def named_in_python(self, path: Path) -> Sequence[Path]:
        """The Python files and notebooks that contain the name of a file and may read it."""
        note(("named_in_python", path.name))
        return apart(lambda: self.python_naming(path.name))

    def python_naming(self, name: str) -> Sequence[Path]:
        """The Python files and notebooks that contain a name of a file."""
        if name not in self._naming:
            self._naming[name] = tuple(one for one in self._code if self.record("names", one, name))
        return self._naming[name]

    @cached_property
    def _code(self) -> tuple[Path, ...]:
        """The Python files and notebooks of the project."""
        notebooks = (one for one in self.project.files if kind_of(one) == "notebook")
        return (*self.project.python_files, *notebooks)

    def named_in_pages(self, path: Path) -> Sequence[Path]:
        """The documents that contain the name of a file, and may show how a program gets it."""
        note(("named_in_pages", path.name))
        return apart(lambda: self.pages_naming(path.name))

    def pages_naming(self, name: str) -> Sequence[Path]:
        """The documents that contain a name of a file."""
        return tuple(one for one in self._pages if self.record("names", one, name))

    @cached_property
    def _pages(self) -> tuple[Path, ...]:
        return tuple(one for one in self.project.pages if kind_of(one) == "markdown")

    def composes_settings(self, path: Path) -> bool:
        """True if a file with Hydra's `defaults` may be composed of one that a rule looks at."""
        return not self._of_interest.isdisjoint(self.record("composed", path).split("\n")[1:])

    @cached_property
    def _of_interest(self) -> frozenset[str]:
        """The names, without suffix, of the YAML files that a rule looks at for what they say, or
        for what they are composed of.
        """
        composed: dict[str, set[str]] = defaultdict(set)
        pending = []
        for path in self.project.files:
            if kind_of(path) != "yaml":
                continue
            is_about, *names = self.record("composed", path).split("\n")
            if is_about:
                pending.append(path.stem)
            for name in names if not is_about else ():
                composed[name].add(path.stem)
        found = set(pending)
        while pending:
            new = composed.get(pending.pop(), set()) - found
            found |= new
            pending += new
        return frozenset(found)

    @cached_property
    def _references(self) -> Mapping[str, list[Path]]:
        """The files that contain the name of another file, by that name."""
        references: dict[str, list[Path]] = defaultdict(list)
        for path in self.project.files:
            for name in self.record("references", path).split("\n"):
                if name:
                    references[name].append(path)
        return references

    def _parse(self, path: Path) -> ParsedConfig | None:
        if kind_of(path) == "python":
            self._python_files.append(path)
        try:
            return self.read(path)
        except (OSError, UnicodeError, LookupError, Unparsable, RecursionError, MemoryError):
            return None


def _alone(path: Path) -> Script | None:
    """A script that sources no file, so it is the same for all who source it; None for others."""
    sourced: list[str] = []
    script = _script_at(path, sourced.append)
    return script if not sourced else None


def _script_at(path: Path, follow: Follow) -> Script | None:
    from precision_lint.source.shell import parse as shell

    try:
        text = SourceText.from_bytes(path, disk.read(path, disk.ANY_SIZE))
    except (OSError, UnicodeError):
        return None
    return shell.parse(text, follow=follow)[0] if len(text.text) <= MAX_CHARACTERS else None


def names_of_files(path: Path, content: bytes) -> str:
    """The record of the names of files that a file contains."""
    if not (may_be_read(content, kind_of(path) or "yaml") or b"hydra" in content):
        return ""
    names = {*_named_in(content), *_composed_of(content)}
    return b"\n".join(sorted(names)).decode("ascii")


def composition(content: bytes) -> str:
    """The record of whether a rule looks at a file, and of the files of which it is composed."""
    is_about = b"1" if is_about_settings(content) else b""
    return b"\n".join([is_about, *sorted({*_stems(content)})]).decode("ascii")


def _named_in(content: bytes) -> Iterable[bytes]:
    """The names of configuration files in some bytes: from a suffix back to where a name begins.

    Searching for names forwards would take forty times as long, since every word may begin one.
    """
    found: dict[int, bytes] = {}
    for suffix in _SUFFIX.finditer(content):
        before = content[max(0, suffix.start() - _LONGEST_NAME - 1) : suffix.start()]
        length = len(before) - len(before.rstrip(_OF_NAMES))
        if 0 < length <= _LONGEST_NAME:
            start = suffix.start() - length
            found[start] = content[start : suffix.end()]  # of `a.conf.yaml`, the whole
    modules = (match[1] + b".py" for match in _MODULE.finditer(content))
    composed = (match[1] + b".yaml" for match in _HYDRA.finditer(content))
    return (*found.values(), *modules, *composed)


def _composed_of(content: bytes) -> Iterator[bytes]:
    """A superset of the names of the files from which a file may be composed."""
    if COMPOSED not in content:
        return
    for names in (*_DEFAULTS.findall(content), *_DEFAULTS_IN_A_ROW.findall(content)):
        yield from (name.removesuffix(b".yaml") + b".yaml" for name in _NAMED.findall(names))


def _stems(content: bytes) -> Iterator[bytes]:
    return (name.removesuffix(b".yaml") for name in _composed_of(content))


def _kind_of_content(text: str) -> Kind:
    """The kind of a file whose name does not show it: `ds_zero3.config`."""
    return "json" if text.lstrip()[:1] in ("{", "[") else "yaml"
