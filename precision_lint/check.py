"""One file, from bytes to findings: triggers, parse, facts, rules, suppressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from precision_lint import registry, suppression
from precision_lint.consumers.triggers import may_be_read
from precision_lint.discovery import Kind
from precision_lint.finding import (
    Applicability,
    Confidence,
    Finding,
    Fix,
    Place,
    Position,
    Span,
)
from precision_lint.project_facts import Recording
from precision_lint.rule import Rule
from precision_lint.settings import Settings
from precision_lint.source.errors import Template, Unparsable
from precision_lint.source.text import SourceText, decode_python

if TYPE_CHECKING:
    from precision_lint.context import PythonFile
    from precision_lint.dtypes.calls import Call


@dataclass(frozen=True)
class Checked:
    """The findings of one file, in order, and what a person should be told beside them."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    text: SourceText | None = None


def check_bytes(
    path: Path,
    content: bytes,
    kind: Kind,
    project: Recording,
    settings: Settings,
    *,
    named: bool = False,
) -> Checked:
    """Check the bytes of a file as if they stood at `path`.

    A file that holds no trigger of a rule is not even decoded, unless it was `named` by the user,
    who is then told if it cannot be read or parsed.
    """
    codes = settings.codes_for(path, project.root)
    triggered = [rule for rule in registry.rules() if rule.code in codes and _reads(rule, kind)]
    if not may_be_read(content, kind):
        triggered = [rule for rule in triggered if rule.hooks & _HOOKS_OF_PYTHON]
    # JSON hides quotes behind backslashes, and nothing else that a trigger has.
    searched = content.replace(b'\\"', b'"') if kind == "notebook" else content
    triggered = [rule for rule in triggered if rule.wants(searched)]
    if not (triggered or named or any(mark in content for mark in suppression.MARKS)):
        return Checked()
    try:
        text = decode(path, content, kind)
    except (UnicodeError, LookupError) as error:
        return check_unreadable(path, _decoding_problem(error), project.root, settings)
    except Unparsable as problem:  # a notebook that is none
        if not (triggered or named):
            return Checked()
        text = SourceText.from_bytes(path, content)
        finding = _unparsable(text, problem)
        return replace(_only(finding, project.root, settings), text=text)
    if kind == "notebook":  # what its outputs hold is no trigger
        code = text.text.encode("utf-8", "surrogatepass")
        triggered = [rule for rule in triggered if rule.wants(code)]
    notes: list[str] = []
    try:
        findings = _run(text, kind, project, triggered, notes) if triggered or named else []
        problems = [finding for finding in findings if finding.code == "MP904"]
    except Template as template:
        return Checked(notes=(f"{path}: skipped, {template.message}",), text=text)
    except Unparsable as problem:
        findings = problems = [_unparsable(text, problem)]
    except (RecursionError, MemoryError):  # MemoryError is how Python's parser gives up
        too_deep = Unparsable("nested too deeply to analyse", 1, 1)
        findings = problems = [_unparsable(text, too_deep)]

    findings = [_repairable(finding, text) for finding in findings if finding.code in codes]
    directives = suppression.directives(text, kind, is_clean=not findings)
    findings, used = suppression.apply(findings, directives, text)
    # Where nothing was checked, nothing is unused; documents show what a suppression looks like.
    if not problems and kind != "markdown":
        findings += _suppression_findings(text, directives, used, codes)
    shown = sorted(
        {finding: None for finding in findings if settings.reports(finding)},
        key=lambda finding: finding.sort_key,
    )
    return Checked(tuple(shown), tuple(notes), text)


def check_unreadable(path: Path, problem: str, root: Path, settings: Settings) -> Checked:
    """MP903, if it is on, for a file that cannot be read or decoded."""
    start = Position(1, 1)
    rule = registry.rule("unreadable-file")
    finding = Finding(
        code=rule.code,
        name=rule.name,
        message=f"cannot be read: {problem}",
        severity=rule.severity,
        confidence=Confidence.HIGH,
        place=Place(path, Span(0, 0), start, start),
        noqa_row=1,
    )
    return _only(finding, root, settings)


def _only(finding: Finding, root: Path, settings: Settings) -> Checked:
    """A finding on a whole file, if its rule is on."""
    codes = settings.codes_for(finding.place.path, root)
    is_on = finding.code in codes and settings.reports(finding)
    return Checked((finding,) if is_on else ())


def _repairable(finding: Finding, text: SourceText) -> Finding:
    """The finding, without a fix that the file does not take."""
    if finding.fix is None or text.takes(finding.fix.edits):
        return finding
    return replace(finding, fix=None)


def decode(path: Path, content: bytes, kind: Kind) -> SourceText:
    """Decode a file: Python by its encoding cookie, everything else as UTF-8.

    Raises:
        UnicodeError, LookupError: the bytes are not text in that encoding.
        Unparsable: they are no notebook, and should be one.
    """
    if kind == "notebook":
        from precision_lint.source.notebook import NotebookText

        return NotebookText.read(SourceText.from_bytes(path, content))
    if kind == "python":
        return decode_python(path, content)
    return SourceText.from_bytes(path, content)


def _reads(rule: Rule, kind: Kind) -> bool:
    """True if the rule has a hook for files of this kind. Python makes settings, too."""
    return "check_config" in rule.hooks or (
        kind in ("python", "notebook") and bool(rule.hooks & _HOOKS_OF_PYTHON)
    )


