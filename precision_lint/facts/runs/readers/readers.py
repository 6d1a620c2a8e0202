"""The programs that read a configuration which no launch names, known by the keys that they read.

A program that loads files and mentions nearly every key of one, and has places that decide a
precision, is the program that the file is for: `train.py -c configs/a.json` is written nowhere.
One that names the file, or a file beside it with the same keys, need not mention as many. Where a
command gives the file to a program, it is that one. Where several are as likely as each other, none
is named. A record of a finished run is read by none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from precision_lint.facts.frameworks.own_commands import own_commands
from precision_lint.facts.frameworks.recognition import calls_pattern
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.hydra_mains import missing_first_file
from precision_lint.facts.runs.code.filled_classes import filled_by, words_read_by
from precision_lint.facts.runs.code.named_classes import modules_named
from precision_lint.facts.runs.code.torch_sinks import CLEAR_MARKS
from precision_lint.facts.runs.readers.composing_programs import composed_by, of_hydra
from precision_lint.facts.runs.readers.giving_commands import gets_others, given
from precision_lint.facts.runs.readers.opened_files import opens_others
from precision_lint.facts.runs.readers.own_options import options_alone
from precision_lint.facts.runs.readers.takers import takers
from precision_lint.facts.runs.readers.witnesses import (
    NAMED_SHARE,
    named_in,
    naming,
    naming_for,
    of_siblings,
    opening_by_modules,
    opens_by_default,
)
from precision_lint.facts.runs.written.keys import Keys, all_keys, keys_of, parts_of, words_of
from precision_lint.facts.runs.written.loading import has_library, loads, mentions_loading
from precision_lint.facts.runs.written.program_files import is_elsewhere, programs_of, takes_words
from precision_lint.facts.runs.written.records import is_record
from precision_lint.facts.runs.written.tools import tools_given
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig

_WORD = regex(r"[a-z]+\d*")
_FILE = regex(r"[\w./-]+\.(?:ya?ml|json|toml)\b")
_NUMBERED = regex(r"([a-z]+)\d+")
_GENERAL = frozenset({"py", "yaml", "yml", "json", "toml", "config", "configs", "conf", "train"})
_PREPARING = regex(
    r"(?:^|_)(?:preprocess|preprocessing|convert|converter|download|prepare|tokenize|merge)(?:_|$)"
)
"""Programs for data and weights, which import what the others do and mention what that does."""
_ASIDE = frozenset({"doc", "docs"})
_MARKS = tuple(map(bytes.decode, CLEAR_MARKS))
_SETTING = regex(
    r"mixed_precision|\bprecision[\"'=]|\b(?:use_|enable_)?(?:fp16|bf16|amp|half)\b|tf32|fp8"
    r"|\w_dtype\b|[\"']dtype[\"']"
)
"""How code names a precision that it passes on, or that another library than torch sets."""
_OF_DETECTRON = "from detectron2.config import"
_SHARE = 0.8
"""Of the keys of a file that the program must mention."""
_CLOSE = 0.85
"""How much of the share of the best program one must mention that a file beside it names."""
_SAME = 0.95
"""How much of the share of the best program one may mention that is as near."""
_CLEAR_SHARE = 0.95
"""Of the keys of a file that a library loads, as pydantic may."""
_CLEAR_KEYS = 12
_LIKELY_SHARE = 0.7
_LIKELY_CLEAR = 0.9
"""The same where several programs share the place of a setting."""
_MOST_PROGRAMS = 40
_MOST_READERS = 4
_MOST_POSSIBLE = 10
_MOST_REFERRING = 8
"""Files that name another one and are asked who reads them."""
_MOST_HOPS = 2
"""Files that name each other."""


def possible_readers(file: ParsedConfig, project: Recording) -> tuple[Path, ...]:
    """The programs that may read a file, the likely ones first: those that read it, that a launch
    gives it to, that name it, or that read a file which names it.
    """
    return file.fact(possible_readers, lambda: _possible_readers(file, project))


def _possible_readers(file: ParsedConfig, project: Recording) -> tuple[Path, ...]:
    found = dict.fromkeys((*readers(file, project), *_witnessed(file, project)))
    if not found and len(included := _including(file, project)) == 1:
        found = included
    found |= dict.fromkeys(_of_modules(file, project))
    programs = (path for path in found if not project.is_test(path))
    return tuple(islice(programs, _MOST_POSSIBLE))


def _of_modules(file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The modules whose classes a file names by their paths, or a file that it names: what runs
    them reads its settings.
    """
    for one in (file, *named_files(file, project)):
        for module in modules_named(one, project):
            if all_keys(file).precise & words_of((module,), project):
                yield module


