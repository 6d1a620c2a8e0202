"""What says that a program opens a file: its name in the program, or that of one with the same keys
next to it. What a command says is in `giving_commands.py`, and Hydra in `composing_programs.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, takewhile
from pathlib import Path, PurePosixPath

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.filled_classes import words_read_by
from precision_lint.facts.runs.readers.built_paths import programs_building
from precision_lint.facts.runs.readers.giving_commands import given
from precision_lint.facts.runs.written.keys import Keys, all_keys, parts_of
from precision_lint.facts.runs.written.loading import loads
from precision_lint.facts.runs.written.loads import loads_in, may_mean, names_said
from precision_lint.facts.runs.written.nearby_files import files_beside, is_nearest
from precision_lint.facts.runs.written.program_files import is_run, is_started, takes_words
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Scalar, mappings
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax_tree import syntax_tree

_NAME_WORD = regex(r"[a-z]+\d*")
_PARTS = regex(r"[_.-]+")
NAMED_SHARE = 0.5
"""Of the keys of a file that a program must mention which names the file."""
_ALIKE = 0.8
"""Of the keys of two files that both have."""
_COMMANDS = regex(
    r"cmd|commands?|program|entry_?point|script|runner|main|train_script", re.IGNORECASE
)
"""Names of entries that say what is started: of sweeps of W&B, of runx, of Determined."""
_PROGRAM = regex(r"[\w./-]+\.py\b")


def naming(keys: Keys, file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The programs that name the file and read it: they load such files, and mention its keys."""
    if not keys.precise:
        return
    for path in programs_naming(file.text.path, project):
        if _may_read(path, keys, file.format, project):
            yield path


