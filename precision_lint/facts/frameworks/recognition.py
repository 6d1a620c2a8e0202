"""Which frameworks read what is written in a file.

A mapping or a command that no framework claims has no settings, however its keys are called. Where
one framework extends another, and both could read it, it is the more special one that does.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from collections.abc import Mapping as Table
from fnmatch import fnmatch
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch, launch
from precision_lint.facts.frameworks.own_commands import own_commands
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import (
    CommandSource,
    EnvironmentSource,
    MappingSource,
    names_in,
)
from precision_lint.facts.frameworks.table import Framework, Recognizer, frameworks
from precision_lint.facts.project.facts import Recording
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import options
from precision_lint.source.config.python_settings import python_settings
from precision_lint.source.config.settings_tree import Mapping, Scalar, mappings
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.shell.words import UNKNOWN

_COPIED = r"(?m)^class[ \t]+TrainingArguments[ \t]*(?:\([ \t]*(?:object)?[ \t]*\))?[ \t]*:"
"""The class as transformers has it: those that extend it need the library."""
_PARSERS = (
    r"\bargparse\b|\b(?:Hf)?ArgumentParser\(|\bsimple_parsing\b|\bjsonargparse\b|\bpyrallis\b|\bdraccus\b"
    r"|\bclick\.(?:command|option)|\btyper\.|\btyro\.|\bfire\.Fire|\bFire\(|\bdocopt\b|\boptparse\b"
    r"|\babsl import (?:app, )?flags|\bhydra\.main|\bOmegaConf\.from_cli|\bsys\.argv\b"
)
"""How programs read their command line by themselves."""


_LOADERS = (
    rb"\byaml\.(?:safe_|full_|unsafe_)?load\b|\bOmegaConf\.load\b|\bhydra\.(?:main|compose)\b"
    rb"|\bYAML\(|\btoml(?:i|lib)?\.loads?\b|\bom\.load\b|\bmerge_from_file\("
)
"""How programs load configurations by themselves; JSON is loaded for many other reasons."""


_TARGET = "_target_"
_PROGRAMS = rb"__main__|\.parse_(?:known_)?args\(|\bhydra\.main\b|\bFire\("
"""What a file holds that is started."""


def readings(
    file: ParsedConfig, project: Recording, *, is_open: bool = False
) -> Iterator[EffectiveConfig]:
    """What each framework reads from a file alone, without the files that it refers to.

    It `is_open` if there may be settings for it that are not seen.
    """
    yield from _of_mappings(file, project, is_open)
    if file.python is not None:
        yield from _of_python(file, file.python)
    if file.script is not None:
        yield from _of_commands(file, project)
        yield from _of_environment(file)


def _of_mappings(
    file: ParsedConfig, project: Recording, is_open: bool
) -> Iterator[EffectiveConfig]:
    found = list(mappings(file.documents))
    # An anchor that others merge is a stock of defaults: what counts is what they make of it.
    merged = {id(source) for mapping in found for source in mapping.merged}
    roots = {id(document) for document in file.documents}
    made: dict[str, set[int]] = {}
    for mapping in found:
        for slug in _made_of(mapping):
            made.setdefault(slug, set()).add(id(mapping))
    for mapping in found:
        if id(mapping) in merged:
            continue
        is_root = id(mapping) in roots
        names = names_in(MappingSource(file, mapping, flat=is_root))
        claimed = [
            framework
            for framework, way in _ways_by_name(names)
            if (way.anywhere or is_root)
            and _is_named(file, way)
            and _recognizes(way, _having(file, mapping, framework.flat, names, is_root=is_root))
            and (framework.slug not in made or id(mapping) in made[framework.slug])
        ]
        claimed = [each for each in claimed if not _is_read_by_others(each, file, project)]
        for framework in _most_special(claimed):
            source = MappingSource(file, mapping, flat=framework.flat)
            is_by_keys = file.python is None
            yield EffectiveConfig(framework, source, is_open=is_open, is_by_keys=is_by_keys)


def _made_of(section: Mapping) -> Iterator[str]:
    """The frameworks of the class that a section names, `_target_: trl.SFTConfig`: what is around
    the section is no settings of theirs.
    """
    target = section.get(_TARGET)
    match target.entry.value if target is not None else None:
        case Scalar(value=str(name)):
            for framework in called(name):
                yield framework.slug
                if framework.extends:
                    yield framework.extends


def _having(
    file: ParsedConfig, mapping: Mapping, flat: bool, names: frozenset[str], *, is_root: bool
) -> Callable[[str], bool]:
    """Whether a mapping has something of a name; most are refuted by the names of its keys."""
    has = MappingSource(file, mapping, flat=flat).has
    if mapping.merged or (flat and not is_root):
        return has  # there are more than these

    known = names.union(name.replace("-", "_") for name in names)

    def quick(name: str) -> bool:
        return (_head(name) in known or name in known) and has(name)

    return quick


@lru_cache(maxsize=4096)
def _head(name: str) -> str:
    """The first part of a dotted name."""
    return name.partition(".")[0].replace("-", "_")


def _of_python(file: ParsedConfig, python: ParsedPython) -> Iterator[EffectiveConfig]:
    text = python.text.text
    has_displays = re.search(any_of(_display_names()), text) is not None
    if not has_displays and not re.search(calls_pattern(), text):
        return
    for made in python_settings(python):
        if made.callee not in ("", "dict"):
            for framework in called(made.callee):
                yield EffectiveConfig(framework, MappingSource(file, made.mapping))
            continue
        if not has_displays:
            continue
        for mapping in mappings([made.mapping]):
            source = MappingSource(file, mapping)
            claimed = [
                framework
                for framework, way in _ways_by_name(names_in(source))
                if way.in_python and _recognizes(way, source.has)
            ]
            for framework in _most_special(claimed):
                yield EffectiveConfig(framework, source)


@lru_cache(maxsize=4096)
def called(callee: str) -> tuple[Framework, ...]:
    """The frameworks whose classes or functions have the name."""
    names = {callee, callee.rpartition(".")[2]}
    found = [
        framework
        for framework in frameworks().values()
        if any(
            way.form == "call" and not way.takes and not names.isdisjoint(way.callees)
            for way in framework.ways
        )
    ]
    return tuple(_most_special(found))


@lru_cache(maxsize=4096)
def taking(callee: str) -> tuple[tuple[Framework, Recognizer], ...]:
    """The frameworks that take all of their settings in an argument of what has the name."""
    return tuple(
        (framework, way)
        for framework in frameworks().values()
        for way in framework.ways
        if way.takes and callee in way.callees
    )


@lru_cache(maxsize=1)
def takers() -> tuple[str, ...]:
    """The last parts of the names of what takes all settings in one argument."""
    ways = (way for framework in frameworks().values() for way in framework.ways if way.takes)
    return tuple(sorted({name.rpartition(".")[2] for way in ways for name in way.callees}))


@lru_cache(maxsize=1)
def calls_pattern() -> str:
    """A regular expression for the calls that any framework may read, and imports `as` another."""
    ways = (way for framework in frameworks().values() for way in framework.ways)
    names = {
        re.escape(name if way.takes else name.rpartition(".")[2])
        for way in ways
        for name in way.callees
    }
    return rf"\b(?:{'|'.join(sorted(names))})(?:\s*\(|\s+as\b)"


@lru_cache(maxsize=1)
def _display_names() -> tuple[str, ...]:
    """The names that a display in Python is recognized by."""
    index = _index()
    return tuple(sorted(name for name in index if any(way.in_python for _, way in index[name])))


def _of_commands(file: ParsedConfig, project: Recording) -> Iterator[EffectiveConfig]:
    assert file.script is not None
    for command in file.script.commands:
        started = launch(command)
        if started is None:
            continue
        given = {option.name.replace("-", "_") for option in options(started.words)}
        claimed = [
            framework
            for framework in frameworks().values()
            for way in framework.ways
            if way.form == "command"
            and (
                _starts(way, started)
                if way.programs and not way.own
                else _is_started(started, way)
                and _recognizes(way, given.__contains__)
                and (not way.mentions or _program_mentions(file, project, started, way.mentions))
                and (not way.parses or _is_parsed(way.parses, started, file, project))
            )
            if not _is_refuted(framework, program_of(started, file, project), project)
        ]
        # The name of a command says more than those of its options.
        named = [framework for framework in claimed if _names(framework, started)]
        is_there = program_of(started, file, project) is not None or _is_written(started, file)
        is_guess = not named and not is_there
        for framework in _most_special(named or claimed):
            source = CommandSource(file, framework, started.words, started)
            yield EffectiveConfig(framework, source, is_by_options=is_guess)
        if started.launcher:
            yield from _of_launcher(file, started, project)


def _is_written(started: Launch, file: ParsedConfig) -> bool:
    """True for a program that the file itself writes: `%%writefile a.py`, `cat > a.py <<EOF`."""
    if started.name not in file.text.text:
        return False
    writing = rf"(?:%%writefile|\btee|>)[ \t]+(?:-a[ \t]+)?[\"']?[^\s\"']*{re.escape(started.name)}"
    return re.search(rf"{writing}(?![\w.])", file.text.text) is not None


def _starts(way: Recognizer, started: Launch) -> bool:
    return any(fnmatch(started.name, pattern) for pattern in way.programs)


def _names(framework: Framework, started: Launch) -> bool:
    """True if the name of what is started is enough to tell that it is the framework's."""
    ways = (way for way in framework.ways if way.form == "command" and not way.own)
    return any(_starts(way, started) for way in ways)


