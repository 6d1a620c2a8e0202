"""Which programs get a file by a word that says only a part of its name.

`config=configs/retrieval_${dataset}.yaml` and `python find.py $config` give the program each file
of the folder with such a name. Of several programs those count whose word says most of it, or
whose script says the rest as well: `if [[ $dataset != flickr ]]; then exit; fi`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.written.nearby_files import scripts_around
from precision_lint.facts.runs.written.started import started_programs
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.shell.words import UNKNOWN

_LEAST_LETTERS = 5
"""Of the name of a file, and the folder before it, that a word with unknown parts must say."""
_LEAST_OF_NAME = 2
_MOST_SCRIPTS = 24
_SCRIPTS = (".sh", ".bash")
_COMMENT = regex(r"(?:^|(?<=\s))#.*", re.MULTILINE)


@frozen
class _Gift:
    program: Path
    launch: Launch
    rank: tuple[int, int]
    """Whether the script mentions what the word leaves out, and how much the word says."""


def given_in_part(path: Path, project: Recording) -> Iterator[tuple[Path, Launch]]:
    """The programs that get a file by a word with unknown parts, with the commands."""
    gifts = [*_gifts(path, project)]
    best = max((gift.rank for gift in gifts), default=None)
    yield from ((gift.program, gift.launch) for gift in gifts if gift.rank == best)


def _gifts(path: Path, project: Recording) -> Iterator[_Gift]:
    around = dict.fromkeys((*scripts_around(path, project), *_naming_folder(path.parent, project)))
    for script in around:
        for word, launch, program in _open_words(script, project):
            if rest := _left_out(word, path):
                yield _Gift(program, launch, (_says(rest, script), _letters(word, path)))


def _open_words(script: ParsedConfig, project: Recording) -> tuple[tuple[str, Launch, Path], ...]:
    """The words of a script's commands that leave a part to run time, each with its program."""

    def compute() -> tuple[tuple[str, Launch, Path], ...]:
        return tuple(
            (word.text, launch, program)
            for _, launch, program in started_programs(script, project, by_example=True)
            if not project.is_test(program)
            for word in launch.words
            if UNKNOWN in word.text and not word.text.endswith(UNKNOWN)
        )

    return project.config_files.once(("open words", script.text.path), compute)


def _naming_folder(folder: Path, project: Recording) -> Iterator[ParsedConfig]:
    """The first scripts that name a file in a folder, and leave a part of its name to run time."""
    files = project.config_files

    def compute() -> tuple[Path, ...]:
        named = re.compile(rf"(?<![\w.-]){re.escape(folder.name)}/[\w./-]*\$")
        scripts = (one for one in files.project.files if one.suffix in _SCRIPTS)
        naming = (one for one in scripts if files.record("names", one, f"{folder.name}/"))
        found = (one for one in naming if named.search(files.text(one)))
        return tuple(islice(found, _MOST_SCRIPTS))

    if folder != project.root:
        for path in files.once(("leave names open", folder.name), compute):
            if (script := files.at(path)) is not None:
                yield script


def _left_out(word: str, path: Path) -> tuple[str, ...]:
    """What a word leaves out that may be the path of a file; nothing if it is another path."""
    text = word.rpartition("=")[2].removeprefix("./")
    name = text.rpartition("/")[2]
    if UNKNOWN not in name or not text.endswith(path.suffix):
        return ()
    if _letters(name, path) < _LEAST_OF_NAME or _letters(word, path) < _LEAST_LETTERS:
        return ()
    pattern = r"([^/]+)".join(map(re.escape, text.split(UNKNOWN)))
    found = re.search(rf"(?:^|/){pattern}$", path.as_posix())
    return found.groups() if found is not None else ()


def _letters(word: str, path: Path) -> int:
    """How much a word says of the name of a file and of its folder."""
    text = word.rpartition("=")[2].removesuffix(path.suffix)
    return len("".join(text.split("/")[-2:]).strip(".").replace(UNKNOWN, ""))


def _says(rest: tuple[str, ...], script: ParsedConfig) -> int:
    """2 for a script whose commands mention what a word leaves out, 1 for one whose comments do."""
    text = script.text.text
    without = _COMMENT.sub("", text)
    words = [re.compile(rf"(?<![\w.-]){re.escape(each)}(?![\w-])") for each in rest]
    return sum(all(word.search(part) for word in words) for part in (text, without))
