"""Files composed of others: by Hydra's defaults lists, as Hydra 1.1 composes them, or by a base.

`defaults: [trainer: gpu, _self_]` puts `trainer/gpu.yaml` under `trainer`, below what the file
itself sets; `_BASE_: ../base.yaml` (yacs, fvcore) and `defaults: base.yaml` (NeMo RL) put a whole
file below it. The result is a tree of the same entries, each with its position in its own file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.project import disk
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import (
    Entry,
    Mapping,
    Scalar,
    Sequence,
    Value,
    mappings,
)

_ITEM = regex(r"(?:(?P<how>optional|override)\s+)?(?P<path>[\w./-]+?)(?:@(?P<package>[\w.:-]+))?")
_HEADER = regex(r"\s*#\s*@(\w+)\s+(\S+)\s*")
_SELF = "_self_"
_GLOBAL = "_global_"
_MAX_FILES = 64
_MAX_DEPTH = 16
_MAX_ROUNDS = 4
_MAX_MAPPINGS = 4096

Package = tuple[str, ...]
Choices = dict[Path, str | None]
"""The names that lists choose for groups of other lists; None if that is not known."""
Homes = dict[Entry | Mapping, ParsedConfig]
Read = Callable[[Path], ParsedConfig | None]


def composed(file: ParsedConfig, read: Read, project: Recording) -> tuple[ParsedConfig, bool]:
    """A file with what its defaults list adds, and whether that is all that there is.

    A file without such a list is returned unchanged. If a list cannot be followed to its end,
    because an item is chosen on the command line or is a class, the other items are composed.
    """
    if file.format != "yaml" or file.around is not None:
        return file, True
    if (base := _base(file)) is not None:
        layers, is_complete = _based(file, base, read)
        return _merged(file, layers, is_complete)
    if _defaults(file) is None:
        return file, True
    release = project.release_of("hydra-core")
    if release is not None and release < (1, 1):  # where the list was stronger than the file
        return file, False
    composition = _followed(file, read)
    return _merged(file, composition.layers, composition.is_complete)


def _merged(
    file: ParsedConfig, layers: list[_Layer], is_complete: bool
) -> tuple[ParsedConfig, bool]:
    """What layers make of a file, the weakest first."""
    parts = dict.fromkeys((file, *(layer.file for layer in layers)))
    homes: Homes = {each: part for part in parts for each in mappings(part.documents)}
    merging = _Merging(homes)
    root = merging.merged(layers)
    whole = ParsedConfig(file.text, file.format, (root,), homes=homes)
    return whole, is_complete and merging.is_complete


def _base(file: ParsedConfig) -> str | None:
    """The file below another one, as that one names it."""
    match file.documents:
        case (Mapping() as root,):
            for key in ("_BASE_", "defaults"):
                member = root.get(key)
                if member is not None and isinstance(member.entry.value, Scalar):
                    value = member.entry.value.value
                    return value if isinstance(value, str) and value else None
    return None


def _based(file: ParsedConfig, base: str, read: Read) -> tuple[list[_Layer], bool]:
    """The layers of a file that names another one below it, and whether they are all there."""
    layers: list[_Layer] = []
    seen: set[Path] = set()
    current: ParsedConfig | None = file
    while current is not None and len(layers) < _MAX_DEPTH:
        match current.documents:
            case (Mapping() as root,) if current.text.path not in seen:
                seen.add(current.text.path)
                layers.insert(0, _Layer((), root, current, current, root.span))
            case _:
                return layers, False
        if not base:
            return layers, True
        current = read(Path(os.path.normpath(current.text.path.parent / base)))
        base = (_base(current) or "") if current is not None else ""
    return layers, False


def _followed(file: ParsedConfig, read: Read) -> _Composition:
    """The layers of a file, with the choices that its lists override anywhere."""
    choices: Choices = {}
    for _ in range(_MAX_ROUNDS):
        composition = _Composition(file, read, choices)
        composition.add(file, _package(file) or (), (file, file.documents[0].span))
        if composition.overrides == choices:
            # What overrides another file's list is no run by itself.
            composition.is_complete &= composition.met.issuperset(choices)
            return composition
        choices = composition.overrides
    composition.is_complete = False
    return composition


def _defaults(file: ParsedConfig) -> Sequence | None:
    match file.documents:
        case (Mapping() as root,) if (member := root.get("defaults")) is not None:
            return member.entry.value if isinstance(member.entry.value, Sequence) else None
    return None


@frozen
class _Item:
    """One of a defaults list: a file below a group, and the package that its settings go to."""

    group: str
    name: str | None
    """Empty for none on purpose, None if that is not known."""
    package: str | None
    is_optional: bool
    span: Span


@frozen
class _Layer:
    """A mapping of a file, and the keys below the root that lead to it.

    The item at `span` of the file `asked_in` is the reason for it.
    """

    package: Package
    mapping: Mapping
    file: ParsedConfig
    asked_in: ParsedConfig
    span: Span


@dataclass
class _Composition:
    """Collects layers, the weakest first."""

    first: ParsedConfig
    read: Read
    choices: Choices
    overrides: Choices = field(default_factory=dict)
    """The choices, as they were met on the way."""
    met: set[Path] = field(default_factory=set)
    """The groups that lists name."""
    layers: list[_Layer] = field(default_factory=list)
    is_complete: bool = True
    _files: int = 0

    def add(
        self,
        file: ParsedConfig,
        package: Package,
        asked: tuple[ParsedConfig, Span],
        depth: int = 0,
    ) -> None:
        """Add a file, with all that its own list adds."""
        self._files += 1
        match file.documents:
            case (Mapping() as root,):
                own = _Layer(package, root, file, *asked)
            case _:
                self.is_complete &= not file.documents
                return
        if self._files > _MAX_FILES or depth > _MAX_DEPTH:
            self.is_complete = False
            return
        has_self = False
        items = [*self._items(_defaults(file), file)]
        for item in items:
            if item.name == _SELF and not item.group:
                has_self = True
                self.layers.append(own)
            else:
                self._add_item(item, file, package, depth)
        if not has_self:
            self.layers.append(own)

    def _add_item(self, item: _Item, of: ParsedConfig, package: Package, depth: int) -> None:
        if item.group.strip("/").partition("/")[0] == "hydra":
            return  # Hydra's own: how it logs, where it runs
        group = self._folder(item.group, of)
        self.met.add(group)
        name = self.choices.get(group, item.name)
        if name is None:
            self.is_complete = False
            return
        if name == "":
            return
        file = self.read(group / (name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"))
        if file is None:
            self.is_complete &= item.is_optional
            return
        package = _destination(item, package, file)
        self.add(file, package, (of, item.span), depth + 1)

    def _items(self, defaults: Sequence | None, of: ParsedConfig) -> Iterator[_Item]:
        """The items of a list; what they override is noted."""
        for value in defaults.items if defaults else ():
            match value:
                case Scalar(value=str(text)) if match := _ITEM.fullmatch(text):
                    folder, _, name = match["path"].rpartition("/")
                    folder = "/" if not folder and text.startswith("/") else folder
                    yield _Item(folder, name, match["package"], False, value.span)
                case Mapping(entries=(entry,)) if match := _ITEM.fullmatch(entry.name or ""):
                    names = _names(entry.value)
                    if match["how"] == "override":
                        self._override(match, names, of)
                        continue
                    for name in names:
                        is_optional = match["how"] == "optional"
                        yield _Item(match["path"], name, match["package"], is_optional, entry.span)
                case _:
                    self.is_complete = False

    def _override(self, match: re.Match[str], names: list[str | None], of: ParsedConfig) -> None:
        """Note the choice for a group; an outer list comes first and wins."""
        if match["path"].strip("/").partition("/")[0] != "hydra":
            is_one = len(names) == 1 and match["package"] is None
            group = self._folder(match["path"], of)
            self.overrides.setdefault(group, names[0] if is_one else None)

    def _folder(self, group: str, of: ParsedConfig) -> Path:
        """The folder of a group: seen from the file, or from where all configurations lie.

        That is the folder of the first file, or one above it if that one has such a group.
        """
        if not group.startswith("/"):
            return Path(os.path.normpath(of.text.path.parent / group))
        above = self.first.text.path.parents
        folders = [Path(os.path.normpath(folder / group.strip("/"))) for folder in above]
        return next((folder for folder in folders if disk.is_folder(folder)), folders[0])


def _names(value: Value) -> list[str | None]:
    """The names that an item gives, as items have them."""
    match value:
        case Scalar(value=str(name)) if name != "???":
            return [name]
        case Scalar(value=None):
            return [""]
        case Sequence(items=items):
            return [name for item in items for name in _names(item)]
    return [None]


def _destination(item: _Item, package: Package, file: ParsedConfig) -> Package:
    """The package of a file's settings: that of the item, else of the file, else of its folders."""
    match item.package:
        case None:
            pass
        case "_here_":
            return package
        case named if named.partition(".")[0] == _GLOBAL:
            return tuple(named.split(".")[1:])
        case "_group_":
            pass
        case named:
            return (*package, *named.split("."))
    if (said := _package(file)) is not None:
        return said
    return (*package, *filter(None, item.group.split("/")))