def _of_launcher(
    file: ParsedConfig, started: Launch, project: Recording
) -> Iterator[EffectiveConfig]:
    """The options before the program, for any program: one that makes nothing that reads them is
    started all the same.
    """
    words = started.launcher
    path = program_of(started, file, project)
    given = {option.name.replace("-", "_") for option in options(words)}
    for framework in frameworks().values():
        if any(
            way.form == "launcher" and _recognizes(way, given.__contains__)
            for way in framework.ways
        ):
            place = Launch(started.span, "", words, environment=started.environment)
            source = CommandSource(file, framework, words, place)
            is_unread = path is not None and not _may_make(framework, path, project)
            yield EffectiveConfig(framework, source, is_unread=is_unread)


def _may_make(framework: Framework, program: Path, project: Recording) -> bool:
    """False for a program that names nothing that makes what reads a launcher's settings."""
    makers = framework.trainers
    return not makers or project.reaches(program, any_of(makers))


def _program_mentions(
    file: ParsedConfig, project: Recording, started: Launch, words: tuple[str, ...]
) -> bool:
    """True if the started file is in the project and contains one of the words."""
    path = program_of(started, file, project)
    if path is None:
        return False
    text = project.config_files.text(path)
    return re.search(rf"\b(?:{'|'.join(map(re.escape, words))})\b", text) is not None


