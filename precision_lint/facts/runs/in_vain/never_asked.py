"""Settings of files that the project loads and whose keys nothing in it reads.

That a file is loaded says nothing of its keys: `settings["model"]["name"]` reads one of them. Only
what is certain is said: all that code does with what it loads is seen, no library reads files by
ways of its own, no command gives the file to somebody else, and no setting refers to the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from precision_lint.facts.frameworks.launches import launch
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import program_of
from precision_lint.facts.frameworks.sources import Occurrence, RolesSource
from precision_lint.facts.frameworks.table import frameworks
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.readers.composing_programs import (
    folders_above,
    of_hydra,
    package_said,
)
from precision_lint.facts.runs.readers.giving_commands import given
from precision_lint.facts.runs.readers.loaded import Loaded, loaded
from precision_lint.facts.runs.readers.readers import likely_readers, possible_readers
from precision_lint.facts.runs.readers.takers import done_if_taken
from precision_lint.facts.runs.readers.unknown_loads import may_load
from precision_lint.facts.runs.roles.roles import with_keys
from precision_lint.facts.runs.roles.words_in_vain import NOT_READ
from precision_lint.facts.runs.written.key_paths import Keys
from precision_lint.facts.runs.written.loads import (
    composed_in,
    hides_reading,
    is_given_to_library,
    loads_in,
)
from precision_lint.facts.runs.written.tools import tools_given
from precision_lint.facts.runs.written.unread import Unread
from precision_lint.model.finding import Related, Span
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import (
    Mapping,
    Member,
    Merge,
    Scalar,
    Sequence,
    Value,
)

_MOST_ENTRIES = 5_000
_MOST_DEPTH = 10
_MOST_CODE = 600
"""Python files of a project that are looked through."""
_MOST_COMMANDS = 64
_LOOKING = frozenset({"echo", "printf", "cat", "ls", "cp", "mv", "export", "[", "git", "test"})
"""Commands that read no setting of a file."""
_OTHER_CODE = (".ipynb", ".sh", ".bash", ".slurm", ".sbatch")
"""Files that may hold Python which is not followed."""
_LOADS = regex(r"safe_load|full_load|yaml\.load|OmegaConf\.load|json\.load|toml\w*\.load")
_LOADED = regex(r"\bload\w*\(|_load\(|\bread_text\(")
"""How code loads what was saved."""
_PYTORCH = "pytorch"


def never_asked(rest: Unread, project: Recording) -> EffectiveConfig | None:
    """What a file says of precision and nothing reads, with the place where the file is loaded;
    None if there is no such setting, or if that is not certain.
    """
    file = rest.file
    if rest.launch is not None or len(file.documents) != 1 or not _is_plain(file):
        return None
    sections = _sections(file, project)
    if sections is None:
        return None
    own_ways = dict(_ways(file.documents[0]))
    ways = {
        entry: tuple((*section, *keys) for section in sections for keys in own)
        for entry, own in own_ways.items()
    }
    members = {id(one.origin.entry): one for one in rest.settings if isinstance(one.origin, Member)}
    wanted = frozenset(keys for entry in members for keys in ways.get(entry, ()))
    known = _what_is_done(file, wanted, project) if wanted else None
    taken = done_if_taken(file, wanted, project) if wanted and known is None else None
    if taken is not None:
        known = taken[1]
    found = {
        entry: one
        for entry, one in members.items()
        if known is not None and (own := ways.get(entry))
        if not any(map(known.may_read, own)) and not _is_referred_to(own, project)
        if not (known.is_saved and _is_loaded_again(own[0][-1] or "", known, project))
    }
    if known is None or not found:
        return None
    place = known.places[0]
    given: dict[str, Occurrence] = {}
    for entry, one in found.items():
        keys = _shown((*sections[-1], *own_ways[entry][0]))
        used_at = Related(place, "the file is loaded")
        name = f"loaded in {place.path.name}, line {place.start.row} ({keys})"
        given[name] = replace(one, value=NOT_READ, is_derived=True, used_at=used_at)
    span = file.documents[0].span
    code = project.config_files.at(taken[0].program) if taken is not None else None
    source = RolesSource(file, span, None, given, code or file, Span(0, 0), (*found.values(),))
    table = with_keys(frameworks()[_PYTORCH], given)
    is_by_keys = taken is not None
    return EffectiveConfig(replace(table, conflicts=(), links=()), source, is_by_keys=is_by_keys)


def is_never_loaded(file: ParsedConfig, project: Recording) -> bool:
    """True for a file of a format that no code of the project loads, nor a library for it."""
    path = file.text.path
    paths = project.config_files.project.python_files
    if not paths or len(paths) > _MOST_CODE or not _is_plain(file):
        return False

    return not hides_reading(path, paths, project) and not _is_loaded(path.suffix, project)


def _is_loaded(suffix: str, project: Recording) -> bool:
    """True if code of the project loads files of a format, or may do so in an unknown way."""
    paths = project.config_files.project.python_files

    def compute() -> bool:
        loading = (load for each in paths for load in loads_in(each, suffix, project))
        composing = (each for path in paths for each in composed_in(path, project))
        return any(True for _ in chain(loading, composing)) or _loads_otherwise(suffix, project)

    return project.config_files.once(("is loaded", suffix), compute)


def _loads_otherwise(suffix: str, project: Recording) -> bool:
    """True if code of the project may load files of a format in a way that is not known."""
    paths = project.config_files.project.python_files
    if len(paths) > _MOST_CODE:
        return True
    once = project.config_files.once
    return once(("may load", suffix), lambda: may_load(suffix, paths, project))


def _is_plain(file: ParsedConfig) -> bool:
    """True for a file of its own, whose keys are those that a loader gives."""
    is_own = file.python is None and file.around is None and file.masked is None
    return is_own and file.format in ("yaml", "json", "toml")


def _what_is_done(file: ParsedConfig, wanted: frozenset[Keys], project: Recording) -> Loaded | None:
    """What all code of the project does with a file that it loads, if anything does: what names it,
    or has most of its keys. None if it may do something that is not seen.
    """
    path = file.text.path
    naming = [each for each in project.config_files.named_in_python(path) if each.suffix == ".py"]
    loading = (*naming, *given(path, project), *of_hydra(path, project))
    paths = project.config_files.project.python_files
    if not loading and not _loads_otherwise(path.suffix, project):
        loading = possible_readers(file, project) or likely_readers(file, project)
    if not loading or len(paths) > _MOST_CODE:
        return None
    if hides_reading(path, paths, project) or is_given_to_library(path, paths, project):
        return None
    if tools_given(path, project) or _is_given_away(path, project):
        return None
    if _has_other_code(wanted, project):
        return None
    known = loaded(path, wanted, paths, project)
    if known.is_named:
        return known
    programs = (Program(each, project).paths for each in loading)
    own = {each for program in programs for each in program}
    places = tuple(place for place in known.places if place.path in own)
    return replace(known, places=places) if places else None


def _sections(file: ParsedConfig, project: Recording) -> tuple[Keys, ...] | None:
    """The sections that a whole file may be: of those that Hydra composes, that of its group. None
    if another file says where a group goes: `model@teacher: large`.
    """
    path = file.text.path
    found: dict[Keys, None] = {(): None}
    for folder in folders_above(path, project):
        said = package_said(file)
        group = path.parent.relative_to(folder).parts if said is None else said
        found[group] = None
        if group and project.other_file_matches(rb"\b" + re.escape(group[-1]).encode() + rb"@"):
            return None
    return tuple(found)


def _is_given_away(path: Path, project: Recording) -> bool:
    """True if a command gives the file to a program that is not in the project, or not known."""
    files = project.config_files
    for script in files.scripts_naming(path):
        for each in script.with_embedded:
            for command in each.commands[:_MOST_COMMANDS]:
                if not any(word.text.endswith(path.name) for word in command.words[1:]):
                    continue
                started = launch(command)
                is_own = started is not None and program_of(started, each, project) is not None
                if not is_own and command.words[0].text not in _LOOKING:
                    return True
    return False


def _has_other_code(wanted: frozenset[Keys], project: Recording) -> bool:
    """True if a notebook or a script has code that loads files, and mentions one of the keys."""
    names = {re.escape(keys[-1]) for keys in wanted if keys[-1] is not None}
    mentioned = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    texts = (
        project.config_files.text(each)
        for each in project.config_files.project.files
        if each.suffix in _OTHER_CODE
    )
    return any(_LOADS.search(text) and mentioned.search(text) for text in texts)


def _is_referred_to(ways: tuple[Keys, ...], project: Recording) -> bool:
    """True if a file has a reference that ends in the name of a setting: `${model.dtype}`."""
    name = ways[0][-1]
    pattern = rb"\$\{[^}\n]*\b" + re.escape(name or "").encode() + rb"\b[^}\n]*\}"
    return name is None or project.other_file_matches(pattern)


def _is_loaded_again(name: str, known: Loaded, project: Recording) -> bool:
    """True if code that loads files of any kind reads a key of a name, or other code than what
    loads this one has a member of this name.
    """
    word = re.escape(name)
    key = re.compile(rf"([\"']){word}\1\s*[\]),]")
    member = re.compile(rf"\.[ \t]*{word}\b")
    own = {place.path for place in known.places}
    paths = project.config_files.project.python_files
    texts = {path: project.config_files.text(path) for path in paths}
    return any(
        name in text
        and _LOADED.search(text)
        and (key.search(text) or (path not in own and member.search(text)))
        for path, text in texts.items()
    )


def _shown(keys: Keys) -> str:
    return ".".join("*" if each is None else each for each in keys)


def _ways(root: Value) -> Iterator[tuple[int, tuple[Keys, ...]]]:
    """The entries of a tree, each with the paths of keys that lead to it."""
    found: dict[int, dict[Keys, None]] = {}
    pending: list[tuple[Value, Keys]] = [(root, ())]
    for value, keys in pending:  # it grows
        if len(pending) > _MOST_ENTRIES or len(keys) > _MOST_DEPTH:
            return
        if isinstance(value, Sequence):
            pending += [(item, (*keys, None)) for item in value.items]
        for mapping in _with_merged(value) if isinstance(value, Mapping) else ():
            for entry in mapping.entries:
                if isinstance(entry.key, Scalar) and entry.key.value is Merge.KEY:
                    continue
                own = (*keys, entry.name)
                found.setdefault(id(entry), {})[own] = None
                pending.append((entry.value, own))
    yield from ((entry, tuple(ways)) for entry, ways in found.items())


def _with_merged(mapping: Mapping, depth: int = 0) -> Iterator[Mapping]:
    yield mapping
    for each in mapping.merged if depth < _MOST_DEPTH else ():
        yield from _with_merged(each, depth + 1)