def named_files(
    file: ParsedConfig, project: Recording, hops: int = _MOST_HOPS
) -> Iterator[ParsedConfig]:
    """The files of the same kind that a file names, and those that they name: its bases."""
    here = file.text.path
    for name in [*dict.fromkeys(_FILE.findall(file.text.text))][:_MOST_REFERRING] if hops else ():
        found = project.config_files.find(name, here)
        base = project.config_files.at(found) if found not in (None, here) else None
        if found is not None and base is not None and found.suffix == here.suffix:
            yield base
            yield from named_files(base, project, hops - 1)


def _witnessed(file: ParsedConfig, project: Recording) -> Iterator[Path]:
    path = file.text.path
    yield from given(path, project)
    if not is_record(file, project):
        yield from named_in(file, project)
        yield from naming_for(all_keys(file), file, project)
        yield from opening_by_modules(file, project)
        yield from of_hydra(path, project)


def _including(file: ParsedConfig, project: Recording) -> dict[Path, None]:
    """The programs that read, or get, what names a file: any of them, if there are several."""
    return dict.fromkeys(_of_naming_files(file.text.path, project))


def likely_readers(file: ParsedConfig, project: Recording) -> tuple[Path, ...]:
    """The programs that load such files and mention most of the keys of one, which nothing else
    tells apart: the one that mentions most of them first. Else those that are seen to read most of
    what is in the file, if a word gives it to them. None if something leads to one.
    """
    return file.fact(likely_readers, lambda: _likely_readers(file, project))


def _likely_readers(file: ParsedConfig, project: Recording) -> tuple[Path, ...]:
    if not all_keys(file).precise or is_record(file, project):
        return ()
    if possible_readers(file, project) or _including(file, project):
        return ()
    if tools_given(file.text.path, project):
        return ()
    return _mentioning_most(file, project) or tuple(one.program for one in takers(file, project))


def _mentioning_most(file: ParsedConfig, project: Recording) -> tuple[Path, ...]:
    keys = keys_of(file, project)
    if not keys.precise or _has_more_programs(file.text.path, project):
        return ()
    around = _around(_near(keys, file, project, _LIKELY_CLEAR), file.text.path, project)
    near = [row for row in around if row.share >= _LIKELY_SHARE]
    main = [row for row in near if not _is_aside(row.path, project)] or near
    rank = sorted(main, key=lambda row: (-row.share, -row.words, "train" not in row.path.name))
    return tuple(row.path for row in rank)


def readers(file: ParsedConfig, project: Recording) -> tuple[Path, ...]:
    """The programs that read a file, the best first; none if it says nothing of precision."""
    return file.fact(readers, lambda: _readers(file, project))


def _readers(file: ParsedConfig, project: Recording) -> tuple[Path, ...]:
    keys = keys_of(file, project)
    if not keys.precise or is_record(file, project):
        return ()
    here = file.text.path
    started = given(here, project)
    if not started and tools_given(here, project):
        return ()
    near = _near(keys, file, project)
    around = _around(near, here, project)
    named = [*naming(keys, file, project)]
    if around:  # those of other folders name another file
        named = [path for path in named if not is_elsewhere(path, here, project)]
    if gets := [row.path for row in near if row.path in started]:
        named = [one for one in named if opens_by_default(one, here, project)]
    if named := [*dict.fromkeys((*gets, *named))][:_MOST_READERS]:
        return _owners(named, [row.path for row in near], keys, project)
    if started:
        return ()
    most = max((row.share for row in around), default=0.0)
    for likely in (of_siblings(keys, file, project), of_hydra(here, project)):
        programs = frozenset(likely)
        witnessed = [row for row in around if row.path in programs and row.share >= most * _CLOSE]
        if witnessed:
            found = _best(witnessed, here, project)
            return _owners(found, [row.path for row in around], keys, project)
    around = [row for row in around if _may_take_name(row.path, project)]
    close = [row for row in around if row.share >= _SHARE]
    if _has_more_programs(here, project):  # one that is not looked at may mention as much
        close = [row for row in close if row.words]
    elif not close and _is_only_loader(around, file.format, project):
        close = around
    return _best(close, here, project)


def is_sure(program: Path, file: ParsedConfig, project: Recording) -> bool:
    """True if more than the keys of a file says that a program reads it, or no other one may."""
    here = file.text.path

    def compute() -> bool:
        if is_witnessed(program, file, project):
            return True
        keys = keys_of(file, project)
        others = (
            path
            for path in candidates(file, project)
            if path != program and _may_take_name(path, project)
        )
        return not any(keys.precise & words_read_by(path, project) for path in others)

    return project.config_files.once(("is sure", program, here), compute)