def naming_for(keys: Keys, file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The programs that name the file, load such files, and mention a precision that it has: they
    may be for more than this file, and for little of it.
    """
    for path in programs_naming(file.text.path, project):
        parts = parts_of(path, project)
        if keys.precise & words_read_by(path, project) and loads(parts, file.format, project):
            yield path


def opening_by_modules(file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The programs that call a function of a module which names the file: `load_settings()`, and
    that mention a precision of it.
    """
    path, precise = file.text.path, all_keys(file).precise
    for module in project.config_files.named_in_python(path) if precise else ():
        if module.suffix != ".py" or is_run(module, project) or project.is_test(module):
            continue
        functions = "|".join(_functions_naming(path, module, project))
        if not functions:
            continue
        calls = re.compile(rf"\b(?:{functions})\(")
        for user in project.users(module):
            text = project.config_files.text(user)
            is_program = is_started(user, project) and not project.is_test(user)
            if is_program and calls.search(text) and precise & words_read_by(user, project):
                yield user


def _functions_naming(path: Path, module: Path, project: Recording) -> Iterator[str]:
    """The functions of a module that load what they name."""
    file = project.module(module)
    for load in loads_in(module, path.suffix, project) if file is not None else ():
        said = names_said(load.source, load.file) if load.source is not None else ()
        function = syntax_tree(load.file).function(load.call)
        if isinstance(function, FunctionDefinition) and any(may_mean(text, path) for text in said):
            yield re.escape(function.name)


def opens_by_default(program: Path, path: Path, project: Recording) -> bool:
    """True for a program that keeps the name of a file as what it opens without a word: `default=`
    of an option, a field, a constant.
    """
    named = re.compile(rf"""=\s*["'](?:[\w./-]*/)?{re.escape(path.name)}["']""")
    return named.search(project.config_files.text(program)) is not None


def named_in(file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The programs that a file starts, `command: python train.py`, and that mention a precision
    that it has: what it says goes to their options.
    """
    keys = all_keys(file)
    for program in dict.fromkeys(_programs_in(file, project)):
        if keys.precise & words_read_by(program, project):
            yield program


def _programs_in(file: ParsedConfig, project: Recording) -> Iterator[Path]:
    for mapping in mappings(file.documents):
        for entry in mapping.entries:
            match entry.value:
                case Scalar(value=str(text)) if _COMMANDS.fullmatch(entry.name or ""):
                    for name in _PROGRAM.findall(text):
                        found = project.config_files.find(name, file.text.path)
                        if found is not None and is_started(found, project):
                            yield found


def of_siblings(
    keys: Keys, file: ParsedConfig, project: Recording, *, is_sure: bool = False
) -> Iterator[Path]:
    """The programs that read a file with the same keys beside this one, and take its name from
    their command line: that of `a_base.json` for `a_large.json`, and not that of `b.json`. It is
    sure of those only that commands give one whose name starts alike: a program that names the
    other file opens that one by default.
    """
    here = file.text.path
    nearest: dict[Path, int] = {}
    for path in files_beside(here, project):
        other = _keys_at(path, project)
        if len(keys.names & other.names) >= _ALIKE * len(keys.names | other.names):
            shared = _shared_start(here.stem, path.stem)
            naming = () if is_sure else programs_naming(path, project)
            named = (one for one in naming if takes_words((one,), project))
            for program in chain(given(path, project), named):
                if _is_named_like(program, path, here):
                    continue
                if _may_read(program, keys, file.format, project):
                    nearest[program] = max(shared, nearest.get(program, 0))
    most = max(nearest.values(), default=0)
    if most or not is_sure:
        yield from (program for program, shared in nearest.items() if shared == most)


def _is_named_like(program: Path, path: Path, here: Path) -> bool:
    """True for `run_dpo.py` of `config_dpo.yaml`, which says nothing of `config_sft.yaml`."""
    own, its, other = (
        frozenset(_NAME_WORD.findall(one.stem.lower())) for one in (program, path, here)
    )
    return not (own & its).isdisjoint(its - other)


def _may_read(path: Path, keys: Keys, format: str, project: Recording) -> bool:
    parts = parts_of(path, project)
    is_for = keys.share_in(words_read_by(path, project)) >= NAMED_SHARE
    return is_for and loads(parts, format, project)


def programs_naming(path: Path, project: Recording) -> tuple[Path, ...]:
    """The programs that name a file, or build its path."""

    def compute() -> tuple[Path, ...]:
        found = (*_found_naming(path, project), *programs_building(path, project))
        return tuple(dict.fromkeys(found))

    return project.config_files.once(("named by", path), compute)


def _found_naming(path: Path, project: Recording) -> Iterator[Path]:
    # Not only `batch_config.yaml` for `config.yaml`.
    named = re.compile(rf"(?<![\w./-])[\w./-]*?(?<![\w-]){re.escape(path.name)}(?!\w)")
    for program in project.config_files.named_in_python(path):
        if program.suffix != ".py" or not is_started(program, project):
            continue
        if project.is_test(program):
            continue
        texts = dict.fromkeys(named.findall(project.config_files.text(program)))
        if any(may_mean_file(text, path, program, project) for text in texts):
            yield program


def may_mean_file(text: str, path: Path, program: Path, project: Recording) -> bool:
    """True if a text of a program may be the path of a file, and is not that of another one."""
    found = project.config_files.find(text.lstrip("/"), program)
    if found is not None:
        return found == path
    parts = tuple(part for part in PurePosixPath(text).parts if part.strip("./"))
    if path.parts[-len(parts) :] != parts:
        return False
    return len(parts) > 1 or is_nearest(path, program, project)


def _shared_start(one: str, other: str) -> int:
    """How many words two names start with alike: 2 for `vits_vctk_base` and `vits_vctk_large`."""
    pairs = zip(_PARTS.split(one), _PARTS.split(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _keys_at(path: Path, project: Recording) -> Keys:
    files = project.config_files

    def compute() -> Keys:
        file = files.at(path)
        return all_keys(file) if file is not None else Keys()

    return files.once(("keys of", path), compute)
