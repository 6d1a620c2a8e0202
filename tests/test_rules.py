"""Every literate case, linted and fixed through the same path as the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.engine import registry
from precision_lint.engine.job import Job, Result
from precision_lint.engine.run import run
from precision_lint.engine.settings import Settings
from precision_lint.facts.frameworks.table import frameworks
from precision_lint.model.finding import Applicability, Confidence
from precision_lint.project.discovery import files
from precision_lint.project.files import Project
from tests import cases

CASES = [
    case
    for folder in (cases.RULES, cases.FRAMEWORKS)
    for path in sorted(folder.glob("*.md"))
    for case in cases.load(path)
]
with_cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


def lint(case: cases.Case, root: Path, fix: Applicability | None = None) -> list[Result]:
    """A case with its own rule, and with those that it expects beside it.

    One about a framework with all rules for configurations.
    """
    (root / ".git").mkdir(exist_ok=True)
    for name, content in case.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_bytes(content.encode())
    is_low = any(expected.confidence == "low" for expected in case.expected)
    confidence = Confidence.LOW if is_low else Confidence.MEDIUM
    settings = Settings(select=_selected(case), preview=True, min_confidence=confidence)
    project = Project(root, target_gpu=case.gpu, helper_module=case.helpers)
    return run(Job(project, settings, fix), files([root], root))


def _selected(case: cases.Case) -> tuple[str, ...]:
    if case.rule in frameworks():
        return ("MP7",)
    if registry.rule(case.rule).code.startswith("MP9"):
        return Settings().select
    return tuple(sorted({case.rule, *(expected.name for expected in case.expected)}))


@with_cases
def test_finds_what_is_marked(case: cases.Case, tmp_path: Path) -> None:
    results = lint(case, tmp_path)
    assert not [result.failure for result in results if result.failure]
    found = sorted(
        (
            finding.place.path.relative_to(tmp_path).as_posix(),
            finding.place.start.row,
            str(finding.severity),
            finding.name,
        )
        for result in results
        for finding in result.findings
    )
    assert found == sorted((e.path, e.row, e.severity, e.name) for e in case.expected)
    confidences = {
        (finding.place.start.row, finding.name): str(finding.confidence)
        for result in results
        for finding in result.findings
    }
    for expected in case.expected:
        if expected.confidence:
            assert confidences[expected.row, expected.name] == expected.confidence


@with_cases
@pytest.mark.parametrize("level", [Applicability.SAFE, Applicability.UNSAFE], ids=str)
def test_fixes_as_written(case: cases.Case, level: Applicability, tmp_path: Path) -> None:
    lint(case, tmp_path, level)
    expected = case.files | case.fixed
    if level is Applicability.UNSAFE:
        expected |= case.unsafe_fixed
    for name, content in expected.items():
        assert (tmp_path / name).read_bytes().decode() == content
    after = {name: (tmp_path / name).read_bytes() for name in case.files}
    assert not any(result.fixed for result in lint(case, tmp_path, level))
    assert after == {name: (tmp_path / name).read_bytes() for name in case.files}


FIXED = [case for case in CASES if case.fixed or case.unsafe_fixed]


@pytest.mark.parametrize("case", FIXED, ids=lambda case: case.id)
def test_what_is_called_fixable_is_fixed(case: cases.Case, tmp_path: Path) -> None:
    level = Applicability.UNSAFE if case.unsafe_fixed else Applicability.SAFE
    fixable = [
        finding
        for result in lint(case, tmp_path)
        for finding in result.findings
        if finding.fix is not None and finding.fix.applicability >= level
    ]
    fixed = [finding for result in lint(case, tmp_path, level) for finding in result.fixed]
    assert len(fixed) == len(fixable)


def test_every_rule_has_cases_that_find_it_and_a_case_that_does_not() -> None:
    found = {expected.name for case in CASES for expected in case.expected}
    silent = {case.rule for case in CASES if not case.expected}
    for rule in registry.rules():
        if rule.name == "unreadable-file":
            continue  # bytes that are no text cannot stand in Markdown
        assert rule.name in found, f"no case finds {rule.name}"
        assert rule.name in silent, f"no case shows where {rule.name} is silent"


@pytest.mark.parametrize("rule", registry.rules(), ids=lambda rule: rule.name)
def test_fix_availability_is_stated_truthfully(rule: registry.Rule, tmp_path: Path) -> None:
    fixes = set()
    expecting = [case for case in CASES if any(one.name == rule.name for one in case.expected)]
    for number, case in enumerate(expecting):
        root = tmp_path / str(number)
        root.mkdir()
        for result in lint(case, root):
            for finding in result.findings:
                if finding.code == rule.code:
                    level = finding.fix.applicability if finding.fix else None
                    fixes.add(level)
    applied = fixes & {Applicability.SAFE, Applicability.UNSAFE}
    match rule.fix:
        case "never":
            assert fixes <= {None}
        case "display":
            assert fixes <= {None, Applicability.DISPLAY}
            assert fixes != {None}
        case "sometimes":
            assert applied
        case "always":
            assert applied
            assert fixes == applied
