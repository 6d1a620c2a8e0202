"""Configurations that no file of a project names: only a run that is started by hand gets them.

A name may be put together, `f"zero{stage}.json"`, a folder may be named and a file in it chosen
later, and what lists a folder opens all that is in it. Each of these counts as naming a file.
What pages and comments say of a file gives it to nothing, but for commands in them, and neither
does what only writes it. A file that says so itself is the output of a script: who takes files from
its folder need not mean that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.written.typed_commands import typed_commands
from precision_lint.model.regex import regex
from precision_lint.project import disk
from precision_lint.project.discovery import kind_of, unparsed
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.text.comments import without_comments
from precision_lint.source.text.text import SourceText

Naming: TypeAlias = Literal["nothing", "texts", "writers", "files"]
"""What names a configuration: no file, pages and comments alone, what writes it as well, or code,
scripts and others.
"""
_MOST_FILES = 3_000
_LONGEST_NAME = 120
_NEAR = 200
"""Characters around a bare suffix that may say which files it is for."""
_PAGES = frozenset({".md", ".mdx", ".markdown", ".rst", ".txt"})
_GIVEN = r"(?:(?<![\w/-])--?\w[\w-]*|\.(?:py|sh)\b[^\n]*|=)[ \t=]*[\"'`]?[\w./-]*"
"""What stands before the name of a file that an option, a program or a variable gets."""
_BUILDING = frozenset({"setup.py", "setup.cfg", "pyproject.toml"})
_LEFT_OUT = regex(r"\bexclude[ \t]*=[ \t]*\[[^\]]*\]")
"""The folders that a package is made without."""
_HEAD = regex(r"\A(?:[ \t]*(?:#[^\n]*)?\n)+")
_GENERATED = regex(r"\bgenerated?\b[^\n]*?([\w-]+\.(?:py|sh))\b", re.IGNORECASE)
"""What the head of a file says of the script that makes it."""
_WRITTEN = (
    r"(?:>>?|\btee(?:[ \t]+-a)?)[ \t]*[\"']?[^\s\"'|;&<>]*{}",
    r"\bopen\([^()\n]*{}[\"'],[ \t]*(?:mode=)?[\"'][wax]",
    r"\b(?:save|dump|write\w*)\([^()\n]*{}",
)
"""How scripts and code write a file of a name."""
_LETTER = regex(r"[^\W_]")
_HEADING = regex(r"^[ \t]*#[^\n]*", re.MULTILINE)
"""Of a page; in its code such a line is a comment."""
_HOLE = regex(
    r"\{[^{}]*\}|\$\{[^{}]*\}|\$\w+|\$\([^()]*\)|%\(?\w*\)?[sdr]|\*+|\?|<[^<>]*>|\[[^\[\]]*\]"
)
_COMMAND = regex(
    r"(?:^|[;&|(]|\b(?:nohup|exec|time|then|do|srun)\b)[ \t]*(?:\w+=\S*[ \t]+)*(?=\w)",
    re.MULTILINE,
)
"""What is before the name of a command in a script: `deepspeed train.py` names no folder."""
_OF_CONFIGURATIONS = regex(
    r"deepspeed|accelerate|zero|conf|cfg|(?<![a-z])ds(?![a-z])", re.IGNORECASE
)
"""Words for files of settings."""


def naming_of(
    file: ParsedConfig, project: Recording, besides: frozenset[Path] = frozenset()
) -> Naming:
    """What may name a configuration in the project, `besides` some files of it."""
    if file.python is not None or file.around is not None or file.masked is not None:
        return "files"
    path = file.text.path
    key = ("naming of", path, besides)
    return project.config_files.once(key, lambda: _naming_of(path, besides, project))


def _naming_of(path: Path, besides: frozenset[Path], project: Recording) -> Naming:
    others = [each for each in _files(project) if each != path]
    is_program = any(kind_of(each) == "python" for each in others)
    if not is_program or len(others) > _MOST_FILES:
        return "files"
    found: Naming = "nothing"
    writer = _writer_of(path, others, project)
    for other in (each for each in others if each not in (*besides, writer)):
        text = _text(other, project)
        names = _may_name if writer is None else _has_stem
        if not names(text, other, path, project):
            continue
        if _only_describes(text, other, path, project):
            found = "texts" if found == "nothing" else found
        elif names(_without_writing(text, path.name), other, path, project):
            return "files"
        else:
            found = "writers"
    return "writers" if writer is not None else found


def _writer_of(path: Path, others: Sequence[Path], project: Recording) -> Path | None:
    """The script of the project that makes a file, as the head of the file says."""
    head = _HEAD.match(project.config_files.text(path))
    name = _GENERATED.search(head[0]) if head is not None else None
    return next((each for each in others if name is not None and each.name == name[1]), None)


def _without_writing(text: str, name: str) -> str:
    for pattern in _WRITTEN:
        text = re.sub(pattern.format(re.escape(name)), "", text)
    return text


def _only_describes(text: str, other: Path, path: Path, project: Recording) -> bool:
    """True for a page that says something of a file, and for code with its name in comments alone:
    no command in them gets it.
    """
    if next(typed_commands(text, path.name, other, project), None) is not None:
        return False
    if other.suffix in _PAGES:
        return path.name in text and not given_in(text, path.name)
    kind = kind_of(other)
    if kind not in ("python", "shell", "yaml", "makefile"):
        return False
    return not _may_name(without_comments(SourceText(other, text), kind), other, path, project)


def given_in(page: str, name: str) -> Sequence[str]:
    """Where a page gives the name of a file to an option, a program or a variable."""
    return re.findall(_GIVEN + re.escape(name), _HEADING.sub("", page))


def _files(project: Recording) -> tuple[Path, ...]:
    """All files of a project that hold text for people or programs."""
    known = project.config_files.project

    def compute() -> tuple[Path, ...]:
        further = unparsed([known.root], known.root, known.exclude)
        return tuple(dict.fromkeys((*known.files, *known.pages, *further)))

    return project.config_files.once(("all texts",), compute)


def _text(path: Path, project: Recording) -> str:
    """The text of a file; that of a large notebook, but not that of large data."""
    text = project.config_files.text(path)
    if path.name == "pyproject.toml":
        return _LEFT_OUT.sub("", text)
    if text or kind_of(path) in ("json", "yaml"):
        return text
    try:
        return disk.read(path).decode("utf-8", "replace")
    except OSError:
        return ""


def _may_name(text: str, other: Path, path: Path, project: Recording) -> bool:
    """True if the text of a file may name another file, or the folder to choose it from."""
    if path.stem in text and _has_stem(text, other, path, project):
        return True
    if path.suffix in text and any(_may_become(*each, path) for each in _made(text, path.suffix)):
        return True
    folder = path.parent.name if path.parent != project.root else ""
    if not folder or folder not in text or not _has_folder(text, other, folder):
        return False
    if other.name in _BUILDING and path.parent.parent != other.parent:
        return False  # it names packages, by their paths from its own folder
    # A package of the same name at the root is meant, unless the folder above is said as well.
    is_other = path.parent.parent != project.root and disk.is_folder(project.root / folder)
    return not is_other or path.parent.parent.name in text


def _has_stem(text: str, other: Path, path: Path, project: Recording) -> bool:
    """True for a name with its suffix, and for one without that is a word of its own: Hydra and
    others add the suffix.
    """
    if any(not _is_another(each, other, path, project) for each in _named_in(path.name, text)):
        return True
    before = r"[\"'/]" if kind_of(other) in ("python", "json", "notebook") else r"(?:^|[\"'/=\s:`])"
    after = r"(?:$|[\"'\s,;)`\\])"
    return re.search(rf"{before}{re.escape(path.stem)}{after}", text, re.MULTILINE) is not None


def _named_in(name: str, text: str) -> Iterator[str]:
    """The words of a text that end in the name of a file; the name alone, where what is before it
    is put together.
    """
    for match in re.finditer(re.escape(name), text):
        before = text[max(0, match.start() - _LONGEST_NAME) : match.start()]
        rest = before.rstrip(_OF_PATHS)
        yield name if rest.endswith(("}", ")", "~")) else before[len(rest) :] + name


def _is_another(word: str, other: Path, path: Path, project: Recording) -> bool:
    """True for the path of another file with the same name: `scripts/zero2.json` beside
    `scripts/small/zero2.json`.
    """
    found = project.config_files.find(word, other) if "/" in word else None
    return found not in (None, path)


def _made(text: str, suffix: str) -> Iterator[tuple[str, str]]:
    """The names with a suffix of which a part is put in later, each with the text around it."""
    for match in re.finditer(rf"{re.escape(suffix)}\b", text):
        start, end = match.span()
        before = text[max(0, start - _LONGEST_NAME) : start]
        length = len(before) - len(before.rstrip(_OF_NAMES))
        name = before[len(before) - length :]
        if not name.rpartition("/")[2] or _HOLE.search(name) or "}" in name or "]" in name:
            yield name, text[max(0, start - _NEAR) : end + _NEAR]


_OF_PATHS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-"
_OF_NAMES = f"{_OF_PATHS}{{}}$*?%[]:<>"


def _may_become(name: str, around: str, path: Path) -> bool:
    """True if a name may come out as that of a file."""
    filled = re.sub(r"^.*[}\]]", "\0", _HOLE.sub("\0", name))
    folders, _, last = filled.rpartition("/")
    pattern = ".*".join(map(re.escape, last.split("\0"))) if last else ".*"
    if re.fullmatch(pattern, path.stem) is None:
        return False
    if _LETTER.search(last):  # `{model}_{run}.json` has none of its own
        return True
    folder = folders.rpartition("/")[2]
    if folder.strip("\0."):
        return folder == path.parent.name
    return _OF_CONFIGURATIONS.search(around) is not None or path.parent.name in around


def _has_folder(text: str, other: Path, folder: str) -> bool:
    """True where a folder is named, and what is taken from it is not."""
    own = rf"(?<![\w.-]){re.escape(folder)}"
    if other.suffix in _PAGES:
        pattern = rf"{own}/[$*{{<%]"
    elif kind_of(other) in ("python", "json", "notebook"):
        # The last word of a sentence is no path, and neither is that of a docstring.
        before = r"(?:[\"'/}]|--?[\w-]+[ =])"
        quote = r"[\"'](?![\"']{2})"
        pattern = rf"{before}{re.escape(folder)}{quote}|{own}/(?:{quote}|[$*{{%])"
    else:
        pattern = rf"(?<!\0){own}/?(?:[\"'\s;)$*{{%]|$)"
        if kind_of(other) in ("shell", "makefile"):
            text = _COMMAND.sub(r"\g<0>\0", text)
    return re.search(pattern, text, re.MULTILINE) is not None