def _package(file: ParsedConfig) -> Package | None:
    """The package in the comments at the top of a file: `# @package _global_`."""
    for line in file.text.text.splitlines():
        if not line.strip():
            continue
        header = _HEADER.fullmatch(line)
        if header is None:
            return None
        if header[1] == "package":
            return _named(header[2])
    return None


def _named(package: str) -> Package | None:
    """The package that a header names; None for that of the folders."""
    match package.split("."):
        case ["_group_"]:
            return None
        case [first, *rest] if first == _GLOBAL:
            return tuple(rest)
        case parts:
            return tuple(parts)


@dataclass
class _Merging:
    """Merges layers, the same ones once: aliases may lead to a mapping by more ways than count."""

    homes: Homes
    is_complete: bool = True
    _done: dict[tuple[tuple[Package, int], ...], Mapping] = field(default_factory=dict)

    def merged(self, layers: list[_Layer]) -> Mapping:
        """The mapping that layers make, the weakest first.

        Mappings are merged, all else is replaced.
        """
        if len(layers) == 1 and not layers[0].package:
            return layers[0].mapping
        key = tuple((layer.package, id(layer.mapping)) for layer in layers)
        if key not in self._done:
            self._done[key] = self._merged(layers)
        return self._done[key]

    def _merged(self, layers: list[_Layer]) -> Mapping:
        own = [layer for layer in layers if not layer.package]
        entries = []
        for name in _names_of(layers):
            if len(self._done) == _MAX_MAPPINGS:
                self.is_complete = False
                break
            if inner := _below(layers, name):
                span = inner[-1].span
                entries.append(Entry(Scalar(span, name), self.merged(inner), span))
                self.homes[entries[-1]] = inner[-1].asked_in
        beneath = tuple(layer.mapping for layer in reversed(own))
        top = own[-1] if own else layers[-1]
        span = top.mapping.span if own else top.span
        merged = Mapping(span, tuple(entries), False, beneath=beneath)
        self.homes[merged] = top.file if own else top.asked_in
        return merged


def _names_of(layers: list[_Layer]) -> Iterator[str]:
    """The keys of which several layers may give a mapping."""
    names: dict[str, int] = {}
    for layer in layers:
        if layer.package:
            names[layer.package[0]] = 2
            continue
        for mapping in (layer.mapping, *layer.mapping.merged):
            for entry in mapping.entries:
                if entry.name is not None and isinstance(entry.value, Mapping):
                    names[entry.name] = names.get(entry.name, 0) + 1
    yield from (name for name, count in names.items() if count > 1)


def _below(layers: list[_Layer], name: str) -> list[_Layer]:
    """The layers below a key; none if what counts there is no mapping."""
    found: list[_Layer] = []
    for layer in layers:
        if layer.package:
            if layer.package[0] == name:
                package = layer.package[1:]
                found.append(replace(layer, package=package))
            continue
        member = layer.mapping.get(name)
        if member is None:
            continue
        value = member.entry.value
        if isinstance(value, Mapping):
            home = layer.file
            found.append(_Layer((), value, home, home, member.entry.span))
        else:
            found.clear()
    return found