_HOOKS_OF_PYTHON = frozenset({"check_source", "check_call", "check_step", "check_kernel"})


def _decoding_problem(error: UnicodeError | LookupError) -> str:
    match error:
        case UnicodeDecodeError(encoding=encoding, start=start, reason=reason):
            return f"byte {start} is not {encoding} ({reason})"
        case _:
            return str(error)


def _run(
    text: SourceText,
    kind: Kind,
    project: Recording,
    rules: list[Rule],
    notes: list[str],
) -> list[Finding]:
    """The findings of the rules; what a person should be told beside them goes into `notes`."""
    if kind == "python":
        from precision_lint.context import PythonFile

        file = PythonFile.of(project.parse(text), project)
        return [*_run_settings(file, rules), *_run_python(file, rules, notes)]
    return list(_run_config(text, kind, project, rules, notes))


def _run_settings(file: PythonFile, rules: list[Rule]) -> Iterator[Finding]:
    """What rules for configurations say of the settings that Python makes."""
    if any("check_config" in rule.hooks for rule in rules):
        from precision_lint.context import ConfigFile

        settings = ConfigFile(file.text, "python", python=file, project=file.project)
        for rule in rules:
            if "check_config" in rule.hooks:
                yield from registry.module(rule).check_config(settings)


def _run_python(file: PythonFile, rules: list[Rule], notes: list[str]) -> Iterator[Finding]:
    for rule in rules:
        if "check_source" in rule.hooks:
            yield from registry.module(rule).check_source(file)
    wanted = frozenset[str]().union(*(rule.calls for rule in rules))
    if wanted:
        from precision_lint.dtypes.flow import calls_in

        followed = frozenset[str]().union(*(rule.calls - rule.glanced for rule in rules))
        calls = calls_in(file, wanted, wanted - followed)
        if not calls.is_complete:
            notes.append(f"{file.text.path}: too much code to analyse: its calls were not checked")
        for call in calls:
            for rule in rules:
                if _asks_for(rule, call):
                    yield from registry.module(rule).check_call(call, file)
    step_rules = [rule for rule in rules if "check_step" in rule.hooks]
    if step_rules:
        from precision_lint.amp.protocol import training_steps

        for step in training_steps(file):
            for rule in step_rules:
                yield from registry.module(rule).check_step(step, file)
    kernel_rules = [rule for rule in rules if "check_kernel" in rule.hooks]
    if kernel_rules:
        from precision_lint.triton_types.kernels import find_kernels

        version = file.project.version_of("triton")
        for kernel in find_kernels(file.tree, file.text, version, file.project):
            for rule in kernel_rules:
                yield from registry.module(rule).check_kernel(kernel, file)


def _asks_for(rule: Rule, call: Call) -> bool:
    """True if `check_call` of a rule wants to see a call."""
    package = (call.function or "").partition(".")[0]
    return call.name in rule.calls or f"{package}.*" in rule.calls


def _run_config(
    text: SourceText, kind: Kind, project: Recording, rules: list[Rule], notes: list[str]
) -> Iterator[Finding]:
    from precision_lint.context import ConfigFile, PythonFile
    from precision_lint.source.config import parse_config

    follow = project.follow(text.path)
    parsed = parse_config(text, kind, follow=follow, parse_python=project.parse)
    file = ConfigFile.of(parsed, project)
    if file.defect is not None:
        yield _unparsable(text, file.defect, "Only what can be read here was checked.")
    # A document may show on purpose what goes wrong.
    most = Confidence.MEDIUM if file.is_excerpt else Confidence.HIGH
    for rule in rules:
        if "check_config" in rule.hooks:
            for finding in registry.module(rule).check_config(file):
                yield replace(finding, confidence=min(finding.confidence, most))
    if file.python is not None:
        yield from _run_python(PythonFile.of(file.python, project), rules, notes)


def _unparsable(
    text: SourceText,
    problem: Unparsable,
    why: str = "Nothing else in this file was checked.",
) -> Finding:
    from precision_lint.context import finding_in

    rule = registry.rule("unparsable-file")
    row = min(max(problem.row, 1), len(text.line_starts))
    start = text.line_span(row).start + min(max(problem.column, 1) - 1, len(text.line(row)))
    return finding_in(
        text,
        rule,
        Span(start, start),
        f"cannot be parsed: {problem.message}",
        confidence=Confidence.HIGH,
        why=why,
    )


def _suppression_findings(
    text: SourceText,
    directives: tuple[suppression.Directive, ...],
    used: set[tuple[suppression.Directive, str]],
    codes: frozenset[str],
) -> list[Finding]:
    from precision_lint.context import finding_in

    findings = []
    for unused in suppression.unused(directives, used, codes, text):
        rule = registry.rule("unused-suppression" if unused.known else "unknown-suppression")
        if rule.code not in codes:
            continue
        like = None if unused.known else registry.resembling(unused.name)
        findings.append(
            finding_in(
                text,
                rule,
                unused.span,
                f"`{unused.name}` silences nothing here"
                if unused.known
                else f"no rule is called `{unused.name}`"
                + (f"; did you mean `{like}`?" if like else ""),
                confidence=Confidence.HIGH,
                fix=Fix(Applicability.SAFE, f"Remove `{unused.name}`", (unused.edit,))
                if unused.known
                else None,
            )
        )
    return findings