def is_witnessed(program: Path, file: ParsedConfig, project: Recording) -> bool:
    """True if more than the keys of a file says that a program reads it."""
    here = file.text.path

    def compute() -> bool:
        keys = keys_of(file, project)
        return any(
            program == path or program in {*project.program(path)}
            for witnesses in (
                given(here, project),
                naming(keys, file, project),
                of_siblings(keys, file, project, is_sure=True),
                of_hydra(here, project),
            )
            for path in witnesses
        )

    return project.config_files.once(("is witnessed", program, here), compute)


def candidates(file: ParsedConfig, project: Recording) -> tuple[Path, ...]:
    """The programs of which one may read a file, where nothing says which: those that get it, or
    that load such files and mention half of its keys.
    """
    here = file.text.path
    keys = keys_of(file, project)
    if (started := given(here, project)) or not keys.names or tools_given(here, project):
        return started
    return tuple(row.path for row in _around(_near(keys, file, project), here, project))


def _may_take_name(path: Path, project: Recording) -> bool:
    """True for a program that may get the name of a file, and does not open another one always."""
    parts = parts_of(path, project)
    return takes_words(parts, project) or has_library(parts, project)


def _is_only_loader(around: Sequence[_Near], format: str, project: Recording) -> bool:
    """True for the only program of a project that loads files of a format."""
    loading = [path for path, _, is_loading in _programs(format, project) if is_loading]
    return [row.path for row in around] == loading


def _around(near: Sequence[_Near], here: Path, project: Recording) -> list[_Near]:
    """Those of the folders of a file; where Hydra composes the files of its folder, what does."""
    _, composing = composed_by(here, project)
    commands = frozenset(own_commands(project).values())  # they are started from anywhere
    return [
        row
        for row in near
        if row.path in composing
        or (not composing and (row.path in commands or not is_elsewhere(row.path, here, project)))
        if not gets_others(row.path, here, project) and not opens_others(row.path, here, project)
    ]


@frozen(slots=False)
class _Near:
    """A program, the share of the keys that it mentions, and the words that its name has in common
    with the path of the file.
    """

    share: float
    words: int
    path: Path


def _near(
    keys: Keys, file: ParsedConfig, project: Recording, clear: float = _CLEAR_SHARE
) -> list[_Near]:
    """The programs about precision that load such files, and mention half of its keys."""
    path_words = _words(file.text.path.relative_to(project.root))
    loading: list[_Near] = []
    others: list[_Near] = []
    programs = _programs(file.format, project)
    for path, mentioned, is_loading in programs:
        share = keys.share_in(mentioned)
        if keys.precise & mentioned and _extends_library(path, project):
            read = frozenset[str]().union(*(words for _, words, _ in programs))
            names = (keys.names & read) | keys.precise
            share = Keys(names, keys.precise).share_in(mentioned)
        if share < NAMED_SHARE or _is_for_another(path.stem, path_words):
            continue
        if _PREPARING.search(path.stem) and not keys.precise & words_of((path,), project):
            continue
        known = keys.precise & mentioned
        if known and known == options_alone(known, path, project):
            continue
        if is_loading or (share >= clear and len(keys.names) >= _CLEAR_KEYS):
            row = _Near(share, len(_words(path.stem) & path_words), path)
            (loading if is_loading else others).append(row)
    # An example that mentions all keys and loads nothing is not what a file is for.
    return loading or others


def _extends_library(path: Path, project: Recording) -> bool:
    """True for a program that merges files into the settings of detectron2, which read most keys
    that no code of the project mentions.
    """
    parts = parts_of(path, project)
    return any(_OF_DETECTRON in project.config_files.text(part) for part in parts)


def _owners(
    found: Sequence[Path], near: Sequence[Path], keys: Keys, project: Recording
) -> tuple[Path, ...]:
    """The programs, or the ones that they import from, if only those mention a precision."""
    owners: dict[Path, None] = {}
    for path in found:
        others = {*project.program(path)} - {path}
        imported = [one for one in near if one in others]
        is_own = not imported or keys.share_in(words_of((path,), project)) > 0
        owners |= dict.fromkeys([path] if is_own else imported)
    return tuple(owners)[:_MOST_READERS]


