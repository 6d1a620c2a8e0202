"""What the whole project says, whichever files were asked for: the one door to it.

Answers are worked out once and shared. Each file that is linted asks through a recording, which
notes every question: as long as the answers are the same, so is what was found in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from precision_lint.facts.project.command_rows import rows_naming
from precision_lint.facts.project.documents import LARGEST as LARGEST_DOCUMENT
from precision_lint.facts.project.documents import Documents, words_shown
from precision_lint.facts.project.imports import (
    Imports,
    Program,
    has_word,
    may_hand,
    names_of_modules,
    words_in_use,
    words_of_imports,
)
from precision_lint.facts.project.modules import LARGEST, ParsedModules
from precision_lint.facts.project.python_needed import FIRST_TORCH, python_needed
from precision_lint.facts.project.questions import (
    ANSWERS,
    OF_CONTENT,
    Dependency,
    digest_of_answer,
    written,
)
from precision_lint.facts.project.records import Kind, Records
from precision_lint.facts.project.starred import names_at_top
from precision_lint.facts.project.torch_names import torch_needed
from precision_lint.facts.project.unreached import (
    RUNS,
    is_for_others,
    is_unreached,
    may_be_used_otherwise,
)
from precision_lint.model.finding import Confidence, Related
from precision_lint.model.regex import regex
from precision_lint.model.trace import Question, apart, note
from precision_lint.project.contents import Contents, digest_of
from precision_lint.project.discovery import kind_of
from precision_lint.project.disk import LARGEST_CONFIG, LARGEST_SETTINGS

if TYPE_CHECKING:
    from precision_lint.facts.origin import Setting
    from precision_lint.facts.project.config_files import ConfigFiles
    from precision_lint.facts.project.evidence import Half, Use
    from precision_lint.facts.project.stopping import Stop, Stopping
    from precision_lint.facts.settings import SettingsIndex
    from precision_lint.project.files import Project
    from precision_lint.project.import_style import ImportStyle
    from precision_lint.source.config.config_file import ParsedConfig
    from precision_lint.source.python.examples import Example
    from precision_lint.source.python.parse import ParsedPython
    from precision_lint.source.shell.parse import Follow, Script
    from precision_lint.source.text.text import SourceText


_SCRIPTS = frozenset({"shell", "makefile", "dockerfile", "notebook"})
"""The formats of the files that start programs: others ask for them."""

Bfloat16 = Literal["stored weights", "enabled", "stored here"]
"""What shows that weights or data can be bfloat16: a program of the file makes modules bfloat16, it
uses bfloat16 at all, or the file itself makes tensors bfloat16."""


class ProjectFacts:
    """The facts of a project, read from its files on first use."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.contents = Contents()
        self.modules = ParsedModules()
        self.records = Records(KINDS)
        self.imports = Imports(project, self.records)
        self.documents = Documents(project, self.records, self.imports)
        self._matched: dict[bytes, bool] = {}
        self._matched_in_others: dict[bytes, bool] = {}
        self._matching: dict[bytes, tuple[Path, ...]] = {}
        self._bfloat16: dict[tuple[Path, Bfloat16], Related | None] = {}
        self._ranked: dict[Half, tuple[list[Path], list[Path]]] = {}
        self._evident: dict[tuple[Half, Path], Related | None] = {}
        self._reaching: dict[tuple[Path, str], bool] = {}
        self._unreached: dict[Path, bool] = {}
        self._stops: dict[Path, Stop | None] = {}
        self._dependencies: dict[Question, Dependency] = {}

    def __reduce__(self) -> tuple[type[ProjectFacts], tuple[Project]]:
        """Another process reads the facts anew: they are many times larger than the files."""
        return ProjectFacts, (self.project,)

    def answer(self, question: Question) -> Any:
        """The answer to a question of a name and arguments: see `questions`."""
        name, *arguments = question
        return apart(lambda: ANSWERS[name](self, *arguments))

    def dependency(self, question: Question) -> Dependency:
        """A question as it is written down, with a digest of its answer, worked out once."""
        if question not in self._dependencies:
            digest = self._digest(question)
            self._dependencies[question] = Dependency(written(question), digest)
        return self._dependencies[question]

    def _digest(self, question: Question) -> str:
        if question[0] in OF_CONTENT:  # whatever follows from a content is the same as well
            return self.contents.digest(question[1])
        return digest_of_answer(self.answer(question))

    def free(self) -> None:
        """A file is checked: what was read for its sake alone is let go."""
        if "config_files" in vars(self):
            self.config_files.free_python()
        self.modules.free_dropped()

    def recording(self, on_disk: Path | None = None) -> Recording:
        """What one file sees of the project.

        `on_disk` is its path if its text is what is on the disk: others share its tree.
        """
        return Recording(self, on_disk)

    def half_precision(self, path: Path) -> Related | None:
        """What shows that a file may get half precision; None if nothing does."""
        from precision_lint.facts.project.evidence import BFLOAT16

        found = self._evidence(BFLOAT16, "the project uses bfloat16 here", path)
        return found or self.float16(path)

    def float16(self, path: Path) -> Related | None:
        """What shows that a file may get float16; None if nothing does."""
        from precision_lint.facts.project.evidence import FLOAT16

        return self._evidence(FLOAT16, "the project uses half precision here", path)

    def bfloat16(self, path: Path, how: Bfloat16) -> Related | None:
        """What shows that a file's weights or data can be bfloat16; None if nothing does."""
        from precision_lint.facts.project import evidence

        key = path, how
        if key not in self._bfloat16:
            mentioning = self._mentioning(evidence.BFLOAT16)[0]
            paths = (
                each
                for each in mentioning
                if each == path or (how != "stored here" and self.concerns(each, path))
            )
            message, accepts = evidence.ACCEPTED[how]
            self._bfloat16[key] = evidence.find(
                paths, evidence.BFLOAT16, message, self.modules.at, accepts
            )
        return self._bfloat16[key]

    def concerns(self, source: Path, path: Path) -> bool:
        """True if what a file says is for one of the programs that another file is a part of."""
        return self.imports.are_linked(source, path) or self._is_configured(source, path)

    def _is_configured(self, source: Path, path: Path) -> bool:
        """True if a file is a configuration of the code in another one."""
        return _configures(source) and self._is_near(source, path)

    def _is_near(self, config: Path, path: Path) -> bool:
        """True for a configuration file in the folder of the code or that of its sources.

        For code that others import, those above it and those of the project as a whole count, too,
        but not those beside the programs of another folder (`recipes/other/train.py`).
        """
        folder = path.parent.parent if path.parent.name == "src" else path.parent
        if config.parent in {path.parent, folder}:
            return True
        relative = config.relative_to(self.project.root)
        of_the_project = _OF_THE_PROJECT.match(relative.parts[0]) is not None and not any(
            above in self.imports.folders and not path.is_relative_to(self.project.root / above)
            for above in relative.parents[:-2]
        )
        is_above = path.is_relative_to(config.parent) or of_the_project
        return is_above and self.imports.is_imported(path)

    @cached_property
    def bfloat16_weights(self) -> Related | None:
        from precision_lint.facts.project.evidence import BFLOAT16, is_of_weights

        message = "the configuration offers bfloat16 here"
        plain, tests = self._mentioning(BFLOAT16)
        return self._clearest((plain, tests), BFLOAT16, message, is_of_weights)

    def _evidence(self, half: Half, message: str, path: Path) -> Related | None:
        """The clearest use for a file: in the project's own code, or else in its tests.

        A Python file that does not run with it says nothing, and neither does a test that names
        no module or package of the way to it, nor a script or configuration of other programs.
        """
        from precision_lint.facts.project.evidence import is_any

        key = half, path
        if key not in self._evident:
            plain, tests = self._mentioning(half)
            linked = [one for one in plain if self._is_for(one, path)]
            found = (linked, [one for one in tests if self._is_tested_in(one, path)])
            self._evident[key] = self._clearest(found, half, message, is_any)
        return self._evident[key]

    def _is_for(self, source: Path, path: Path) -> bool:
        """True for a Python file that runs with another one, and for what names a program with it.

        A program may name its configuration instead, or the folder that it is in. A project
        without programs may be configured by all that it has.
        """
        if source.suffix == ".py":
            return self.imports.are_linked(source, path)
        programs = sorted(filter(self._is_program, self.imports.above(path)))
        own = {source.stem, source.parent.name}
        return self._is_without_programs or any(
            self.records.of("has word", source, one.stem)
            or any(self.records.of("has word", one, name) for name in own)
            for one in programs
        )

    def _is_tested_in(self, test: Path, path: Path) -> bool:
        """True if a test names a file, a file that imports it, or a folder of the file."""
        root = self.project.root
        folders = path.relative_to(root).parts[:-1] if path.is_relative_to(root) else ()
        names = {*folders, *(one.stem for one in self.imports.above(path))}
        return any(self.records.of("has word", test, name) for name in sorted(names))

    def _clearest(
        self,
        groups: Iterable[Sequence[Path]],
        half: Half,
        message: str,
        accepts: Callable[[Use], bool],
    ) -> Related | None:
        """The clearest use in the first group of files that has any."""
        from precision_lint.facts.project.evidence import find

        uses = (find(paths, half, message, self.modules.at, accepts) for paths in groups)
        return next((use for use in uses if use is not None), None)

    def _mentioning(self, half: Half) -> tuple[list[Path], list[Path]]:
        """The files with a word for a half dtype, plainest first: of the project, of its tests."""
        if half not in self._ranked:
            self._ranked[half] = self._rank(half)
        return self._ranked[half]

    def _rank(self, half: Half) -> tuple[list[Path], list[Path]]:
        from precision_lint.facts.project.evidence import mentions

        project = self.project
        paths = (
            path
            for path in project.evidence_files
            if mentions(self.records.of("evidence", path), half)
        )
        ranked = sorted(paths, key=project.rank)
        tests = [path for path in ranked if project.is_test(path)]
        return ranked[: len(ranked) - len(tests)], tests

    @cached_property
    def configured(self) -> SettingsIndex:
        """What the configuration says of settings."""
        from precision_lint.facts.settings import SettingsIndex

        project = self.project
        read = dict.fromkeys((*project.evidence_files, *filter(_is_markdown, project.pages)))
        paths = [path for path in read if not project.is_test(path)]
        return SettingsIndex(project.root, paths, self.modules.at, self.records.of)

    @cached_property
    def config_files(self) -> ConfigFiles:
        """The configuration files, and which of them refer to which."""
        from precision_lint.facts.project.config_files import ConfigFiles

        return ConfigFiles(self.project, self.modules, self.records.of)

    def python_source_matches(self, pattern: bytes) -> bool:
        """True if a Python file holds what a regular expression matches."""
        if pattern not in self._matched:
            files = self.project.python_files
            self._matched[pattern] = any(self._matches(path, pattern) for path in files)
        return self._matched[pattern]

    def python_sources_matching(self, pattern: bytes) -> tuple[Path, ...]:
        """The Python files, but for tests, that hold what a regular expression matches.

        Those that import torch or the like come first: others may start what these hold.
        """
        if pattern not in self._matching:
            self._matching[pattern] = tuple(
                path for path in self._python_sources if self._matches(path, pattern)
            )
        return self._matching[pattern]

    @cached_property
    def _python_sources(self) -> list[Path]:
        """The Python files, but for tests; those that import torch or the like come first."""
        files = dict.fromkeys((*self.imports.of_tensors, *self.project.python_files))
        return [path for path in files if not self.project.is_secondary(path)]

    def torch_needed_with(self, path: Path) -> tuple[int, ...] | None:
        """The oldest torch that has all that the programs of a file import at their top level."""
        needed = self._recorded_of_programs("torch", path)
        return max((tuple(map(int, each.split("."))) for each in needed), default=None)

    def torch_of_python_needed_with(self, path: Path) -> tuple[int, int] | None:
        """The oldest torch for a Python that can import the files of the programs of a file."""
        needed = self._recorded_of_programs("python", path)
        return max((FIRST_TORCH[each] for each in needed), default=None)

    def _recorded_of_programs(self, kind: str, path: Path) -> Iterator[str]:
        """The records of a file and of those that its programs contain, but for tests."""
        for other in {path: None, **dict.fromkeys(self.imports.of_tensors)}:
            found = "" if self.project.is_test(other) else self.records.of(kind, other)
            if found and (other == path or self.imports.are_linked(other, path)):
                yield found

    def page_matches(self, pattern: bytes) -> bool:
        """True if a page of the project holds what a regular expression matches."""
        pages = (path for path in self.project.pages if not self.project.is_secondary(path))
        return any(self._matches(path, pattern) for path in pages)

    def other_file_matches(self, pattern: bytes) -> bool:
        """True if a notebook, a configuration or a script holds what a regular expression matches.

        Those of tests do not count.
        """
        if pattern not in self._matched_in_others:
            self._matched_in_others[pattern] = any(
                self._matches(path, pattern) for path in self._others
            )
        return self._matched_in_others[pattern]

    def rows_naming(self, name: str) -> list[str]:
        """The rows of pages, notebooks, configurations and scripts that hold a name as a word.

        Rows that a backslash continues are one. Those of tests do not count.
        """
        pages = (path for path in self.project.pages if not self.project.is_secondary(path))
        found = (self.records.of("rows", path, name) for path in (*pages, *self._others))
        return [row for rows in found for row in rows.splitlines()]

    @cached_property
    def _others(self) -> list[Path]:
        """The files that are not Python, but for those of tests."""
        return [
            path
            for path in self.project.files
            if path.suffix != ".py" and not self.project.is_secondary(path)
        ]

    def reaches(self, program: Path, pattern: str) -> bool:
        """True if a program, or a module of the project that it imports, holds a match."""
        key = (program, pattern)
        if key not in self._reaching:
            files = self.imports.program(program)
            self._reaching[key] = any(self._matches(path, pattern.encode()) for path in files)
        return self._reaching[key]

    def _matches(self, path: Path, pattern: bytes) -> bool:
        """True if a file holds what a regular expression matches."""
        return bool(self.records.of("matches", path, pattern.decode("latin-1")))

    def may_hand(self, path: Path, name: str) -> bool:
        """True if a file may give what has a name to a call."""
        return bool(self.records.of("may hand", path, name))

    def uses(self, user: Path, path: Path) -> bool:
        """True if a file imports another one, by other modules or by itself."""
        return user in self.imports.users(path)

    def runs_with(self, other: Path, path: Path) -> bool:
        """True if one of the programs that a file is a part of contains another file."""
        return self.imports.are_linked(other, path)

    def is_unreached(self, path: Path) -> bool:
        """True for a module that no program of the project imports, and that nothing names."""
        if path not in self._unreached:
            self._unreached[path] = is_unreached(path, self.project, self.imports, self._matches)
        return self._unreached[path]

    def is_for_others(self, path: Path) -> bool:
        """True for a module of a package that the pages of the project show to others."""
        return is_for_others(path, self.project, self._matches)

    def stop(self, path: Path) -> Stop | None:
        """Where a file stops at an import, or all programs that lead to it do; None if none do."""
        if path not in self._stops:
            self._stops[path] = self._stopping.of(path) or self._stop_before(path)
        return self._stops[path]

    def _stop_before(self, path: Path) -> Stop | None:
        found = self._stopping.leading_to(path)
        if found is None or may_be_used_otherwise(path, self.project, self.imports, self._matches):
            return None
        return replace(found, end=0)

    @cached_property
    def _stopping(self) -> Stopping:
        from precision_lint.facts.project.stopping import Stopping

        return Stopping(self.project, self.imports, self.records, self.modules.at, self._is_program)

    @cached_property
    def _is_without_programs(self) -> bool:
        return not any(map(self._is_program, self.project.python_files))

    def _is_program(self, path: Path) -> bool:
        return not self.project.is_secondary(path) and self._matches(path, RUNS)


