"""How the program that gets settings asks for them: by which name, in which section."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.runs.code.flows import Asked
from precision_lint.facts.runs.code.ways import commands
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.readers.composing_programs import group_of, package_said
from precision_lint.facts.runs.written.unread import Unread
from precision_lint.facts.runs.written.unread_trees import sections
from precision_lint.facts.settings.given import normal
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Mapping, Member, Scalar, mappings


def as_asked(rest: Unread, run: RunEnvironment) -> Iterator[tuple[Occurrence, Asked]]:
    """The settings, each as the program asks for it."""
    if rest.launch is not None:
        file = run.program.project.module(run.program.path)
        started = {name for name, _ in commands(file)} if file is not None else set()
        said = (*rest.launch.program.split(), *(word.text for word in rest.launch.words))
        words = frozenset(word for word in said if word in started)
        for one in rest.settings:
            section, _, name = one.name.rpartition(".")
            declared = run.program.flags.get(normal(name))
            name = declared.path[-1] if declared is not None else normal(name)
            positive = name.removeprefix("no_")
            if (
                one.value is True
                and name not in run.program.options
                and (positive != name and positive in run.program.options)
            ):  # of `BooleanOptionalAction`
                name, one = positive, replace(one, value=False)
            yield one, Asked(name, normal(section.rpartition(".")[2]), words=words)
        return
    names = sections(rest.file)
    modules = frozenset(_texts(rest.file))
    homes: dict[str, list[Mapping]] = {}
    for mapping in mappings(rest.file.documents):
        for name in mapping.names:
            homes.setdefault(name, []).append(mapping)
    for one in rest.settings:
        if isinstance(one.origin, Member):
            own = one.origin.mapping
            if one.origin.entry.name != one.name:  # the section is the setting
                holding = (each for each in homes[one.name] if _holds(each, own))
                own = next(holding, own)
            others = {names.get(id(each), "") for each in homes[one.name] if not _alike(each, own)}
            section = names.get(id(own), "") or _group(rest.file, run)
            others -= {section}
            path = rest.file.text.path
            called = frozenset({path.stem, path.parent.name})
            yield one, Asked(one.name, section, frozenset(others), called, modules)


def _holds(section: Mapping, inner: Mapping) -> bool:
    return any(entry.value is inner for entry in section.entries)


def _group(file: ParsedConfig, run: RunEnvironment) -> str:
    """The section that Hydra puts a whole file into: its folder, or what it says by `@package`."""
    group = group_of(file.text.path, run.program.path, run.program.project)
    said = package_said(file) if group else None
    return group if said is None else (said or ("",))[-1]


def _texts(file: ParsedConfig) -> Iterator[str]:
    """The texts among the settings of a file that may be names of modules."""
    for mapping in mappings(file.documents):
        for entry in mapping.entries:
            match entry.value:
                case Scalar(value=str(text)) if text.isidentifier() and "_" in text:
                    yield text


def _alike(one: Mapping, other: Mapping) -> bool:
    """True for sections of one kind, such as the models of a table: all are read in one place."""
    shared = {*one.names} & {*other.names}
    return one is other or len(shared) >= max(2, 0.5 * max(len([*one.names]), len([*other.names])))
