"""The programs that read a configuration which no launch names, known by the keys that they read.

A program that loads files and mentions nearly every key of one, and has places that decide a
precision, is the program that the file is for: `train.py -c configs/a.json` is written nowhere.
One that names the file need not mention as many. Where a command gives the file to one of several
such programs, it is that one. A record of a finished run is read by none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.imported_by_name import program_of
from precision_lint.facts.runs.loading import FORMATS, has_library, loads, mentions_loading
from precision_lint.facts.runs.records import is_record
from precision_lint.facts.runs.started import started_programs
from precision_lint.facts.runs.torch_sinks import CLEAR_MARKS
from precision_lint.facts.settings.vocabulary import chooses_precision, is_about_precision
from precision_lint.project import disk
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Entry, Mapping, Scalar

_WORD = re.compile(r"[a-z]+\d*")
_KEY = re.compile(r"[\w-]+")
"""What a program may mention; `images/a.png: [poses/a.mp4]` is data."""
_HANDED_ON = re.compile(r"kwargs\b")
"""Sections whose keys are the parameters of something else, which need not be in the program."""
_NUMBERED = re.compile(r"([a-z]+)\d+")
_GENERAL = frozenset({"py", "yaml", "yml", "json", "toml", "config", "configs", "conf", "train"})
_STARTED = rb"__main__|\.parse_(?:known_)?args\(|Fire\(|hydra\.main\b|argbind\b"
"""What a program holds that is started. A boundary before a word would take five times as long."""
_READ = re.compile(r"""["'](\w[\w-]*)["']|\.([A-Za-z_]\w*)|\b([A-Za-z_]\w*)[ \t]*(?:=(?!=)|:)""")
_MARKS = (*map(bytes.decode, CLEAR_MARKS), "mixed_precision=", "precision=", "bf16=", "fp16=")
_SHARE = 0.8
"""Of the keys of a file that the program must mention."""
_NAMED_SHARE = 0.5
"""The same, if the program names the file."""
_LEAST_KEYS = 5
_CLEAR_SHARE = 0.95
_CLEAR_KEYS = 12
_MOST_KEYS = 400
_MOST_PROGRAMS = 40
_MOST_READERS = 4
_MOST_POSSIBLE = 10
_MOST_REFERRING = 8
"""Files that name another one and are asked who reads them."""
_MOST_FILES = 30
"""Of a program, the nearest first: what reads its settings is near its start."""


def possible_readers(file: ParsedConfig, project: Recording) -> tuple[Path, ...]:
    """The programs that may read a file, the likely ones first: those that read it, that a launch
    gives it to, or that read a file which names it.
    """
    found = (
        *readers(file, project),
        *_given(file, project),
        *_of_naming_files(file, project),
    )
    programs = (path for path in dict.fromkeys(found) if not project.is_test(path))
    return tuple(islice(programs, _MOST_POSSIBLE))


def readers(file: ParsedConfig, project: Recording) -> tuple[Path, ...]:
    """The programs that read a file, the best first; none if it says nothing of precision."""
    keys = _keys(file, project)
    if not keys.precise or is_record(file, project):
        return ()
    started = frozenset(_given(file, project))
    naming = [*islice(_naming(keys, file, project), _MOST_READERS)]
    near = [row for row in _near(keys, file, project) if row.share >= _SHARE]
    if found := [path for path in naming if path in started] or naming:
        return tuple(found)
    if found := [row.path for row in near if row.path in started]:
        return tuple(found[:_MOST_READERS])
    best = [row for row in near if row.share == near[0].share]
    words = max((row.words for row in best), default=0)
    return tuple(row.path for row in best if row.words == words)[:_MOST_READERS]


@dataclass(frozen=True)
class _Keys:
    """The names of the settings of a file that a program mentions, and those about precision."""

    names: frozenset[str] = frozenset()
    precise: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Near:
    """A program, the share of the keys that it mentions, and the words that its name has in common
    with the path of the file.
    """

    share: float
    words: int
    path: Path


def _keys(file: ParsedConfig, project: Recording) -> _Keys:
    """The keys of a file; none if it says nothing of precision that code mentions."""
    root = file.documents[0] if file.documents else None
    if not isinstance(root, Mapping) or file.format not in FORMATS:
        return _Keys()
    found = [*islice(_entries(root), _MOST_KEYS)]
    names = {
        entry.name
        for entry, section in found
        if entry.name and _KEY.fullmatch(entry.name) and not _HANDED_ON.search(section)
    }
    precise = {entry.name for entry, section in found if entry.name and _is_precise(entry, section)}
    mentioned = "|".join(map(re.escape, sorted(precise)))
    if not precise or len(names) < _LEAST_KEYS:
        return _Keys()
    if not project.python_source_matches(rf"\b(?:{mentioned})\b".encode()):
        return _Keys()
    return _Keys(frozenset(names), frozenset(precise))


def _near(keys: _Keys, file: ParsedConfig, project: Recording) -> list[_Near]:
    """The programs about precision that load such files, the nearest to one with these keys first:
    by what they mention, by the words in its path, and by the folders in common.
    """
    if not keys.precise:
        return []
    path_words = _words(file.text.path.relative_to(project.root))
    loading: list[_Near] = []
    others: list[_Near] = []
    for path, mentioned, is_loading in _programs(file.format, project):
        share = len(keys.names & mentioned) / len(keys.names)
        if not keys.precise & mentioned or _is_for_another(path.stem, path_words):
            continue
        if is_loading or _is_clear(share, keys.names):
            row = _Near(share, len(_words(path.stem) & path_words), path)
            (loading if is_loading else others).append(row)
    # An example that mentions all keys and loads nothing is not what a file is for.
    found = loading if any(row.share >= _NAMED_SHARE for row in loading) else loading + others
    here = file.text.path
    found.sort(
        key=lambda row: (
            -row.share,
            -row.words,
            -_shared(row.path, here),
            "train" not in row.path.name,
            row.path,
        )
    )
    return found


def _naming(keys: _Keys, file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The programs that name the file and read it: they load such files, and mention its keys."""
    names, precise = keys.names, keys.precise
    if not precise:
        return
    for path in project.config_files.named_in_python(file.text.path):
        if path.suffix != ".py" or not _is_started(path, project):
            continue
        if not _names(path, file.text.path.name, project):
            continue
        beside = path.with_name(file.text.path.name)
        if beside != file.text.path and disk.is_file(beside):
            continue  # it names the one beside it
        parts = tuple(islice(program_of(path, project), _MOST_FILES))
        words = frozenset[str]().union(*(_mentioned(part, project) for part in parts))
        is_for = precise & words and len(names & words) >= _NAMED_SHARE * len(names)
        if is_for and loads(parts, file.format, project):
            yield path


def _names(path: Path, name: str, project: Recording) -> bool:
    """True if a program names a file, and not only `batch_config.yaml` for `config.yaml`."""
    pattern = rf"(?<![\w-]){re.escape(name)}(?!\w)"
    return re.search(pattern, project.config_files.text(path)) is not None


def _given(file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The programs that scripts and documents start with the name of the file."""
    name = file.text.path.name
    for script in project.config_files.referring(file.text.path):
        for part, launch, path in started_programs(script, project, by_example=True):
            named = (word.text for word in (*launch.words, *launch.launcher))
            paths = (text.rpartition("=")[2] for text in named if text.endswith(name))
            found = (
                project.config_files.find(text, part.text.path, launch.directory) for text in paths
            )
            if file.text.path in found:
                yield path


def _of_naming_files(file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The programs of the settings that name the file: `quantization: configs/4bit.yaml`."""
    for other in project.config_files.referring(file.text.path)[:_MOST_REFERRING]:
        if other.text.path != file.text.path and other.script is None:
            yield from readers(other, project)


def _is_started(path: Path, project: Recording) -> bool:
    """True for a program: a script that nothing imports, or one that says what happens then."""
    text = project.config_files.text(path)
    return re.search(_STARTED.decode(), text) is not None or not project.users(path)


def _is_clear(share: float, names: Set[str]) -> bool:
    """True if a program mentions so much of a file that a library loads it, as pydantic may."""
    return share >= _CLEAR_SHARE and len(names) >= _CLEAR_KEYS


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


def _is_precise(entry: Entry, section: str) -> bool:
    """True for a setting that chooses a precision."""
    if not isinstance(entry.value, Scalar):
        return False
    name, value = entry.name or "", entry.value.value
    section = section.rpartition(".")[2]
    return is_about_precision(name) or chooses_precision(name, value, section)


def _entries(mapping: Mapping, section: str = "") -> Iterator[tuple[Entry, str]]:
    """The entries of a mapping and of the sections below it, each with its section."""
    for entry in mapping.entries:
        yield entry, section
        if isinstance(entry.value, Mapping):
            yield from _entries(entry.value, f"{section}.{entry.name or ''}".removeprefix("."))


_Reading: TypeAlias = "tuple[Path, frozenset[str], bool]"


def _programs(format: str, project: Recording) -> tuple[_Reading, ...]:
    """The programs about precision, with the names that the code of each mentions, and whether it
    loads such files.
    """
    return project.config_files.once(("readers", format), lambda: tuple(_found(format, project)))


def _found(format: str, project: Recording) -> Iterator[_Reading]:
    started = [
        path for path in project.python_sources_matching(_STARTED) if not project.is_test(path)
    ]
    started.sort(key=lambda path: not mentions_loading(path, format, project))
    for path in started[:_MOST_PROGRAMS]:
        parts = tuple(islice(program_of(path, project), _MOST_FILES))
        if any(_is_precise_code(part, project) for part in parts):
            words = frozenset[str]().union(*(_mentioned(part, project) for part in parts))
            is_loading = loads(parts, format, project)
            if is_loading or has_library(parts, project):
                yield path, words, is_loading


def _is_precise_code(path: Path, project: Recording) -> bool:
    """True for a file that is certainly about a precision."""
    files = project.config_files
    return files.once(
        ("is precise", path), lambda: any(mark in files.text(path) for mark in _MARKS)
    )


def _mentioned(path: Path, project: Recording) -> frozenset[str]:
    """The names that a file reads as keys, attributes or arguments."""

    def compute() -> frozenset[str]:
        text = project.config_files.text(path)
        return frozenset(one for match in _READ.finditer(text) for one in match.groups() if one)

    return project.config_files.once(("mentioned", path), compute)
