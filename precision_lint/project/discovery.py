"""Which files to read: the requested paths, without excluded and ignored files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import translate
from itertools import islice
from pathlib import Path, PurePath
from typing import Literal

from precision_lint.model.regex import regex
from precision_lint.project import disk
from precision_lint.project.gitignore import Ignores
from precision_lint.project.roots import MOST_ENTRIES, is_marked
from precision_lint.project.tracked import tracked

Kind = Literal[
    "python", "yaml", "json", "toml", "shell", "dockerfile", "makefile", "markdown", "notebook"
]

DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox",
    ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode", "__pycache__",
    "__pypackages__", "_build", "build", "dist", "node_modules", "site-packages",
    "unsloth_compiled_cache", "venv",
)  # fmt: skip
"""Folders of tools: caches, what they install, and code that they write, as Unsloth does."""

_KINDS: dict[str, Kind] = {
    ".py": "python", ".pyi": "python",
    ".yaml": "yaml", ".yml": "yaml",
    ".json": "json", ".jsonc": "json",
    ".toml": "toml",
    ".sh": "shell", ".bash": "shell", ".env": "shell", ".slurm": "shell", ".sbatch": "shell",
    ".pbs": "shell", ".lsf": "shell", ".qsub": "shell", ".ksh": "shell", ".zsh": "shell",
    ".dockerfile": "dockerfile", ".mk": "makefile",
    ".md": "markdown", ".markdown": "markdown",
    ".ipynb": "notebook",
}  # fmt: skip
_PAGES = frozenset({".md", ".mdx", ".markdown", ".rst"})
"""Names of pages, which are no code, and may show some."""
_UNPARSED = frozenset({
    ".gin", ".ini", ".cfg", ".conf", ".properties", ".json5", ".hjson", ".jsonnet", ".libsonnet",
    ".example", ".template", ".tmpl", ".j2", ".jinja", ".jinja2",
})  # fmt: skip
"""Names of configurations in formats that are not read, and of templates for some."""
_UNPARSED_COMMANDS = frozenset({
    ".bat", ".cmd", ".ps1", ".csh", ".tcsh", ".fish", ".job", ".sub", ".rst", ".mdx", ".txt",
})  # fmt: skip
"""Names of scripts of other shells and of other pages, which hold commands."""
_JUSTFILES = frozenset({"Justfile", "justfile"})
_EDITOR = (".vscode/launch.json", ".vscode/tasks.json")
"""What an editor starts, in a folder that is else of no interest."""
_CHECKPOINTS = ".ipynb_checkpoints"
"""Where Jupyter keeps copies of what it opened."""
_CONFIGURATIONS = frozenset({"yaml", "json", "toml", "shell"})
_SHEBANG = regex(rb"#![^\n]*sh\b")
_DOCKERFILE = regex(r"(?:Docker|Container)file(?:[._-]|$)")


def kind_of(path: PurePath, *, markdown: bool = True) -> Kind | None:
    """The kind of file for a file name; None for files that are not read."""
    if (kind := _KINDS.get(path.suffix.lower())) is not None:
        return kind if markdown or kind != "markdown" else None
    name = path.name
    if _DOCKERFILE.match(name):
        return "dockerfile"
    if name in ("Makefile", "makefile", "GNUmakefile"):
        return "makefile"
    # `.env`, `.env.local`, `config.env.example`
    return "shell" if name.startswith(".env") or ".env." in name else None


class Excludes:
    """Exclude patterns, matched against paths relative to the project root only.

    A pattern without a slash matches any component (`build`, `*.gen.py`); one with a slash matches
    a path from the root, or a folder above it; after `**/` it matches at any depth.
    """

    def __init__(self, root: Path, patterns: Iterable[str]) -> None:
        self.root = root
        names = []
        self._paths = []
        for pattern in patterns:
            trimmed = pattern.rstrip("/").removeprefix("./").removeprefix("**/")
            if "/" in trimmed:
                self._paths.append(trimmed.removeprefix("/"))
                if pattern.startswith("**/"):
                    self._paths.append(f"*/{trimmed}")
            else:
                names.append(trimmed)
        self._name = re.compile("|".join(map(translate, names)) or r"(?!)")
        self._path = re.compile("|".join(map(translate, self._paths)) or r"(?!)")

    def match_entry(self, path: Path) -> bool:
        """True if this very file or folder is excluded, whatever is above it."""
        if self._name.match(path.name):
            return True
        return bool(self._paths) and self._path.match(self._relative(path)) is not None

    def match(self, path: Path) -> bool:
        """True if the path or a folder above it, below the root, is excluded."""
        parts = PurePath(self._relative(path)).parts
        return any(
            self.match_entry(self.root.joinpath(*parts[: depth + 1])) for depth in range(len(parts))
        )

    def _relative(self, path: Path) -> str:
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return path.name


class _ExcludesProjects(Excludes):
    """Excludes git repositories, too: below a folder that is no project itself they are others."""

    def match_entry(self, path: Path) -> bool:
        return super().match_entry(path) or os.path.exists(path / ".git")


Ignoring = tuple[tuple[Path, Ignores], ...]
"""The folders above an entry that have ignore patterns, from the top."""


def _ignored(path: Path, is_folder: bool, ignoring: Ignoring) -> bool:
    """True if git ignores `path`: the deepest folder with a matching pattern decides."""
    for folder, ignores in reversed(ignoring):
        decision = ignores.decide(path.relative_to(folder).as_posix(), is_folder)
        if decision is not None:
            return decision
    return False


def is_ignored(path: Path, root: Path) -> bool:
    """True if git would ignore what a project has at a path, a file or a folder, or what is around.

    Nothing need be there.
    """
    around = [each for each in (path, *path.parents) if each != root and each.is_relative_to(root)]
    return _ignored(path, False, _ignoring(reversed(path.parents[: len(around)]))) or any(
        _ignored(each, True, _ignoring(reversed(path.parents[number : len(around)])))
        for number, each in enumerate(around)
    )


def _ignoring(folders: Iterable[Path]) -> Ignoring:
    said = ((folder, Ignores.of(folder)) for folder in folders)
    return tuple((folder, ignores) for folder, ignores in said if ignores is not None)


def _walk(
    top: Path,
    excludes: Excludes,
    ignoring: Ignoring,
    note: Callable[[str], None],
    is_read: Callable[[Path], bool],
) -> Iterator[tuple[Path, str]]:
    """The files below a folder, each with its real path."""
    pending = [(top, os.path.realpath(top), ignoring)]
    while pending:
        folder, real, ignoring = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError as error:
            note(f"{folder}: {error.strerror or error}")
            continue
        for entry in entries:
            path = folder / entry.name
            # Links to folders are not followed: their files are linted at their real path,
            # and loops are impossible.
            is_folder = entry.is_dir(follow_symlinks=False)
            is_file = entry.is_file(follow_symlinks=False)
            if not is_folder and not (is_read(path) and (is_file or disk.is_file(path))):
                continue
            if excludes.match_entry(path) or _ignored(path, is_folder, ignoring):
                continue
            below = os.path.join(real, entry.name)
            if is_folder:
                pending.append((path, below, (*ignoring, *_ignoring([path]))))
            else:
                yield path, below if is_file else os.path.realpath(path)


def files(
    paths: Sequence[Path],
    root: Path,
    exclude: Iterable[str] = DEFAULT_EXCLUDE,
    *,
    force_exclude: bool = False,
    markdown: bool = False,
    note: Callable[[str], None] = lambda message: None,
) -> list[Path]:
    """The files below `paths` that are read, each once, in path order.

    A file that is named explicitly is read even if excluded, unless `force_exclude`. Markdown is
    read only on request. `note` is called for folders that cannot be listed.
    """

    def is_read(path: Path) -> bool:
        return kind_of(path, markdown=markdown) is not None

    excludes = Excludes(root, exclude)
    found: list[tuple[Path, str]] = []
    for path in paths:
        if os.path.isdir(path):
            if force_exclude and excludes.match(path):
                continue
            between = [path, *path.parents]
            above = between[: between.index(root) + 1] if root in between else [path]
            found += _walk(path, excludes, _ignoring(reversed(above)), note, is_read)
        elif is_read(path) and not (force_exclude and excludes.match(path)):
            found.append((path, os.path.realpath(path)))
    return _once(found)


def _once(found: Iterable[tuple[Path, str]]) -> list[Path]:
    """Each file once, in path order: a link and its target are one, shown by the real path."""
    by_real: dict[str, Path] = {}
    for path, real in found:
        other = by_real.setdefault(real, path)
        if other is not path:
            by_real[real] = min(path, other, key=_by_plainness(real))
    return sorted(by_real.values(), key=str)


def project_files(root: Path, exclude: Iterable[str]) -> list[Path]:
    """The files of the project at `root` that are read, in path order.

    What git tracks belongs to it although a pattern ignores it: others get it, too. Where nothing
    marks the root, as in a folder of downloads, these are the files below it that are in no git
    repository, and only those directly in it if there are more than `MOST_ENTRIES`: a working
    folder that is the project of its files is one for all of them.
    """
    if is_marked(root):
        return with_tracked(files([root], root, exclude), root, exclude)
    walked = _walk(
        root,
        _ExcludesProjects(root, exclude),
        _ignoring([root]),
        lambda message: None,
        lambda path: kind_of(path, markdown=False) is not None,
    )
    found = list(islice(walked, MOST_ENTRIES + 1))
    if len(found) <= MOST_ENTRIES:
        return _once(found)
    beside = [path for path in root.iterdir() if path.is_file()]
    return files(beside, root, exclude, force_exclude=True)


def with_tracked(found: Sequence[Path], root: Path, exclude: Iterable[str]) -> list[Path]:
    """The files of a project with those that git tracks although a pattern ignores them."""
    excludes, known = Excludes(root, exclude), {str(path) for path in found}
    others = (Path(path) for name in tracked(root) if (path := f"{root}/{name}") not in known)
    ignored = [
        path
        for path in others
        if kind_of(path, markdown=False) is not None
        and not excludes.match(path)
        and disk.is_file(path)
    ]
    return sorted([*found, *ignored], key=str) if ignored else [*found]


def unparsed(folders: Sequence[Path], root: Path, exclude: Iterable[str]) -> list[Path]:
    """The configurations below some folders in formats that are not read, copies of configurations,
    and what else holds commands, in path order.
    """
    excludes = Excludes(root, (pattern for pattern in exclude if pattern != _CHECKPOINTS))
    walked = (
        path
        for folder in folders
        for path, _ in _walk(
            folder, excludes, _ignoring([root]), lambda message: None, _is_unparsed
        )
    )
    of_editors = (folder / name for folder in folders for name in _EDITOR)
    return sorted({*walked, *filter(disk.is_file, of_editors)}, key=str)


def is_copy(path: Path) -> bool:
    """True for a copy of a configuration that Jupyter keeps."""
    return path.parent.name == _CHECKPOINTS and kind_of(path) in _CONFIGURATIONS


def _is_unparsed(path: Path) -> bool:
    if kind_of(path) is not None or _CHECKPOINTS in path.parts:
        return is_copy(path)
    return is_of_unread_format(path) or holds_commands(path)


def is_of_unread_format(path: Path) -> bool:
    """True for a configuration in a format that is not read, such as INI, and for a template."""
    return kind_of(path) is None and path.suffix.lower() in _UNPARSED


def holds_commands(path: Path) -> bool:
    """True for a file of commands that is not read as a script: of another shell, a page, a script
    without an extension, what an editor starts.
    """
    if path.suffix.lower() in _UNPARSED_COMMANDS or path.name in _JUSTFILES:
        return True
    if path.as_posix().endswith(_EDITOR) or ".sh." in path.name:
        return True
    return not path.suffix and _starts_a_shell(path)


def _starts_a_shell(path: Path) -> bool:
    """True for a script that says so in its first line: its name need not."""
    if not disk.is_file(path):
        return False
    try:
        with path.open("rb") as file:
            return _SHEBANG.match(file.read(80)) is not None
    except OSError:
        return False


def pages(root: Path, exclude: Iterable[str]) -> list[Path]:
    """The pages of a project that are neither excluded nor ignored, in path order."""
    walked = _walk(
        root,
        Excludes(root, exclude),
        _ignoring([root]),
        lambda message: None,
        lambda path: path.suffix in _PAGES,
    )
    return sorted((path for path, _ in walked), key=str)


def _by_plainness(real: str) -> Callable[[Path], tuple[bool, str]]:
    """A sort key that puts the real path first, for any order of the paths."""
    return lambda path: (str(path) != real, str(path))