def _evidence(path: Path, content: bytes, argument: str) -> str:
    from precision_lint.facts.project.evidence import mentioned

    found = mentioned(content)
    return f"{found} {digest_of(content)}" if found else ""


def _settings(path: Path, content: bytes, argument: str) -> str:
    from precision_lint.facts.settings.sightings import names_in

    names = sorted(names_in(path, content))
    return "\n".join([digest_of(content), *names]) if names else ""


def _fields(path: Path, content: bytes, argument: str) -> str:
    from precision_lint.facts.settings.sightings import fields_of_type

    return "\n".join(sorted({" ".join(pair) for pair in fields_of_type(content)}))


def _searched(path: Path, content: bytes, argument: str) -> str:
    from precision_lint.facts.project.missing import folders_searched

    return folders_searched(content)


def _imported(path: Path, content: bytes, argument: str) -> str:
    from precision_lint.facts.settings.sightings import imported_names

    return " ".join(sorted(imported_names(content)))


def _matching(path: Path, content: bytes, argument: str) -> str:
    return "1" if re.search(argument.encode("latin-1"), content) else ""


def _references(path: Path, content: bytes, argument: str) -> str:
    from precision_lint.facts.project.config_files import names_of_files

    return names_of_files(path, content)


def _composed(path: Path, content: bytes, argument: str) -> str:
    from precision_lint.facts.project.config_files import composition

    return composition(content)