def _is_parsed(
    classes: tuple[str, ...], started: Launch, file: ParsedConfig, project: Recording
) -> bool:
    """True if the started file makes its options of one of some classes, or hands that on to what
    it imports. A class of the same name that extends none is another one.
    """
    path = program_of(started, file, project)
    if path is None:
        return False
    text = project.config_files.text(path)
    parsing = _parsing(classes)
    if re.search(rf"\bclass[ \t]+{any_of(classes)}[ \t]*:", text):
        return False
    if re.search(_PARSERS, text):
        return re.search(parsing, text) is not None
    return project.reaches(path, parsing)


@lru_cache(maxsize=64)
def _parsing(classes: tuple[str, ...]) -> str:
    return rf"\b(?:HfArgumentParser|TrlParser)\([^)]*?{any_of(classes)}"


def program_of(started: Launch, file: ParsedConfig, project: Recording) -> Path | None:
    """The file of the program that a command in `file` starts; None if it is not in the project."""
    own = own_commands(project).get(started.program.partition(" ")[0])
    if own is not None:
        return own
    if " " in started.program:  # a tool with its subcommand
        return None
    return project.config_files.program(started.program, file.text.path, started.directory)


def found_by_end(started: Launch, file: ParsedConfig, project: Recording) -> Path | None:
    """The program that a command starts, if only the end of its path says which one that is."""
    _, unknown, rest = started.program.rpartition(UNKNOWN)
    inside = os.path.isabs(rest) and project.root in Path(os.path.normpath(rest)).parents
    if not os.path.isabs(rest) or (inside and not unknown):
        return None
    if unknown and project.config_files.find(rest.lstrip("/"), file.text.path) is not None:
        return None
    return program_of(started, file, project)