def _best(near: Sequence[_Near], here: Path, project: Recording) -> tuple[Path, ...]:
    """The programs nearest to a file: by the words in its path, what they mention, and the folders
    in common, what trains before others. None if some are as near as each other.
    """
    words = max((row.words for row in near), default=0)
    left = [row for row in near if row.words == words]
    share = max((row.share for row in left), default=0.0)
    left = [row for row in left if row.share >= share * _SAME]
    commands = frozenset(own_commands(project).values())
    folders = max((_shared(row.path, here) for row in left), default=0)
    paths = [
        row.path
        for row in left
        if _shared(row.path, here) == folders or row.path in commands  # no file is far from them
    ]
    paths = _without_helpers(paths, project)
    # One that imports another one mentions what that does.
    shares = {row.path: row.share for row in left}
    own = [
        one
        for one in paths
        if not any(
            other != one and shares[other] >= shares[one] and other in {*project.program(one)}
            for other in paths
        )
    ]
    likely = [one for one in own or paths if not _is_aside(one, project)] or own or paths
    training = [path for path in likely if "train" in path.name] or likely
    return tuple(training) if len(training) == 1 else ()


def _without_helpers(paths: Sequence[Path], project: Recording) -> list[Path]:
    """The programs without those that only parse the command line for another one of them."""
    mains = [path for path in paths if "__main__" in project.config_files.text(path)]
    helpers = {
        path
        for path in paths
        if path not in mains and any(path in {*project.program(main)} for main in mains)
    }
    return [path for path in paths if path not in helpers]


def _is_aside(program: Path, project: Recording) -> bool:
    """True for a benchmark, a copy, or a program of the documentation."""
    inside = program.relative_to(project.root).parts
    return project.is_secondary(program) or not _ASIDE.isdisjoint(inside)


def _of_naming_files(path: Path, project: Recording, hops: int = _MOST_HOPS) -> Iterator[Path]:
    """The programs that read what names the file, or get it: `quantization: configs/4bit.yaml`, a
    list of files that are included.
    """
    for other in project.config_files.referring(path)[:_MOST_REFERRING] if hops else ():
        if other.text.path != path and other.script is None:
            yield from readers(other, project)
            yield from given(other.text.path, project)
            yield from _of_naming_files(other.text.path, project, hops - 1)
            yield from _of_named_with(path, other, project)


def _of_named_with(path: Path, other: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The programs that read what a file includes beside another one."""
    for name in dict.fromkeys(_FILE.findall(other.text.text)):
        found = project.config_files.find(name, other.text.path)
        beside = project.config_files.at(found) if found not in (None, path) else None
        if found is not None and beside is not None and found.suffix == path.suffix:
            yield from readers(beside, project)


def _words(name: str | Path) -> frozenset[str]:
    """The words in the name of a file and of its folders, but for those of many."""
    return frozenset(_WORD.findall(str(name).lower())) - _GENERAL


def _is_for_another(program: str, words: frozenset[str]) -> bool:
    """True for `main_stage1` beside `stage2/a.yaml`: it is one of several programs, for another."""
    numbered = [match for word in _words(program) if (match := _NUMBERED.fullmatch(word))]
    others = {match[1] for word in words if (match := _NUMBERED.fullmatch(word))}
    return any(match[0] not in words and match[1] in others for match in numbered)


def _shared(one: Path, other: Path) -> int:
    """How many folders two files have in common."""
    return len({*one.parents} & {*other.parents})


_Reading: TypeAlias = "tuple[Path, frozenset[str], bool]"


def _programs(format: str, project: Recording) -> tuple[_Reading, ...]:
    """The programs about precision, with the names that the code of each mentions, and whether it
    loads such files.
    """
    return project.config_files.once(("readers", format), lambda: tuple(_found(format, project)))


def _started(project: Recording) -> list[Path]:
    return [
        path
        for path in programs_of(project)
        if not project.is_test(path) and missing_first_file(path, project) is None
    ]


def _has_more_programs(here: Path, project: Recording) -> bool:
    """True if only some of the programs are looked at that may be for a file."""
    started = _started(project)
    return len(started) > _MOST_PROGRAMS and (
        sum(not is_elsewhere(path, here, project) for path in started) > _MOST_PROGRAMS
    )


def _found(format: str, project: Recording) -> Iterator[_Reading]:
    started = _started(project)
    started.sort(key=lambda path: not mentions_loading(path, format, project))
    for path in started[:_MOST_PROGRAMS]:
        parts = parts_of(path, project)
        is_precise = any(_is_precise_code(part, project) for part in parts)
        if is_precise or filled_by(path, project).slugs:
            is_loading = loads(parts, format, project)
            if is_loading or has_library(parts, project):
                yield path, words_read_by(path, project), is_loading


def _is_precise_code(path: Path, project: Recording) -> bool:
    """True for a file that is certainly about a precision, or calls a framework."""
    files = project.config_files

    def compute() -> bool:
        text = files.text(path)
        is_precise = any(mark in text for mark in _MARKS) or _SETTING.search(text)
        return bool(is_precise or re.search(calls_pattern(), text))

    return files.once(("is precise", path), compute)