def _naming(path: Path, content: bytes, argument: str) -> str:
    return "1" if argument.encode("utf-8", "surrogateescape") in content else ""


KINDS: Mapping[str, Kind] = {
    "imports": Kind(words_of_imports, LARGEST),
    "modules": Kind(names_of_modules),
    "top": Kind(names_at_top, LARGEST),
    "words": Kind(words_in_use, LARGEST),
    "has word": Kind(has_word),
    "may hand": Kind(may_hand),
    "evidence": Kind(_evidence, LARGEST_SETTINGS),
    "settings": Kind(_settings, LARGEST_SETTINGS),
    "fields": Kind(_fields, LARGEST_SETTINGS),
    "imported": Kind(_imported, LARGEST_SETTINGS),
    "matches": Kind(_matching),
    "references": Kind(_references, LARGEST_CONFIG),
    "composed": Kind(_composed),
    "names": Kind(_naming),
    "rows": Kind(rows_naming),
    "shown": Kind(words_shown, LARGEST_DOCUMENT),
    "torch": Kind(torch_needed),
    "python": Kind(python_needed, LARGEST),
    "searched": Kind(_searched, LARGEST),
}
"""What is kept of a file."""


_SETTINGS_MODULE = regex(r"(?:^|_)(?:config|conf|settings|constants|arg(?:ument)?s)\d*$")
_OF_THE_PROJECT = regex(r"(?:conf|configs?|recipes|scripts)$")


