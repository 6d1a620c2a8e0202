"""The classes that sections of a configuration name, which are called with what the sections say.

Hydra calls what `_target_` names with the entries beside it, jsonargparse what `class_path` names
with those of `init_args`, and a registry what `type` names. `target` with `params` is the form of
latent diffusion and what follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import (
    Mapping,
    Scalar,
    Sequence,
    Value,
    mappings,
)

_NAMING = ("_target_", "class_path", "target", "type", "class_name", "_name_")
_CALLED = ("_target_", "class_path")
_ARGUMENTS = frozenset({"init_args", "params", "kwargs", "args", "arguments"})
_PLAIN = regex(r"[\w-]{2,60}", re.ASCII)
"""A name in a registry."""
_PATH = regex(r"(?:[A-Za-z_]\w*[.:])*([A-Za-z_]\w*)", re.ASCII)


@frozen(slots=False)
class NamedClass:
    """A class or a function of the project that a section names."""

    name: str
    path: Path


def named_classes(file: ParsedConfig, project: Recording) -> dict[int, NamedClass]:
    """What is called with each section of a file, by the identities of the mappings: the class that
    it names itself, or that the nearest section around it does.
    """
    found: dict[int, NamedClass] = {}
    for mapping, around in _sections(file.documents):
        own = _named(mapping, project) or (found.get(id(around)) if around is not None else None)
        if own is not None:
            found[id(mapping)] = own
    return found


def modules_named(file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The modules of the project whose classes a file names by their whole paths, under any key:
    `task_cls: tasks.fit.FitTask`.
    """
    for mapping in mappings(file.documents):
        for entry in mapping.entries:
            match entry.value:
                case Scalar(value=str(text)) if text.count(".") > 1 and _PATH.fullmatch(text):
                    named = _located(text, text.rpartition(".")[2], project)
                    if named is not None and _is_at(named.path, tuple(text.split(".")[:-1])):
                        yield named.path


def foreign_class(mapping: Mapping, file: ParsedConfig, project: Recording) -> str:
    """The class of a library that a section of a file, or the nearest one around it, names by its
    path; empty if there is none, or it is one of the project.
    """
    found = file.fact(foreign_class, lambda: _foreign_classes(file, project))
    return found.get(id(mapping), "")


def _foreign_classes(file: ParsedConfig, project: Recording) -> dict[int, str]:
    found: dict[int, str] = {}
    for each, around in _sections(file.documents):
        written = (each.get(key) for key in (*_CALLED, "target"))
        texts = [one.entry.value for one in written if one is not None]
        match texts:
            case [Scalar(value=str(text)), *_] if _PATH.fullmatch(text) and text.count(".") >= (
                1 if each.get("target") is None else 2
            ):
                is_own = project.locate(file.text.path, text.rpartition(".")[0]) is not None
                found[id(each)] = "" if is_own or _named(each, project) is not None else text
            case _:
                found[id(each)] = found.get(id(around), "") if around is not None else ""
    return found


def is_argument(mapping: Mapping, name: str, file: ParsedConfig) -> bool:
    """True for an entry that the named class gets by itself, not within a section of its own."""
    if any(mapping.get(each) is not None for each in _NAMING):
        return name not in _NAMING
    return any(
        entry.value is mapping and entry.name in _ARGUMENTS
        for section, _ in _sections(file.documents)
        for entry in section.entries
    )


def _sections(values: Iterable[Value]) -> Iterator[tuple[Mapping, Mapping | None]]:
    """The mappings of a file, each with the one that it is in, outer before inner."""
    pending: list[tuple[Value, Mapping | None]] = [(value, None) for value in values]
    seen: set[int] = set()
    while pending:
        value, around = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case Mapping():
                yield value, around
                pending += [(entry.value, value) for entry in value.entries]
            case Sequence(items=items):
                pending += [(item, around) for item in items]


def _named(mapping: Mapping, project: Recording) -> NamedClass | None:
    for key in _NAMING:
        match member.entry.value if (member := mapping.get(key)) is not None else None:
            case Scalar(value=str(text)) if match := _PATH.fullmatch(text):
                named = _located(text.replace(":", "."), match[1], project)
                return named or _registered(text, project)
            case Scalar(value=str(text)) if _PLAIN.fullmatch(text):
                return _registered(text, project)
    return None


def _registered(text: str, project: Recording) -> NamedClass | None:
    """The only class that a registry has under a name: `@register("small")`, or in a table of paths
    `"small": "models.small.Small"`.
    """
    return project.config_files.once(
        ("registered as", text), lambda: _only(dict.fromkeys(_found_as(text, project)))
    )


def _only(found: Iterable[NamedClass]) -> NamedClass | None:
    match [*found]:
        case [one]:
            return one
    return None


def _found_as(text: str, project: Recording) -> Iterator[NamedClass]:
    quoted = rf"""["']{re.escape(text)}["']"""
    decorated = re.compile(
        rf"^@[\w.]*\bregister\w*\([^()\n]*{quoted}[^()\n]*\)[ \t]*\r?\n(?:@[^\n]*\n)*class (\w+)",
        re.MULTILINE,
    )
    for path in project.python_sources_matching(b"(?m)" + decorated.pattern.encode()):
        for name in decorated.findall(project.config_files.text(path)):
            yield NamedClass(name, path)
    listed = re.compile(rf"""{quoted}[ \t]*:[ \t\r\n]*["']([A-Za-z_][\w.]*\.[A-Za-z_]\w*)["']""")
    for path in project.python_sources_matching(listed.pattern.encode()):
        for whole in listed.findall(project.config_files.text(path)):
            located = _located(whole, whole.rpartition(".")[2], project)
            if located is not None:
                yield located


def _located(text: str, name: str, project: Recording) -> NamedClass | None:
    """The only definition of a name in the project, or the one at the path that is written."""
    defined = project.python_sources_matching(rf"(?m)^(?:class|def) {name}\b".encode())
    module = tuple(text.split(".")[:-1])
    exact = [path for path in defined if _is_at(path, module)] if module else []
    inside = [path for path in defined if not module or module[0] in path.parts]
    found = exact or inside
    return NamedClass(name, found[0]) if len(found) == 1 else None


def _is_at(path: Path, module: tuple[str, ...]) -> bool:
    parts = path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts
    return parts[-len(module) :] == module