def _is_refuted(framework: Framework, program: Path | None, project: Recording) -> bool:
    """True if a program of the project reads its options by itself, and nothing else does.

    Options have the same names in many programs: `--learning_rate` alone makes no Trainer.
    """
    return (
        program is not None
        and bool(framework.reach)
        and project.reaches(program, _PARSERS)
        and not _reaches(framework, program, project)
    )


def _reaches(framework: Framework, program: Path, project: Recording) -> bool:
    """True if a program, or what it imports, names the framework. Where the project has a copy of
    its library, the other modules have to do so: all of the copy names itself.
    """
    names = any_of(framework.reach)
    if not project.reaches(program, names):
        return False
    if not project.reaches(program, _COPIED):
        return True
    files = project.config_files
    modules = frozenset(project.program(program))
    parts = [part for part in modules if re.search(names, files.text(part))]
    copies = {
        folder
        for part in parts
        if re.search(_COPIED, files.text(part))
        for folder in _outermost_package(part, modules)
    }
    return any(folder in program.parents for folder in copies) or not all(
        any(folder in part.parents for folder in copies) for part in parts
    )


def _outermost_package(path: Path, modules: Container[Path]) -> tuple[Path, ...]:
    """The folder of the outermost package around a module; none for a module alone."""
    inside = takewhile(lambda each: each / "__init__.py" in modules, path.parents)
    return tuple(inside)[-1:]


def _is_read_by_others(framework: Framework, file: ParsedConfig, project: Recording) -> bool:
    """True if no code of the project makes what reads the files of the framework, no script starts
    its tool, and the project loads its files by itself, or has programs and no page that tells how
    the framework is started.
    """
    if not framework.reach or project.python_source_matches(_reading_code(framework)):
        return False
    tool = _tool_of(framework.slug)
    if tool and project.other_file_matches(tool.encode()):
        return False
    if framework.makes and project.other_file_matches(_path_in_files(framework)):
        return False  # `_target_: lightning.Trainer`
    if file.format != "json" and project.python_source_matches(_LOADERS):
        return True
    reach = any_of(framework.reach).encode()
    return project.python_source_matches(_PROGRAMS) and not project.page_matches(reach)


@lru_cache(maxsize=64)
def _tool_of(slug: str) -> str:
    """A regular expression for the tool of a framework, `swift sft`; its name alone where that is
    no common word: `llamafactory-cli`. Empty if it has no tool.
    """
    ways = (way for way in frameworks()[slug].ways if way.form == "command" and not way.own)
    tools = {
        tool if "-" in tool else f"{tool}[ \\t]+{subcommand}\\b"
        for way in ways
        for tool, blank, subcommand in (pattern.partition(" ") for pattern in way.programs)
        if blank and "*" not in subcommand
    }
    return rf"(?<![\w.-])(?:{'|'.join(sorted(tools))})(?![\w.-])" if tools else ""


def is_made_in(program: Path, kin: Iterable[Framework], project: Recording) -> bool:
    """True if a program reaches one of some frameworks, and makes what reads its settings there."""
    return any(
        project.reaches(program, any_of(one.reach))
        and (not one.makes or project.reaches(program, any_of(one.makes)))
        for one in kin
        if one.reach
    )


def is_left_unread(reading: EffectiveConfig, programs: Iterable[Path], project: Recording) -> bool:
    """True if all of some programs make objects of a framework's class of settings at most, and
    nothing that reads these. The class itself does what it says of products of float32.
    """
    keys, written = reading.framework.keys.items(), reading.source.get
    if any(key.role == "matmul" and written(name) is not None for name, key in keys):
        return False
    names, known = reading.framework.readers, [*programs]
    return bool(names and known) and not any(project.reaches(one, any_of(names)) for one in known)


