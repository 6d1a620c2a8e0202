"""What says that a program opens a file: its name in the program, in a command, or that of one with
the same keys beside it; or its folder, for Hydra.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice, takewhile
from pathlib import Path, PurePosixPath

from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.own_commands import own_commands
from precision_lint.facts.frameworks.recognition import program_of
from precision_lint.facts.frameworks.sources import typed
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.composing import (
    composed_folders,
    composing_modules,
    users_of_composing,
)
from precision_lint.facts.runs.filled_classes import words_read_by
from precision_lint.facts.runs.handed_words import launches_with
from precision_lint.facts.runs.keys import Keys, all_keys, parts_of
from precision_lint.facts.runs.loading import loads
from precision_lint.facts.runs.loads import loads_in, may_mean, names_said
from precision_lint.facts.runs.started import started_programs
from precision_lint.facts.runs.typed_commands import typed_commands
from precision_lint.model.regex import regex
from precision_lint.model.trace import apart, note
from precision_lint.project import disk
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import Option, options
from precision_lint.source.config.settings_tree import Mapping as Tree
from precision_lint.source.config.settings_tree import Scalar, mappings
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax_tree import syntax_tree
from precision_lint.source.shell.variables import Word
from precision_lint.source.shell.words import UNKNOWN

STARTED = rb"__main__|\.parse_(?:known_)?args\(|Fire\(|hydra\.main\b|argbind\b"
"""What a program holds that is started. A boundary before a word would take five times as long."""
_MAIN = "__main__.py"
_TAKING_WORDS = (
    r"\badd_argument\(|\bparse_args\b|\bargv\b|\bFire\(|\bclick\.|\btyper\.|\btyro\.|\bhydra\.main\b"
    r"|\babsl\b|\bHfArgumentParser\b|\bTrlParser\b|\bfrom_cli\(|Parser\(\s*[\[(]"
)
"""How a program takes the name of another file than the one that it names."""
_HYDRA = regex(r"\bhydra\.main\(([^()]*)\)")
_TEXT = regex(r"""\b(config_\w+)\s*=\s*(["'])([\w./-]*)\2""")
_OUTPUT = regex(r"^(?:out|output|save|log|work|result|results|exp)(?:[_-](?:dir|path|folder))?$")
"""Options that name the folder which a run writes to."""
_NAME_WORD = regex(r"[a-z]+\d*")
_PARTS = regex(r"[_.-]+")
NAMED_SHARE = 0.5
"""Of the keys of a file that a program must mention which names the file."""
_ALIKE = 0.8
"""Of the keys of two files that both have."""
_MOST_SIBLINGS = 40
_LEAST_WORDS = 8
_AGREEING = 0.6
"""Of the options of a command that a file has with the same values."""
_ABSENT = object()
_COMMANDS = regex(
    r"cmd|commands?|program|entry_?point|script|runner|main|train_script", re.IGNORECASE
)
"""Names of entries that say what is started: of sweeps of W&B, of runx, of Determined."""
_PROGRAM = regex(r"[\w./-]+\.py\b")
_SHOWING = (".sh", ".bash", ".md")
_CONFIG_NAMES = ("config-name", "config_name", "cn")
"""Options of Hydra."""
_MOST_FOLDERS = 5
_MOST_SCRIPTS = 12
_LEAST_LETTERS = 5
"""Of the name of a file that a word with unknown parts must say."""


def naming(keys: Keys, file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The programs that name the file and read it: they load such files, and mention its keys."""
    if not keys.precise:
        return
    for path in _naming(file.text.path, project):
        if _may_read(path, keys, file.format, project):
            yield path


def naming_for(keys: Keys, file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The programs that name the file, load such files, and mention a precision that it has: they
    may be for more than this file, and for little of it.
    """
    for path in _naming(file.text.path, project):
        parts = parts_of(path, project)
        if keys.precise & words_read_by(path, project) and loads(parts, file.format, project):
            yield path


def opening_by_modules(file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The programs that call a function of a module which names the file: `load_settings()`, and
    that mention a precision of it.
    """
    path, precise = file.text.path, all_keys(file).precise
    for module in project.config_files.named_in_python(path) if precise else ():
        if module.suffix != ".py" or _is_run(module, project) or project.is_test(module):
            continue
        functions = "|".join(_functions_naming(path, module, project))
        if not functions:
            continue
        calls = re.compile(rf"\b(?:{functions})\(")
        for user in project.users(module):
            text = project.config_files.text(user)
            is_program = _is_started(user, project) and not project.is_test(user)
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
                        if found is not None and _is_started(found, project):
                            yield found


def given(path: Path, project: Recording) -> tuple[Path, ...]:
    """The programs that scripts and documents start with the name of a file."""
    return tuple(dict.fromkeys(program for program, _ in _gifts(path, project)))


def given_beside(path: Path, program: Path, project: Recording) -> Mapping[str, Option | None]:
    """The options that commands give to a program together with a file; None for one that not all
    of them give, or give alike.
    """
    rows = [
        {option.name.replace("-", "_"): option for option in options(_said(started))}
        for one, started in _gifts(path, project)
        if one == program
    ]
    found: dict[str, Option | None] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        same = {row[name].value if name in row else None for row in rows}
        found[name] = rows[0].get(name) if len(same) == 1 else None
    return found


def _said(started: Launch) -> tuple[Word, ...]:
    """The words of a command, but for what a backslash at its end leaves."""
    words = started.words
    return words[:-1] if words and not words[-1].text else words


def _gifts(path: Path, project: Recording) -> tuple[tuple[Path, Launch], ...]:
    """The programs that get a file, with the commands."""
    return project.config_files.once(("given to", path), lambda: tuple(_given(path, project)))


def gets_others(program: Path, path: Path, project: Recording) -> bool:
    """True for a program that commands give other files of this kind, where they give those of the
    file's folder to other programs: a viewer that gets what the training wrote.
    """
    own = _given_in(path.parent, path.suffix, project)
    return bool(own) and program not in own and _gets_files(program, path.suffix, project)


def _given_in(folder: Path, suffix: str, project: Recording) -> frozenset[Path]:
    """The programs that commands give some file of a folder."""

    def compute() -> frozenset[Path]:
        names = [name for name in _names_in(folder) if name.endswith(suffix)]
        paths = (folder / name for name in names[:_MOST_SIBLINGS])
        return frozenset(program for each in paths for program in given(each, project))

    return project.config_files.once(("given in", folder, suffix), compute)


def _gets_files(program: Path, suffix: str, project: Recording) -> bool:
    """True if a command starts a program with a word that names a file of a kind."""

    def compute() -> bool:
        scripts = project.config_files.referring(program)
        return any(
            word.text.endswith(suffix)
            for script in scripts
            for _, launch, started in started_programs(script, project, by_example=True)
            if started == program
            for word in launch.words
        )

    return project.config_files.once(("gets files", program, suffix), compute)


def of_siblings(keys: Keys, file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The programs that read a file with the same keys beside this one, and take its name from
    their command line: that of `a_base.json` for `a_large.json`, and not that of `b.json`.
    """
    here = file.text.path
    nearest: dict[Path, int] = {}
    for path in _beside(here, project):
        other = _keys_at(path, project)
        if len(keys.names & other.names) >= _ALIKE * len(keys.names | other.names):
            shared = _shared_start(here.stem, path.stem)
            named = (one for one in _naming(path, project) if takes_words((one,), project))
            for program in chain(given(path, project), named):
                if _is_named_like(program, path, here):
                    continue
                if _may_read(program, keys, file.format, project):
                    nearest[program] = max(shared, nearest.get(program, 0))
    most = max(nearest.values(), default=0)
    yield from (program for program, shared in nearest.items() if shared == most)


def _is_named_like(program: Path, path: Path, here: Path) -> bool:
    """True for `run_dpo.py` of `config_dpo.yaml`, which says nothing of `config_sft.yaml`."""
    own, its, other = (
        frozenset(_NAME_WORD.findall(one.stem.lower())) for one in (program, path, here)
    )
    return not (own & its).isdisjoint(its - other)


def of_hydra(path: Path, project: Recording) -> tuple[Path, ...]:
    """The programs that start from a file, or the only one that composes those of its folder, or
    that trains: `@hydra.main(config_path="configs", config_name="base")`.
    """
    starting, composing = composed_by(path, project)
    if starting or len(composing) == 1:
        return starting or composing
    # One that trains and one that evaluates often share a folder.
    what = "eval" if "eval" in path.stem else "train"
    named = tuple(program for program in composing if what in program.stem)
    return named if len(named) == 1 else ()


def composed_by(path: Path, project: Recording) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The programs that start from a file, and those that compose the files of its folder."""
    starting, composing = [], []
    for program in _composing_programs(project):
        for folder, name in _composing(program, project):
            if folder in path.parents and not project.is_test(program):
                composing.append(program)
                if name and folder / f"{name}.yaml" == path:
                    starting.append(program)
    return tuple(dict.fromkeys(starting)), tuple(dict.fromkeys(composing))


def folders_above(path: Path, project: Recording) -> tuple[Path, ...]:
    """The folders around a file that some program composes files of."""
    programs = _composing_programs(project)
    folders = {folder for one in programs for folder, _ in _composing(one, project)}
    return tuple(folder for folder in path.parents if folder in folders)


def group_of(path: Path, program: Path, project: Recording) -> str:
    """The name of the group that a file is an option of, if a program composes such groups: that of
    its folder, also where the folders of groups are elsewhere (`--config-dir`).
    """
    group = path.parent
    for folder, _ in _composing(program, project):
        is_inside = folder in group.parents
        if is_inside or (folder != group and disk.is_folder(folder / group.name)):
            return group.name
    return ""


def _composing(program: Path, project: Recording) -> Iterator[tuple[Path, str]]:
    """The folders that a program composes files of, and the name of the first file."""
    for module in composing_modules(project):
        if program in _calling(module, project):
            yield from composed_folders(module, project)
    for match in _HYDRA.finditer(project.config_files.text(program)):
        said = {name: text for name, _, text in _TEXT.findall(match[1])}
        folder = _composed_folder(program, said.get("config_path", "."), project)
        yield folder, said.get("config_name", "").removesuffix(".yaml")


def _composing_programs(project: Recording) -> tuple[Path, ...]:
    """The programs that compose files by a decorator, or by what they call."""
    calling = (each for module in composing_modules(project) for each in _calling(module, project))
    return tuple(dict.fromkeys((*project.python_sources_matching(rb"hydra\.main\("), *calling)))


def _calling(module: Path, project: Recording) -> tuple[Path, ...]:
    """The programs that call what composes files in a module."""

    def compute() -> tuple[Path, ...]:
        users = users_of_composing(module, project)
        return tuple(path for path in users if _is_started(path, project))

    return project.config_files.once(("composing by", module), compute)


def _composed_folder(program: Path, said: str, project: Recording) -> Path:
    """The folder that a program composes files of. One that is written as a whole is that of
    another machine, and the checkout has the end of it.
    """
    if not said.startswith("/"):
        return Path(os.path.normpath(program.parent / said))
    parts = PurePosixPath(said).parts[1:]
    ends = (project.root.joinpath(*parts[start:]) for start in range(len(parts)))
    return next((folder for folder in ends if disk.is_folder(folder)), Path(said))


def _may_read(path: Path, keys: Keys, format: str, project: Recording) -> bool:
    parts = parts_of(path, project)
    is_for = keys.share_in(words_read_by(path, project)) >= NAMED_SHARE
    return is_for and loads(parts, format, project)


def _naming(path: Path, project: Recording) -> tuple[Path, ...]:
    """The programs that name a file."""
    files = project.config_files
    return files.once(("named by", path), lambda: tuple(_found_naming(path, project)))


def _found_naming(path: Path, project: Recording) -> Iterator[Path]:
    # Not only `batch_config.yaml` for `config.yaml`.
    named = re.compile(rf"(?<![\w./-])[\w./-]*?(?<![\w-]){re.escape(path.name)}(?!\w)")
    for program in project.config_files.named_in_python(path):
        if program.suffix != ".py" or not _is_started(program, project):
            continue
        if project.is_test(program):
            continue
        texts = dict.fromkeys(named.findall(project.config_files.text(program)))
        if any(_may_mean(text, path, program, project) for text in texts):
            yield program


def _agrees(launch: Launch, path: Path, project: Recording) -> bool:
    """True for a file that says what a command says: the run with these words has written it."""
    file = project.config_files.at(path)
    root = file.documents[0] if file is not None and file.documents else None
    if not isinstance(root, Tree):
        return False
    said = {
        entry.name: entry.value.value
        for entry in root.entries
        if entry.name and isinstance(entry.value, Scalar)
    }
    words = [
        said.get(option.name.replace("-", "_"), _ABSENT) == typed(option.value)
        for option in options(launch.words)
        if len(option.name) > 1
    ]
    return len(words) >= _LEAST_WORDS and sum(words) >= _AGREEING * len(words)


def _may_mean(text: str, path: Path, program: Path, project: Recording) -> bool:
    """True if a text of a program may be the path of a file, and is not that of another one."""
    found = project.config_files.find(text.lstrip("/"), program)
    if found is not None:
        return found == path
    parts = tuple(part for part in PurePosixPath(text).parts if part.strip("./"))
    if path.parts[-len(parts) :] != parts:
        return False
    return len(parts) > 1 or _is_nearest(path, program, project)


def _is_nearest(path: Path, program: Path, project: Recording) -> bool:
    """True if no other file with the name is as near to a program, as each recipe may have one."""

    def compute() -> tuple[Path, ...]:
        return tuple(one for one in project.config_files.project.files if one.name == path.name)

    alike = project.config_files.once(("files with the name", path.name), compute)
    near = {one: len({*one.parents} & {*program.parents}) for one in alike}
    return all(near[one] < near.get(path, 0) for one in alike if one != path)


def is_elsewhere(program: Path, here: Path, project: Recording) -> bool:
    """True for a program in a folder beside one that has programs, and in which the file is:
    `experiments/perplexity/run.py` for `experiments/speed/configs/a.yaml`.
    """
    shared = next(folder for folder in here.parents if folder in program.parents)
    if shared in (here.parent, program.parent):
        return False
    return shared / here.relative_to(shared).parts[0] in _folders_of_programs(project)


def _folders_of_programs(project: Recording) -> frozenset[Path]:
    """The folders that programs are in, and those above. A module that others import is none:
    `configs/config.py` parses the command line for them.
    """

    def compute() -> frozenset[Path]:
        programs = (path for path in programs_of(project) if _is_run(path, project))
        return frozenset(folder for path in programs for folder in path.parents)

    return project.config_files.once(("folders of programs",), compute)


def programs_of(project: Recording) -> Iterable[Path]:
    """The files that may be started: by what they hold, by their name, or by a command."""
    mains = (path for path in project.config_files.project.python_files if path.name == _MAIN)
    started = project.python_sources_matching(STARTED)
    return dict.fromkeys((*started, *mains, *own_commands(project).values()))


def _is_run(path: Path, project: Recording) -> bool:
    text = project.config_files.text(path)
    return "__main__" in text or path.name == _MAIN or not project.users(path)


def _given(path: Path, project: Recording) -> Iterator[tuple[Path, Launch]]:
    files = project.config_files
    pages = filter(None, map(files.at, files.named_in_pages(path)))
    own = filter(None, (files.at(path),))
    for script in dict.fromkeys((*own, *files.referring(path), *pages)):
        for part, launch, program in started_programs(script, project, by_example=True):
            named = (word.text for word in (*launch.words, *launch.launcher))
            paths = (text.rpartition("=")[2] for text in named if text.endswith(path.name))
            found = ((text, files.find(text, part.text.path, launch.directory)) for text in paths)
            is_it = (_names_it(text, at, path, program, project) for text, at in found)
            is_its = any(is_it) or _writes_there(launch, path, project)
            is_its = is_its or _agrees(launch, path, project)
            if is_its and not project.is_test(program):
                yield program, launch
        yield from _given_by_variables(script, path, project)
        if script.python is None:
            yield from _typed(script.text.text, script, path, project)
    for script in _around(path, project):
        for _, launch, program in started_programs(script, project, by_example=True):
            is_like = any(_may_name(word.text, path) for word in launch.words)
            if is_like and not project.is_test(program):
                yield program, launch


def _given_by_variables(
    script: ParsedConfig, path: Path, project: Recording
) -> Iterator[tuple[Path, Launch]]:
    """The programs that get a file by a variable which branches of a script assign: the file is
    what the script takes without a word, or with one.
    """
    for part in (script, *(embedded.file for embedded in script.embedded)):
        for name, one in part.script.assigned if part.script is not None else ():
            text = one.text.chars.strip()
            if not text.endswith(path.name) or UNKNOWN in text:
                continue
            for started in launches_with(name, part):
                program = program_of(started, part, project)
                found = project.config_files.find(text, part.text.path, started.directory)
                if program is None or project.is_test(program):
                    continue
                if _names_it(text, found, path, program, project):
                    yield program, started


def _typed(
    text: str, near: ParsedConfig, path: Path, project: Recording
) -> Iterator[tuple[Path, Launch]]:
    """The programs of commands in a text that get a file: `# python train.py -c conf/a.yaml`."""
    files = project.config_files
    for started in typed_commands(text, path.stem, near.text.path, project):
        named = (word.text for word in (*started.words, *started.launcher))
        named = (text.rpartition("=")[2] for text in named if text.endswith(path.name))
        program = program_of(started, near, project)
        if program is not None and not project.is_test(program):
            found = ((text, files.find(text, near.text.path)) for text in named)
            is_its = any(_names_it(text, at, path, program, project) for text, at in found)
            if is_its or _config_name(started) == path.stem:
                yield program, started


def _config_name(started: Launch) -> str:
    """The name of the file that a command makes Hydra start from, without its suffix."""
    given = {option.name: option.value for option in options(started.words)}
    name = next((given[each] for each in _CONFIG_NAMES if each in given), None)
    return name.removesuffix(".yaml") if isinstance(name, str) else ""


def _names_it(text: str, found: Path | None, path: Path, program: Path, project: Recording) -> bool:
    """True for a word that means a file: its path, or its name alone, where the program knows the
    folder and no other file of that name is as near.
    """
    if found is not None or "/" in text:
        return found == path
    return text == path.name and _is_nearest(path, program, project)


def _around(path: Path, project: Recording) -> Iterator[ParsedConfig]:
    """The scripts and pages in the folders around a file: `--config configs/${task}_half.yaml`."""
    for folder in path.parents[:_MOST_FOLDERS]:
        for shown in _shown_in(folder, project):
            script = project.config_files.at(shown)
            if script is not None:
                yield script
        if folder == project.root:
            return


def _shown_in(folder: Path, project: Recording) -> tuple[Path, ...]:
    """The first scripts and pages of a folder."""

    def compute() -> tuple[Path, ...]:
        names = (name for name in _names_in(folder) if name.endswith(_SHOWING))
        return tuple(folder / name for name in islice(names, _MOST_SCRIPTS))

    return project.config_files.once(("shown in", folder), compute)


def _may_name(word: str, path: Path) -> bool:
    """True for a word with unknown parts that may be the path of a file."""
    text = word.rpartition("=")[2].removeprefix("./")
    name = text.rpartition("/")[2]
    if UNKNOWN not in name or not text.endswith(path.suffix):
        return False
    if len(name.replace(UNKNOWN, "").removesuffix(path.suffix)) < _LEAST_LETTERS:
        return False
    pattern = r"[^/]+".join(map(re.escape, text.split(UNKNOWN)))
    return re.search(rf"(?:^|/){pattern}$", path.as_posix()) is not None


def _writes_there(launch: Launch, path: Path, project: Recording) -> bool:
    """True for `--output checkpoint` and a file in `checkpoint/run1`, which the run has written."""
    inside = path.relative_to(project.root).parent.parts
    written = (
        PurePosixPath(option.value).parts
        for option in options(launch.words)
        if isinstance(option.value, str) and _OUTPUT.search(option.name)
    )
    return any(parts and parts == inside[: len(parts)] for parts in written)


def _beside(path: Path, project: Recording) -> Iterator[Path]:
    """The files of the same kind in the folder of a file, the first by name."""
    folder, suffix = path.parent, path.suffix

    def compute() -> tuple[Path, ...]:
        paths = (folder / name for name in _names_in(folder) if name.endswith(suffix))
        alike = (path for path in paths if path.suffix == suffix)
        return tuple(islice(alike, _MOST_SIBLINGS + 1))

    alike = project.config_files.once(("of one kind in", folder, suffix), compute)
    yield from islice((other for other in alike if other != path), _MOST_SIBLINGS)


def takes_words(parts: Iterable[Path], project: Recording) -> bool:
    """True if code in some files takes words of the command line, the name of a file among them."""
    files = project.config_files

    def takes(part: Path) -> bool:
        return re.search(_TAKING_WORDS, files.text(part)) is not None

    return any(files.once(("takes words", part), partial(takes, part)) for part in parts)


def _shared_start(one: str, other: str) -> int:
    """How many words two names start with alike: 2 for `vits_vctk_base` and `vits_vctk_large`."""
    pairs = zip(_PARTS.split(one), _PARTS.split(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _names_in(folder: Path) -> list[str]:
    note(("names_in", folder))
    return sorted(apart(lambda: disk.names_in(folder)))


def _keys_at(path: Path, project: Recording) -> Keys:
    files = project.config_files

    def compute() -> Keys:
        file = files.at(path)
        return all_keys(file) if file is not None else Keys()

    return files.once(("keys of", path), compute)


def _is_started(path: Path, project: Recording) -> bool:
    """True for a program: a script that nothing imports, or one that says what happens then."""
    text = project.config_files.text(path)
    is_main = path.name == _MAIN or re.search(STARTED.decode(), text) is not None
    return is_main or not project.users(path)