def _configures(path: Path) -> bool:
    """True for a configuration file, and for a Python file that is named like one."""
    return path.suffix != ".py" or _SETTINGS_MODULE.search(path.stem) is not None


def _is_markdown(path: Path) -> bool:
    return kind_of(path) == "markdown"


class Recording:
    """The project as one file sees it; all that it asks is recorded."""

    def __init__(self, facts: ProjectFacts, on_disk: Path | None) -> None:
        self._facts = facts
        self._on_disk = on_disk

    def _ask(self, name: str, *arguments: object) -> Any:
        """The answer to a question, which is noted."""
        question = (name, *arguments)
        note(question)
        return self._facts.answer(question)

    # The file itself

    def parse(self, text: SourceText) -> ParsedPython:
        """Parse the Python file that asks. No question: it is its own text.

        Raises:
            Unparsable: see `parse_python`.
        """
        return self._facts.modules.parse(text, is_on_disk=text.path == self._on_disk)

    def config(self, text: SourceText, kind: str) -> ParsedConfig | None:
        """The file that asks, as other files see it; None if they see another text, or never look.

        Settings that are no script are kept for others only if some may ask for them.
        """
        files = self._facts.config_files
        if text.path != self._on_disk or not (kind in _SCRIPTS or files.is_shared(text.path)):
            return None
        found = files.at(text.path)
        return found if found is not None and (found.format, found.text) == (kind, text) else None

    # The project

    @property
    def root(self) -> Path:
        return self._facts.project.root

    def is_test(self, path: Path) -> bool:
        """True for files that test the project and are not part of it."""
        return self._facts.project.is_test(path)

    def is_secondary(self, path: Path) -> bool:
        """True for tests, benchmarks and vendored code, which are not used for training as is."""
        return self._facts.project.is_secondary(path)

    def reports(self, path: Path) -> bool:
        """True if findings in a file are reported; a conflict of two files needs only one."""
        answer: bool = self._ask("reports", path)
        return answer

    def shows(self, confidence: Confidence) -> bool:
        """True if findings of this confidence are shown."""
        return confidence >= self._facts.project.least

    def version_of(self, library: str) -> tuple[int, int] | None:
        """Major and minor version of a library; None where nothing says one."""
        answer: tuple[int, int] | None = self._ask("version_of", library)
        return answer

    @property
    def target_gpu(self) -> str:
        """The GPU that the settings name; empty if they name none."""
        answer: str = self._ask("target_gpu")
        return answer

    def release_of(self, library: str) -> tuple[int, ...] | None:
        """The version of a library with all its numbers; None where nothing says one."""
        answer: tuple[int, ...] | None = self._ask("release_of", library)
        return answer

    def lowest_version_of(self, library: str, near: Path | None = None) -> tuple[int, int] | None:
        """The oldest version of a library that code must run with; None where nothing says one."""
        answer: tuple[int, int] | None = self._ask("lowest_version_of", library, near)
        return answer

    def torch_needed_with(self, path: Path) -> tuple[int, ...] | None:
        """The oldest torch that has all that the programs of a Python file import."""
        answer: tuple[int, ...] | None = self._ask("torch_needed_with", path)
        return answer

    def torch_of_python_needed_with(self, path: Path) -> tuple[int, int] | None:
        """The oldest torch for a Python that can import the files of the programs of a file."""
        answer: tuple[int, int] | None = self._ask("torch_of_python_needed_with", path)
        return answer

    @property
    def helper_module(self) -> str:
        """The module that fixes import helpers from; empty if the settings name none."""
        answer: str = self._ask("helper_module")
        return answer

    def import_style(self, path: Path) -> ImportStyle:
        """How the imports of a file are sorted."""
        answer: ImportStyle = self._ask("import_style", path)
        return answer

    # Evidence and settings

    def half_precision(self, path: Path) -> Related | None:
        """The clearest place that chooses bfloat16, or else float16 or autocast, for a file.

        Code that runs in one half dtype runs in the other with another checkpoint or flag. Python
        files count that run with the file, tests among them.
        """
        answer: Related | None = self._ask("half_precision", path)
        return answer

    def float16(self, path: Path) -> Related | None:
        """The clearest place that chooses float16 or autocast for a file."""
        answer: Related | None = self._ask("float16", path)
        return answer

    def bfloat16(self, path: Path, how: Bfloat16) -> Related | None:
        """The clearest place where bfloat16 is stored or enabled, for a file."""
        answer: Related | None = self._ask("bfloat16", path, how)
        return answer

    def concerns(self, source: Path, path: Path) -> bool:
        """True if what a file says is for one of the programs that another file is a part of."""
        answer: bool = self._ask("concerns", source, path)
        return answer

    @property
    def bfloat16_weights(self) -> Related | None:
        """The clearest setting that makes bfloat16 the dtype of weights; None if there is none."""
        answer: Related | None = self._ask("bfloat16_weights")
        return answer

    def setting(self, path: tuple[str, ...], near: Path | None = None) -> Setting | None:
        """The choices for a setting by the names that lead to it: see `SettingsIndex.setting`."""
        answer: Setting | None = self._ask("setting", path, near)
        return answer

    def variable(self, name: str, near: Path | None = None) -> Setting | None:
        """The choices for an environment variable; None if nothing sets it."""
        answer: Setting | None = self._ask("variable", name, near)
        return answer

    # Configuration files

    @property
    def config_files(self) -> ConfigFiles:
        """The configuration files, which note what they are asked."""
        return self._facts.config_files

    def follow(self, near: Path) -> Follow:
        """Finds and reads what a script at `near` sources."""
        inner: Follow | None = None

        def follow(reference: str) -> Script | None:
            nonlocal inner
            inner = inner or self.config_files.follow(near)
            return inner(reference)

        return follow

    def composes_settings(self, path: Path) -> bool:
        """True if a file with Hydra's `defaults` may be composed of one that a rule looks at."""
        answer: bool = self._ask("composes_settings", path)
        return answer

    # Python files

    def python_source_matches(self, pattern: bytes) -> bool:
        """True if a regular expression matches in any Python file of the project."""
        answer: bool = self._ask("python_source_matches", pattern)
        return answer

    def python_sources_matching(self, pattern: bytes) -> tuple[Path, ...]:
        """The Python files that pass tensors and match, but for tests and what is secondary."""
        answer: tuple[Path, ...] = self._ask("python_sources_matching", pattern)
        return answer

    def page_matches(self, pattern: bytes) -> bool:
        """True if a regular expression matches in a page of the project's documentation."""
        answer: bool = self._ask("page_matches", pattern)
        return answer

    def other_file_matches(self, pattern: bytes) -> bool:
        """True if a regular expression matches in a notebook, a configuration or a script."""
        answer: bool = self._ask("other_file_matches", pattern)
        return answer

    def rows_naming(self, name: str) -> list[str]:
        """The rows of pages, notebooks, configurations and scripts that hold a name as a word."""
        answer: list[str] = self._ask("rows_naming", name)
        return answer

    def program(self, path: Path) -> Program:
        """A Python program: its file first, then those of the project that it imports."""
        answer: Program = self._ask("program", path)
        return answer

    def users(self, path: Path) -> list[Path]:
        """The Python files that import one, by other modules or by themselves, in path order."""
        answer: list[Path] = self._ask("users", path)
        return answer

    @property
    def is_alone(self) -> bool:
        """True for a project of one Python file, which may show how something is used."""
        answer: bool = self._ask("is_alone")
        return answer

    def reaches(self, program: Path, pattern: str) -> bool:
        """True if a regular expression matches in a program or in a module that it imports."""
        answer: bool = self._ask("reaches", program, pattern)
        return answer

    def uses(self, user: Path, path: Path) -> bool:
        """True if a Python file imports another one, by other modules or by itself."""
        answer: bool = self._ask("uses", user, path)
        return answer

    def runs_with(self, other: Path, path: Path) -> bool:
        """True if one of the programs that a Python file is a part of contains another one.

        What the code of other programs does to objects and functions is never seen in its runs.
        """
        answer: bool = self._ask("runs_with", other, path)
        return answer

    def is_for_others(self, path: Path) -> bool:
        """True for a module of a package that the pages of the project show to others."""
        answer: bool = self._ask("is_for_others", path)
        return answer

    def is_unreached(self, path: Path) -> bool:
        """True for a module that no program of the project imports, and that nothing names."""
        answer: bool = self._ask("is_unreached", path)
        return answer

    def stop(self, path: Path) -> Stop | None:
        """Where a file stops at an import, whichever program runs it; None if it need not."""
        answer: Stop | None = self._ask("stop", path)
        return answer

    def module(self, path: Path) -> ParsedPython | None:
        """The Python file at a path; None if it cannot be parsed, or is too large for code."""
        answer: ParsedPython | None = self._ask("module", path)
        return answer

    def locate(self, importer: Path, name: str) -> Path | None:
        """The file of the module that `importer` calls `name`; relative names keep their dots."""
        answer: Path | None = self._ask("locate", importer.parent, name)
        return answer

    def offers(self, path: Path, name: str) -> bool:
        """True if `import *` from a Python file may give a name."""
        answer: bool = self._ask("offers", path, name)
        return answer

    def may_hand(self, path: Path, name: str) -> bool:
        """True if a Python file may give what has a name to a call."""
        answer: bool = self._ask("may_hand", path, name)
        return answer

    def assigning(self, attribute: str) -> Sequence[Path]:
        """The Python files that assign an attribute of what is not `self`, in path order."""
        answer: Sequence[Path] = self._ask("assigning", attribute)
        return answer

    def casting(self, attribute: str) -> Sequence[Path]:
        """The Python files that cast an attribute of what is not `self` in place."""
        answer: Sequence[Path] = self._ask("casting", attribute)
        return answer

    def calling(self, method: str) -> Sequence[Path]:
        """The Python files that call a method of this name, in path order."""
        answer: Sequence[Path] = self._ask("calling", method)
        return answer

    def defining(self, function: str) -> Sequence[Path]:
        """The Python files that define a function of this name, in path order."""
        answer: Sequence[Path] = self._ask("defining", function)
        return answer

    def documents(self, path: Path, name: str) -> tuple[Path, ...]:
        """The documents that show a program in bfloat16 that a file is a part of, with a name."""
        answer: tuple[Path, ...] = self._ask("documents", path, name)
        return answer

    def examples(self, path: Path) -> tuple[Example, ...]:
        """The programs in bfloat16 that a document shows."""
        answer: tuple[Example, ...] = self._ask("examples", path)
        return answer

    def importing(self, path: Path, name: str) -> Iterator[Path]:
        """The other Python files that name `name` and import the module at `path`, in path order.

        Nobody may want all of them: each is an answer of its own.
        """
        number = 0
        while (found := self._ask("importing", path, name, number)) is not None:
            yield found
            number += 1
