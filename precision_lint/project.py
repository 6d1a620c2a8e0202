"""Facts about the whole project, independent of the files that are linted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from precision_lint.discovery import DEFAULT_EXCLUDE, files, kind_of
from precision_lint.finding import Related
from precision_lint.pins import lowest_version, pinned_version

if TYPE_CHECKING:
    from precision_lint.config_files import ConfigFiles
    from precision_lint.configured import Configured
    from precision_lint.evidence import Half
    from precision_lint.source_tree import SourceTree

_TESTS = re.compile(r"(?:^|[/_.-])(?:tests?|testing|\.github|ci)(?:[/_.-]|$)")
_SECONDARY = re.compile(
    r"(?:^|[/_.-])benchmarks?(?:[/_.-]|$)"
    r"|(?:^|/)(?:_?vendor|_?vendored|third[_-]?party|submodules|externals?)/"
)
_EXAMPLES = re.compile(r"(?:^|[/_.-])(?:examples?|docs?|benchmarks?)(?:[/_.-]|$)")


@dataclass(frozen=True)
class Project:
    """A project root, and facts that are computed from all of its files on first use."""

    root: Path
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    target: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Versions of libraries by name, from the settings."""
    reported: frozenset[Path] | None = field(default=None, compare=False, repr=False)
    """The files for which findings are reported; None for all files."""
    asked: set[str] = field(default_factory=set, compare=False, repr=False)
    """The facts that were used since this set was last cleared; the cache records them."""

    @property
    def half_precision(self) -> Related | None:
        """The clearest place where the project chooses bfloat16, or else float16 or autocast.

        float16 counts because another checkpoint or flag can turn it into bfloat16.
        """
        self.asked.add("half_precision")
        return self._half_precision

    @property
    def bfloat16(self) -> Related | None:
        """The clearest place where the project enables bfloat16, outside its tests.

        A comparison, an assertion or a list of accepted dtypes enables nothing.
        """
        self.asked.add("bfloat16")
        return self._bfloat16

    @property
    def bfloat16_weights(self) -> Related | None:
        """The clearest setting that makes bfloat16 the dtype of weights; None if there is none."""
        self.asked.add("bfloat16_weights")
        return self._bfloat16_weights

    @cached_property
    def configured(self) -> Configured:
        """The values of settings in the configuration; each lookup is recorded in `asked`."""
        from precision_lint.configured import Configured

        paths = [path for path in self._witnesses if not self.is_test(path)]
        return Configured(self.root, paths, self.asked)

    def reports(self, path: Path) -> bool:
        """True if findings in a file are reported; a conflict of two files needs only one."""
        return self.reported is None or path in self.reported

    @property
    def config_files(self) -> ConfigFiles:
        """The configuration files of the project and the references between them."""
        self.asked.add("sources")
        return self._config_files

    @cached_property
    def _config_files(self) -> ConfigFiles:
        from precision_lint.config_files import ConfigFiles

        return ConfigFiles(self)

    @property
    def sources(self) -> SourceTree:
        """The Python files of the project."""
        self.asked.add("sources")
        return self._sources

    @cached_property
    def _sources(self) -> SourceTree:
        from precision_lint.source_tree import SourceTree

        return SourceTree(self)

    @cached_property
    def _bfloat16(self) -> Related | None:
        from precision_lint.evidence import BFLOAT16, find

        message = "the project enables bfloat16 here"
        return find(self._mentioning(BFLOAT16)[0], BFLOAT16, message, only_enabling=True)

    @cached_property
    def _half_precision(self) -> Related | None:
        from precision_lint.evidence import BFLOAT16, FLOAT16

        return self._evidence(BFLOAT16, "the project uses bfloat16 here") or self._evidence(
            FLOAT16, "the project uses half precision here"
        )

    @cached_property
    def _bfloat16_weights(self) -> Related | None:
        from precision_lint.evidence import BFLOAT16

        message = "the configuration offers bfloat16 here"
        return self._evidence(BFLOAT16, message, only_weights=True)

    def version_of(self, library: str) -> tuple[int, int] | None:
        """Major and minor version of a library: from the settings, or else the project's pins.

        None if neither gives one: rules then assume the newest version that they know.
        """
        self.asked.add(library)
        version = self.target.get(library) or pinned_version(self.root, library) or ""
        match = re.match(r"(\d+)\.(\d+)", version)
        return (int(match[1]), int(match[2])) if match else None

    def release_of(self, library: str) -> tuple[int, ...] | None:
        """The full version of a library; None if it is unknown."""
        self.asked.add(library)
        version = self.target.get(library) or pinned_version(self.root, library) or ""
        match = re.match(r"\d+(?:\.\d+)*", version)
        return tuple(map(int, match[0].split("."))) if match else None

    def lowest_version_of(self, library: str) -> tuple[int, int] | None:
        """The oldest version of a library that the code must support, as in `version_of`.

        A lower bound (`torch>=2.1`) takes precedence over the version in a lock file.
        """
        self.asked.add(library)
        declared = None if library in self.target else lowest_version(self.root, library)
        match = re.match(r"(\d+)\.(\d+)", declared or "")
        return (int(match[1]), int(match[2])) if match else self.version_of(library)

    def holds(self, pattern: bytes) -> bool:
        """True if a regular expression matches in any Python file of the project."""
        self.asked.add("sources")
        if pattern not in self._held:
            expression = re.compile(pattern)
            self._held[pattern] = any(map(expression.search, self._python_contents()))
        return self._held[pattern]

    @cached_property
    def _held(self) -> dict[bytes, bool]:
        return {}

    def _python_contents(self) -> Iterator[bytes]:
        for path in self.python_files:
            try:
                yield path.read_bytes()
            except OSError:
                continue

    @cached_property
    def state(self) -> str:
        """A value that changes when a file changes: the names, sizes and times of all files."""
        import hashlib

        digest = hashlib.blake2b(digest_size=16)
        for path in self._files:
            try:
                status = path.stat()
            except OSError:
                continue
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
        return digest.hexdigest()

    @cached_property
    def python_files(self) -> list[Path]:
        """Every Python file of the project, in path order."""
        return [path for path in self._files if path.suffix == ".py"]

    @property
    def files(self) -> Sequence[Path]:
        """Every file of the project that is read, in path order."""
        return self._files

    @cached_property
    def _files(self) -> list[Path]:
        """Every file of the project that is read, in path order."""
        return files([self.root], self.root, self.exclude)

    @property
    def _witnesses(self) -> Iterator[Path]:
        """The files that can be evidence for other files; a notebook counts only for itself."""
        return (path for path in self._files if kind_of(path) != "notebook")

    def _evidence(self, half: Half, message: str, *, only_weights: bool = False) -> Related | None:
        """The clearest use in the project's own code, or else in its tests."""
        from precision_lint.evidence import find

        plain, tests = self._mentioning(half)
        return find(plain, half, message, only_weights=only_weights) or find(
            tests, half, message, only_weights=only_weights
        )

    def _mentioning(self, half: Half) -> tuple[list[Path], list[Path]]:
        """The files that mention a half dtype, clearest first: the project's, then its tests."""
        from precision_lint.evidence import mentions

        paths = (path for path in self._witnesses if mentions(path, half))
        ranked = sorted(paths, key=self._rank)
        tests = [path for path in ranked if self.is_test(path)]
        return ranked[: len(ranked) - len(tests)], tests

    def _rank(self, path: Path) -> tuple[bool, bool, bool, str]:
        name = self._relative(path)
        is_example = _EXAMPLES.search(name) is not None
        return self.is_test(path), is_example, kind_of(path) == "python", name

    def is_test(self, path: Path) -> bool:
        """True for files that test the project and are not part of it."""
        return _TESTS.search(self._relative(path)) is not None

    def is_secondary(self, path: Path) -> bool:
        """True for tests, benchmarks and vendored code, which are not used for training as is."""
        return self.is_test(path) or _SECONDARY.search(self._relative(path)) is not None

    def _relative(self, path: Path) -> str:
        inside = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        return inside.as_posix()
