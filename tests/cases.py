"""The literate case files: Markdown to small projects and what is expected.

Those under `tests/rules/` are named after a rule, those under `tests/frameworks/` after a
framework.

A heading names a case. A fence `py`, `yaml`, `json`, `toml` or `sh`, with an optional
`path=some/name.ext`, is a file of the case's project; an expected finding stands at the end of its
line as `# error: [rule-name]`, with an optional confidence after it. A case that expects a finding
of low confidence is linted with `--min-confidence low`. A fence `py fixed` is that
file after `--fix`, `py unsafe-fixed` after `--unsafe-fixes`; without it the file stays as it is.

`python=3.11` on a fence says that its syntax is new in that version: older ones skip the case.
`gpu=T4` is the case's `target-gpu`; `helpers=mypkg.precision` its `fix.helper-module`, which is
`precision_lint.runtime` without it, and `helpers=` the settings of a project that names none.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

RULES = Path(__file__).parent / "rules"
FRAMEWORKS = Path(__file__).parent / "frameworks"

_HEADING = re.compile(r"^#+ (.+)$")
_FENCE = re.compile(r"^```(\w+)((?: +\S+)*) *$")
_EXPECTED = re.compile(
    r"[ \t]*(?:#|//) (?P<severity>error|warning|info): \[(?P<name>[\w-]+)\]"
    r"(?: (?P<confidence>\w+))?$"
)
_EXTENSIONS = {"sh": "env"}


@dataclass(frozen=True)
class Expected:
    path: str
    row: int
    severity: str
    name: str
    confidence: str | None


@dataclass
class Case:
    """One heading: the files of a project, what is found in them, and what fixes make of them."""

    rule: str
    """The rule, or the framework, that the file of the case is about."""
    title: str
    files: dict[str, str] = field(default_factory=dict)
    expected: list[Expected] = field(default_factory=list)
    fixed: dict[str, str] = field(default_factory=dict)
    unsafe_fixed: dict[str, str] = field(default_factory=dict)
    python: tuple[int, ...] = (3, 10)
    """The version of Python that can parse it, and so lint it."""
    gpu: str = ""
    """The GPU that the settings name."""
    helpers: str = "precision_lint.runtime"
    """The module that fixes import helpers from."""

    @property
    def id(self) -> str:
        return f"{self.rule}: {self.title}"


def load(path: Path) -> list[Case]:
    """The cases of one file that the running Python can parse, in order."""
    cases: list[Case] = []
    fence: tuple[str, list[str]] | None = None
    lines: list[str] = []
    for line in path.read_text("utf-8").splitlines():
        if fence is not None:
            if line == "```":
                _add(cases[-1], *fence, lines)
                fence, lines = None, []
            else:
                lines.append(line)
        elif heading := _HEADING.match(line):
            cases.append(Case(path.stem, heading[1]))
        elif opening := _FENCE.match(line):
            fence = opening[1], opening[2].split()
    assert fence is None, f"{path}: a fence is not closed"
    return [case for case in cases if case.files and case.python <= sys.version_info]


def _add(case: Case, language: str, options: list[str], lines: list[str]) -> None:
    name = f"case.{_EXTENSIONS.get(language, language)}"
    for option in options:
        if option.startswith("path="):
            name = option.removeprefix("path=")
        elif option.startswith("python="):
            version = option.removeprefix("python=")
            case.python = max(case.python, tuple(map(int, version.split("."))))
        elif option.startswith("gpu="):
            case.gpu = option.removeprefix("gpu=")
        elif option.startswith("helpers="):
            case.helpers = option.removeprefix("helpers=")
    if "fixed" in options:
        case.fixed[name] = _join(lines)
    elif "unsafe-fixed" in options:
        case.unsafe_fixed[name] = _join(lines)
    else:
        case.files[name] = _join(
            [_strip(case, name, row, line) for row, line in enumerate(lines, 1)]
        )


def _strip(case: Case, name: str, row: int, line: str) -> str:
    """The line without its expectations, which are added to the case."""
    while match := _EXPECTED.search(line):
        case.expected.append(
            Expected(name, row, match["severity"], match["name"], match["confidence"])
        )
        line = line[: match.start()]
    return line


def _join(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
