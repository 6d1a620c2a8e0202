"""The programs that take any file of a kind by a word, and read the keys that one has.

`train.py --config FILE` is written nowhere with a name. What a program does with the file that it
loads from there is followed (`section_flow.py`): if it reads most of what is in a file, the file is
for it, whatever else is below the sections that it hands on as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.section_flow import SectionFlow
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.readers.giving_commands import gets_others
from precision_lint.facts.runs.readers.loaded import Loaded
from precision_lint.facts.runs.readers.opened_files import opens_others
from precision_lint.facts.runs.readers.path_uses import is_loaded_once
from precision_lint.facts.runs.readers.path_words import word_for
from precision_lint.facts.runs.readers.unknown_loads import may_load
from precision_lint.facts.runs.written.key_paths import At, Keys, is_start
from precision_lint.facts.runs.written.keys import parts_of
from precision_lint.facts.runs.written.loads import Load, hides_reading, loads_in
from precision_lint.facts.runs.written.program_files import is_elsewhere, programs_of
from precision_lint.model.finding import Place
from precision_lint.model.frozen import frozen
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Mapping, Sequence

_MOST_PROGRAMS = 60
_MOST_LOADS = 6
_MOST_FILES = 150
"""Of a program that is seen to the end."""
_LEAST_KEYS = 3
_LEAST_SHARE = 0.7
"""Of the entries of a file, and of its sections, that a program must be seen to read."""
_MANY_SECTIONS = 5
_CLOSE = 0.8
"""How much of what the best program reads another one may read that is as likely."""


@frozen(slots=False)
class Taker:
    """A program, the word by which it takes a file, and what it does with what is in there."""

    program: Path
    word: str
    load: Load
    place: Place
    """Where it loads the file."""
    share: float


def takers(file: ParsedConfig, project: Recording) -> tuple[Taker, ...]:
    """The programs that read most of a file if they get it, the best first; none of them if that
    is not seen of any.
    """
    return file.fact(takers, lambda: _takers(file, project))


def _takers(file: ParsedConfig, project: Recording) -> tuple[Taker, ...]:
    here = file.text.path
    entries = _entries(file)
    if len(entries) < _LEAST_KEYS or file.around is not None or file.python is not None:
        return ()
    programs = [*islice(_programs(here, project), _MOST_PROGRAMS + 1)]
    if len(programs) > _MOST_PROGRAMS:  # one that is not looked at may read as much
        return ()
    found = [
        taker
        for program in programs
        if (taker := _taking(program, entries, file, project)) is not None
    ]
    best = max((one.share for one in found), default=0.0)
    near = [one for one in found if one.share >= best * _CLOSE]
    return tuple(sorted(near, key=lambda one: (-one.share, str(one.program))))


def word_of(program: Path, file: ParsedConfig, project: Recording) -> str:
    """The word by which a program takes a file that is for it; empty if none is seen, or if the
    file is as much for another program.
    """
    match takers(file, project):
        case (Taker(program=path, word=word),) if path == program:
            return word
    return ""


def done_if_taken(
    file: ParsedConfig, wanted: frozenset[Keys], project: Recording
) -> tuple[Taker, Loaded] | None:
    """What the program that a file is for does with some of its settings; None if there is no such
    program, if there are several, or if not all that it does is seen.
    """
    found = takers(file, project)
    if len(found) != 1:
        return None
    program = Program(found[0].program, project)
    paths, here = program.paths, file.text.path
    if len(paths) >= _MOST_FILES:
        return None
    is_all = is_loaded_once(found[0].word, found[0].load, program)
    if not is_all and (
        may_load(here.suffix, paths, project) or hides_reading(here, paths, project)
    ):
        return None
    flow = SectionFlow(here, wanted, paths, project)
    flow.hold(found[0].load.call, found[0].load.file, At())
    flow.follow()
    places = (found[0].place,)
    done = Loaded(places, False, frozenset(flow.reads), frozenset(flow.ends), bool(flow.saved))
    return found[0], done


def _programs(here: Path, project: Recording) -> Iterator[Path]:
    """The programs that may get a file: no tests, none of other folders or for other files, none
    that stops at its imports.
    """
    for path in programs_of(project):
        if project.is_test(path) or project.is_secondary(path) or is_elsewhere(path, here, project):
            continue
        if not _taking_loads(path, here.suffix, project) or project.stop(path) is not None:
            continue
        if not gets_others(path, here, project) and not opens_others(path, here, project):
            yield path


def _taking_loads(
    program: Path, suffix: str, project: Recording
) -> tuple[tuple[Path, int, str], ...]:
    """The loads of a program whose path a word says: the file and number of each, and the word."""

    def compute() -> tuple[tuple[Path, int, str], ...]:
        known = Program(program, project)
        return tuple(
            (part, number, word)
            for part in parts_of(program, project)
            for number, load in enumerate(loads_in(part, suffix, project))
            if load.source is not None
            if (word := word_for(load.source, load.file, known))
        )[:_MOST_LOADS]

    return project.config_files.once(("taking loads", program, suffix), compute)


def _taking(
    program: Path, entries: frozenset[Keys], file: ParsedConfig, project: Recording
) -> Taker | None:
    """What a program does with a file by the word for which it reads most of it."""
    here = file.text.path
    paths = parts_of(program, project)
    best: Taker | None = None
    for part, number, word in _taking_loads(program, here.suffix, project):
        load = next(islice(loads_in(part, here.suffix, project), number, None), None)
        if load is None:
            continue
        one = _follow(load, program, word, entries, paths, file, project)
        if one is not None and (best is None or one.share > best.share):
            best = one
    return best


def _follow(
    load: Load,
    program: Path,
    word: str,
    entries: frozenset[Keys],
    paths: tuple[Path, ...],
    file: ParsedConfig,
    project: Recording,
) -> Taker | None:
    flow = SectionFlow(file.text.path, entries, paths, project)
    flow.hold(load.call, load.file, At())
    flow.follow()
    if () in flow.ends or not flow.needed <= entries:
        return None
    share = _share(entries, frozenset(flow.reads), frozenset(flow.ends))
    if share < _LEAST_SHARE:
        return None
    place = load.file.text.place(load.file.span_of(load.call))
    return Taker(program, word, load, place, share)


def _share(entries: frozenset[Keys], reads: frozenset[Keys], ends: frozenset[Keys]) -> float:
    """The share of the entries that are read, of those that are not in a section which is handed
    on, or of many sections those of which any is; 0 if a program leaves out most of the sections,
    or reads too few.
    """
    sections = {keys[0] for keys in entries}
    touched = {keys[0] for keys in (*reads, *ends) if keys} & sections
    open_ = [keys for keys in entries if not any(is_start(end, keys) for end in ends)]
    leaves = [keys for keys in open_ if not _is_section(keys, entries)]
    read = [keys for keys in leaves if keys in reads]
    share = len(touched) / len(sections)
    if len(read) < _LEAST_KEYS or share < _LEAST_SHARE:
        return 0.0
    return max(len(read) / len(leaves), share if len(sections) >= _MANY_SECTIONS else 0.0)


def _is_section(keys: Keys, entries: frozenset[Keys]) -> bool:
    return any(len(one) > len(keys) and one[: len(keys)] == keys for one in entries)


def _entries(file: ParsedConfig) -> frozenset[Keys]:
    """The paths of the settings of a file, and of its sections, but for what has keys that are no
    names of settings: a table of layers.
    """
    match file.documents:
        case (Mapping() as root,):
            return frozenset(_paths(root, ()))
    return frozenset()


def _paths(mapping: Mapping, before: Keys) -> Iterator[Keys]:
    for entry in mapping.entries:
        if entry.name is None:
            continue
        keys = (*before, entry.name)
        yield keys
        inner = entry.value
        if isinstance(inner, Mapping) and all((name or "").isidentifier() for name in inner.names):
            yield from _paths(inner, keys)
        elif isinstance(inner, Sequence):
            continue  # what is in a list is data as often as settings