def _reading_code(framework: Framework) -> bytes:
    """A regular expression for a file that reaches a framework, and makes what reads settings."""
    reach = any_of(framework.reach)
    if not framework.makes:
        return reach.encode()
    makes = any_of(framework.makes)
    return rf"(?s){reach}.*{makes}|{makes}.*{reach}".encode()


def _path_in_files(framework: Framework) -> bytes:
    """A regular expression for the path of what reads settings: `pytorch_lightning.Trainer`."""
    return rf"{any_of(framework.reach)}[\w.]*\.{any_of(framework.makes)}".encode()


@lru_cache(maxsize=64)
def any_of(names: tuple[str, ...]) -> str:
    """A regular expression for one of some names, in which `*` stands for any part of a name; what
    else is in them, such as `deepspeed=`, is meant as it is written.
    """
    patterns = [re.escape(name).replace(r"\*", r"\w*") for name in names]
    whole = [each for name, each in zip(names, patterns, strict=True) if _is_word(name)]
    others = [each for name, each in zip(names, patterns, strict=True) if not _is_word(name)]
    words = rf"\b(?:{'|'.join(whole)})\b"
    return rf"(?:{words}|{'|'.join(others)})" if others else words


def _is_word(name: str) -> bool:
    """True if a name begins and ends like one: `deepspeed.initialize`."""
    edges = name[:1] + name[-1:]
    return edges.replace("*", "_").replace("_", "a").isalnum()


def _is_started(started: Launch, way: Recognizer) -> bool:
    return not way.programs or any(fnmatch(started.name, pattern) for pattern in way.programs)


def _of_environment(file: ParsedConfig) -> Iterator[EffectiveConfig]:
    assert file.script is not None
    variables = file.script.variables
    for framework in frameworks().values():
        for way in framework.ways:
            if way.form == "environment" and _recognizes(way, variables.__contains__):
                relevant = {
                    name: assigned
                    for name, assigned in variables.items()
                    if name in way.variables or name == way.arguments
                }
                further = None
                if way.arguments in variables:
                    words = file.script.words(way.arguments)
                    place = Launch(variables[way.arguments].span, "", words)
                    further = CommandSource(file, framework, words, place)
                if relevant:
                    source = EnvironmentSource(file, framework, relevant, way.variables, further)
                    yield EffectiveConfig(framework, source, is_open=True)


def _recognizes(way: Recognizer, has: Callable[[str], bool]) -> bool:
    own = sum(map(has, way.own))
    return (
        own > 0 and own + sum(map(has, way.shared)) >= way.enough and not any(map(has, way.foreign))
    )


def _is_named(file: ParsedConfig, way: Recognizer) -> bool:
    name = file.text.path.name
    return not way.files or any(fnmatch(name, pattern) for pattern in way.files)


def _ways_by_name(names: frozenset[str]) -> Iterator[tuple[Framework, Recognizer]]:
    """The ways for mappings of which one `own` name may be there."""
    index = _index()
    seen: set[int] = set()
    for name in sorted(names & index.keys()):
        for framework, way in index[name]:
            if id(way) not in seen:
                seen.add(id(way))
                yield framework, way


@lru_cache(maxsize=1)
def _index() -> Table[str, list[tuple[Framework, Recognizer]]]:
    index: dict[str, list[tuple[Framework, Recognizer]]] = defaultdict(list)
    for framework in frameworks().values():
        for way in framework.ways:
            if way.form == "mapping":
                for name in way.own:
                    index[re.split(r"\.", name)[0]].append((framework, way))
    return dict(index)


def _most_special(claimed: list[Framework]) -> list[Framework]:
    """Those that no other one extends, each once."""
    extended = {slug for framework in claimed for slug in ancestors(framework)}
    unique = {framework.slug: framework for framework in claimed}
    return [framework for slug, framework in unique.items() if slug not in extended]


def ancestors(framework: Framework) -> Iterator[str]:
    """The frameworks that one extends, the nearest first."""
    while framework.extends:
        yield framework.extends
        framework = frameworks()[framework.extends]
