"""The files of a project: which there are, what they are for, and the versions that they pin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from precision_lint.model.finding import Confidence
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.project import disk
from precision_lint.project.copies import is_copy
from precision_lint.project.discovery import DEFAULT_EXCLUDE, kind_of, pages, project_files
from precision_lint.project.pins import DECLARATIONS, lowest_version, own_version, pinned_version

if TYPE_CHECKING:
    from precision_lint.project.import_style import ImportStyle

_TESTS = regex(r"(?:^|[/_.-])(?:tests?|testing|\.github|ci)(?:[/_.-]|$)")
_SECONDARY = regex(
    r"(?:^|[/_.-])benchmarks?(?:[/_.-]|$)"
    r"|(?:^|/)(?:_?vendor|_?vendored|third[_-]?party|submodules|externals?)/"
    r"|(?:^|/)_?(?:archive[ds]?|deprecated|obsolete|attic)/"
)
_LIBRARIES = (
    "accelerate|apex|deepspeed|detectron2|diffusers|fairseq|megatron|mmcv|peft|timm|transformers"
)
_COPIES = regex(
    rf"(?:^|/)({_LIBRARIES})/(?:src/\1|\1|examples|tests|templates)/|[^/]/src/(?:{_LIBRARIES})/"
)
"""A checkout of a library inside of another project: `student/transformers/src/transformers/`."""

_PACKAGE = regex(rf"(?:^|/)({_LIBRARIES})/")
"""A package of such a library, or a folder of that name."""

_EXAMPLES = regex(r"(?:^|[/_.-])(?:examples?|docs?|benchmarks?)(?:[/_.-]|$)")


@frozen(slots=False)
class Project:
    """A project root and what is below it; what the files say is asked of `ProjectFacts`."""

    root: Path
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    target: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Versions of libraries by name, from the settings."""
    target_gpu: str = field(default="", compare=False)
    """The GPU that the settings name."""
    helper_module: str = field(default="", compare=False)
    """The module that fixes import helpers from, if the settings name one."""
    least: Confidence = field(default=Confidence.LOW, compare=False)
    """How sure the linter is at least of what is shown; other findings need no fix."""
    reported: frozenset[Path] | None = field(default=None, compare=False, repr=False)
    """The files for which findings are reported; None for all files."""
    _versions: dict[str, str] = field(default_factory=dict, init=False, compare=False, repr=False)
    _styles: dict[Path, ImportStyle] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    _oldest_pins: dict[str, str] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    _lowest_versions: dict[tuple[Path, str], str | None] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    _copies: dict[Path, bool] = field(default_factory=dict, init=False, compare=False, repr=False)
    """Whether packages with the name of a library are copies of it."""

    def reports(self, path: Path) -> bool:
        """True if findings in a file are reported; a conflict of two files needs only one."""
        return self.reported is None or path in self.reported

    def version_of(self, library: str) -> tuple[int, int] | None:
        """Major and minor version of a library: from the settings, or else the project's pins.

        None if neither gives one: rules then assume the newest version that they know.
        """
        match = re.match(r"(\d+)\.(\d+)", self._version(library))
        return (int(match[1]), int(match[2])) if match else None

    def release_of(self, library: str) -> tuple[int, ...] | None:
        """The version of a library with all its numbers; None where nothing says one."""
        match = re.match(r"\d+(?:\.\d+)*", self._version(library))
        return tuple(map(int, match[0].split("."))) if match else None

    def _version(self, library: str) -> str:
        """The version as the settings or the pins write it; empty if neither does."""
        if library not in self._versions:
            version = self.target.get(library) or pinned_version(self.root, library)
            self._versions[library] = version or self._version_of_copy(library)
        return self._versions[library]

    def _version_of_copy(self, library: str) -> str:
        """The version of a library whose package is a part of the project; empty if it is not."""
        package = f"/{library}/__init__.py"
        copies = (path for path in self.python_files if path.as_posix().endswith(package))
        versions = filter(None, map(own_version, copies))
        return min(versions, default="", key=_numbers)

    def lowest_version_of(self, library: str, near: Path | None = None) -> tuple[int, int] | None:
        """The oldest version of a library that the code must support, as in `version_of`.

        A lower bound (`torch>=2.1`) takes precedence over the version in a lock file, and what the
        folder of a file declares over the folders around it: a repository can hold many projects.
        In a collection of projects that says nothing of this one, the oldest pin of the others
        counts: it shows when the collection was made.
        """
        declared = None
        for folder in () if library in self.target else self._folders_around(near):
            declared = declared or self._declared(folder, library)
        match = re.match(r"(\d+)\.(\d+)", declared or "")
        if match is None and self._is_in_collection(near) and not self._version(library):
            match = re.match(r"(\d+)\.(\d+)", self._oldest_pin(library))
        return (int(match[1]), int(match[2])) if match else self.version_of(library)

    def _declared(self, folder: Path, library: str) -> str | None:
        """The lowest version that a folder declares."""
        if (folder, library) not in self._lowest_versions:
            self._lowest_versions[folder, library] = lowest_version(folder, library)
        return self._lowest_versions[folder, library]

    def _is_in_collection(self, path: Path | None) -> bool:
        """True in a folder of a repository whose root declares no dependencies at all."""
        return len(self._folders_around(path)) > 1 and not any(
            disk.matching(self.root, pattern) for pattern in DECLARATIONS
        )

    def _oldest_pin(self, library: str) -> str:
        """The oldest version that a folder with code pins a library to; empty if none does."""
        if library not in self._oldest_pins:
            folders = sorted(
                {folder for path in self.files for folder in self._folders_around(path)}
            )
            pins = (pinned_version(folder, library) for folder in folders)
            self._oldest_pins[library] = min(filter(None, pins), default="", key=_numbers)
        return self._oldest_pins[library]

    def _folders_around(self, path: Path | None) -> list[Path]:
        """The folders of a file up to the root, the innermost first."""
        if path is None or not path.is_relative_to(self.root):
            return [self.root]
        folders = [*path.parents]
        return folders[: folders.index(self.root) + 1]

    def import_style(self, path: Path) -> ImportStyle:
        """How the imports of a file are sorted."""
        from precision_lint.project.import_style import import_style

        if path.parent not in self._styles:
            self._styles[path.parent] = import_style(path, self.root)
        return self._styles[path.parent]

    def has(self, found: Sequence[Path]) -> None:
        """These are its files: somebody has looked."""
        vars(self)["files"] = found

    def reporting(self, paths: Iterable[Path]) -> Project:
        """The same project, in which findings are reported for these files alone."""
        project = replace(self, reported=frozenset(paths))
        if "files" in vars(self):
            project.has(self.files)
        if "pages" in vars(self):
            vars(project)["pages"] = self.pages
        return project

    @cached_property
    def files(self) -> Sequence[Path]:
        """Every file of the project that is read, in path order."""
        return project_files(self.root, self.exclude)

    @cached_property
    def python_files(self) -> Sequence[Path]:
        """Every Python file of the project, in path order."""
        return [path for path in self.files if path.suffix == ".py"]

    @cached_property
    def pages(self) -> Sequence[Path]:
        """Every page of the project that may show how it is used, in path order."""
        return pages(self.root, self.exclude)

    @property
    def evidence_files(self) -> Iterator[Path]:
        """The files that can be evidence for other files: all but notebooks."""
        return (path for path in self.files if kind_of(path) != "notebook")

    def rank(self, path: Path) -> tuple[bool, bool, bool, str]:
        """The order in which files are shown as evidence: configuration before code, tests last."""
        name = self._relative(path)
        is_example = _EXAMPLES.search(name) is not None
        return self.is_test(path), is_example, kind_of(path) == "python", name

    def is_test(self, path: Path) -> bool:
        """True for files that test the project and are not part of it."""
        return _TESTS.search(self._relative(path)) is not None

    def is_secondary(self, path: Path) -> bool:
        """True for tests, benchmarks, vendored code and what is only kept, which are not used for
        training as is.
        """
        name = self._relative(path)
        is_named_so = any(each.search(name) for each in (_SECONDARY, _COPIES))
        return self.is_test(path) or is_named_so or self._is_in_copy(name)

    def _is_in_copy(self, name: str) -> bool:
        """True in a library's package that was copied into a project: `model/transformers/`."""
        found = _PACKAGE.search(name)
        if found is None:
            return False
        package = self.root / name[: found.end(1)]
        if package not in self._copies:
            others = (each for each in self.python_files if package not in each.parents)
            self._copies[package] = is_copy(package, self.root) and any(others)
        return self._copies[package]

    def _relative(self, path: Path) -> str:
        name, root = path.as_posix(), self.root.as_posix().rstrip("/") + "/"
        return name.removeprefix(root)


def _numbers(version: str) -> list[int]:
    return [*map(int, version.split("."))]
