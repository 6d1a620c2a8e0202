"""The check of one file, from bytes to findings: see the steps of `check_bytes`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from precision_lint.engine import hooks, registry, suppression
from precision_lint.engine.settings import Settings
from precision_lint.facts.frameworks.triggers import may_be_read, may_make_settings
from precision_lint.facts.project.facts import Recording
from precision_lint.model.finding import (
    Applicability,
    Confidence,
    Finding,
    Fix,
    Place,
    Position,
    Span,
)
from precision_lint.model.frozen import frozen
from precision_lint.model.rule import Rule
from precision_lint.model.searched import Searched
from precision_lint.project import disk
from precision_lint.project.discovery import Kind
from precision_lint.source.text.errors import Template, Unparsable
from precision_lint.source.text.text import SourceText, decode_python

if TYPE_CHECKING:
    from precision_lint.facts.context import ConfigFile, PythonFile


@frozen(slots=False)
class Checked:
    """The findings of one file, in order, and the notes to print with them."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    text: SourceText | None = None
    is_triggered: bool = True
    """A rule looked at the file: what is found does not depend on whether the user named it."""


@frozen(slots=False)
class _Raw:
    """What the rules reported, before suppressions and settings filter it."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    is_complete: bool = True
    """The whole file could be parsed, so a suppression without a finding is unused."""


def check_bytes(
    path: Path,
    content: bytes,
    kind: Kind,
    project: Recording,
    settings: Settings,
    *,
    named: bool = False,
) -> Checked:
    """Check the bytes of a file as if they were on disk at `path`.

    A file that contains no trigger of a rule is not even decoded, unless the user `named` it: then
    the user learns if it cannot be read or parsed.
    """
    codes = settings.codes_for(path, project.root)
    rules = _triggered_by_bytes(content, kind, codes)
    if not (rules or named or any(mark in content for mark in suppression.MARKS)):
        return Checked(is_triggered=False)
    try:
        text = decode(path, content, kind)
    except (UnicodeError, LookupError) as error:
        checked = check_unreadable(path, _decoding_problem(error), project.root, settings)
        return replace(checked, is_triggered=bool(rules))
    except Unparsable as problem:
        if not (rules or named):
            return Checked(is_triggered=False)
        checked = _broken_notebook(
            SourceText.from_bytes(path, content), problem, project.root, settings
        )
        return replace(checked, is_triggered=bool(rules))
    rules = _triggered_by_text(rules, text, kind)
    raw = _report(text, kind, project, rules) if rules or named else _Raw()
    if not raw.is_complete and kind in ("python", "notebook") and not _names_tensors(text):
        rules = []  # only who imports the file could give it tensors, and nobody can
        raw = raw if named else _Raw(is_complete=False)
    enabled = _once([each for each in raw.findings if each.code in codes], settings)
    is_writable = not any(finding.fix for finding in enabled) or may_be_written(
        text, content, project.root, named=named
    )
    repairable = [_without_impossible_fix(finding, text, is_writable) for finding in enabled]
    directives = suppression.directives(text, kind, is_clean=not repairable)
    findings, used = suppression.apply(repairable, directives, text)
    findings = _sparing(findings, repairable)
    # Documents show what a suppression looks like.
    if raw.is_complete and kind != "markdown":
        findings += _unused_suppressions(text, directives, used, codes)
        findings += _bare_suppressions(text, kind, codes)
    return Checked(_shown(findings, settings), raw.notes, text, bool(rules))


def may_be_written(text: SourceText, content: bytes, root: Path, *, named: bool) -> bool:
    """False for files that fixes leave alone: writing them would change more than the edits.

    That is so for an encoding that has two ways to write a text, and for a link out of the project,
    which anybody can put into a repository, unless the user `named` it.
    """
    return text.encodes_to(content) and (named or not disk.leads_out_of(root, text.path))


def _triggered_by_bytes(content: bytes, kind: Kind, codes: frozenset[str]) -> list[Rule]:
    """The enabled rules with a hook for this kind of file and a trigger in its bytes."""
    rules = [rule for rule in registry.rules() if rule.code in codes and _reads(rule, kind)]
    # JSON escapes quotes with backslashes; a trigger contains nothing else that JSON escapes.
    searched = Searched(content.replace(b'\\"', b'"') if kind == "notebook" else content)
    is_read = may_make_settings(searched) if kind == "python" else may_be_read(content, kind)
    if not is_read:
        rules = [rule for rule in rules if hooks.reads(rule, "python")]
    return [rule for rule in rules if rule.wants(searched)]


def _triggered_by_text(rules: list[Rule], text: SourceText, kind: Kind) -> list[Rule]:
    """Of a notebook, the rules with a trigger in its cells: text in its outputs does not count."""
    if kind != "notebook":
        return rules
    code = Searched(text.text.encode("utf-8", "surrogatepass"))
    return [rule for rule in rules if rule.wants(code)]


def _report(text: SourceText, kind: Kind, project: Recording, rules: list[Rule]) -> _Raw:
    """What the rules report; MP904 for text that cannot be parsed, a note for a template."""
    notes: list[str] = []
    try:
        findings = _run_rules(text, kind, project, rules, notes)
    except Template as template:
        note = f"{text.path}: skipped, {template.message}"
        return _Raw(notes=(note,), is_complete=False)
    except Unparsable as problem:
        findings = [_unparsable(text, problem)]
    except (RecursionError, MemoryError):  # Python's parser raises MemoryError for deep nesting
        too_deep = Unparsable("nested too deeply to analyze", 1, 1)
        findings = [_unparsable(text, too_deep)]
    is_complete = all(finding.code != "MP904" for finding in findings)
    return _Raw(tuple(findings), tuple(notes), is_complete)


def _names_tensors(text: SourceText) -> bool:
    from precision_lint.facts.project.imports import names_tensors

    return names_tensors(text.text.encode("utf-8", "surrogatepass"))


def _without_impossible_fix(finding: Finding, text: SourceText, is_writable: bool) -> Finding:
    """The finding, without a fix that the file cannot take.

    That is one across cells, for example, or any in an encoding that has two ways to write a text:
    then more than the edits would change.
    """
    if finding.fix is None or (is_writable and text.takes(finding.fix.edits)):
        return finding
    return replace(finding, fix=None)


def _once(findings: list[Finding], settings: Settings) -> list[Finding]:
    """The findings, without those of rules that yield to a rule which reports the same place."""
    by_code: dict[str, list[Span]] = {}
    for finding in filter(settings.reports, findings):
        by_code.setdefault(finding.code, []).append(finding.place.span)
    yielding = registry.yielding()
    return [
        finding
        for finding in findings
        if not any(
            finding.place.span.start < other.end and other.start < finding.place.span.end
            for code in yielding.get(finding.code, ())
            for other in by_code.get(code, ())
        )
    ]


def _sparing(findings: list[Finding], all_findings: list[Finding]) -> list[Finding]:
    """The findings, without fixes that would change what a suppressed finding is about.

    The fix of an import migrates its uses: one of them may be meant to stay.
    """
    kept = set(findings)
    spared = [finding.place.span for finding in all_findings if finding not in kept]
    return [
        replace(finding, fix=None)
        if finding.fix is not None and any(_changes(finding.fix, span) for span in spared)
        else finding
        for finding in findings
    ]


def _changes(fix: Fix, span: Span) -> bool:
    return any(edit.span.start < span.end and span.start < edit.span.end for edit in fix.edits)


def _shown(findings: Iterable[Finding], settings: Settings) -> tuple[Finding, ...]:
    """The findings that meet the thresholds, each once, in order."""
    shown = {finding: None for finding in findings if settings.reports(finding)}
    return tuple(sorted(shown, key=lambda finding: finding.sort_key))


def _broken_notebook(
    text: SourceText, problem: Unparsable, root: Path, settings: Settings
) -> Checked:
    """MP904, if it is on, for a file that is called a notebook and is not one."""
    checked = _only(_unparsable(text, problem), root, settings)
    return replace(checked, text=text)


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


def decode(path: Path, content: bytes, kind: Kind) -> SourceText:
    """Decode a file: Python by its encoding cookie, everything else as UTF-8.

    Raises:
        UnicodeError, LookupError: the bytes are not text in that encoding.
        Unparsable: the file is called a notebook and is not one.
    """
    if kind == "notebook":
        from precision_lint.source.text.notebook import NotebookText

        return NotebookText.read(SourceText.from_bytes(path, content))
    if kind == "python":
        return decode_python(path, content)
    return SourceText.from_bytes(path, content)


def _reads(rule: Rule, kind: Kind) -> bool:
    """True if the rule has a hook for files of this kind. Every kind of file can hold settings."""
    return hooks.reads(rule, "settings") or (
        kind in ("python", "notebook") and hooks.reads(rule, "python")
    )


def _decoding_problem(error: UnicodeError | LookupError) -> str:
    match error:
        case UnicodeDecodeError(encoding=encoding, start=start, reason=reason):
            return f"byte {start} is not {encoding} ({reason})"
        case _:
            return str(error)


def _run_rules(
    text: SourceText,
    kind: Kind,
    project: Recording,
    rules: list[Rule],
    notes: list[str],
) -> list[Finding]:
    """The findings of the rules; notes for the user are appended to `notes`."""
    if kind == "python":
        parsed = project.parse(text)
        if not rules:
            return []
        from precision_lint.facts.context import PythonFile

        file = PythonFile.of(parsed, project)
        return [*_run_settings(file, rules, notes), *_run_python(file, rules, notes)]
    return list(_run_config(text, kind, project, rules, notes))


def _run_settings(file: PythonFile, rules: list[Rule], notes: list[str]) -> Iterator[Finding]:
    """What rules for configurations find in the settings that Python code makes."""
    if any(hooks.reads(rule, "settings") for rule in rules):
        from precision_lint.facts.context import ConfigFile

        settings = ConfigFile(file.text, "python", python=file, project=file.project)
        try:
            yield from _run_hooks("settings", settings, rules, notes)
        finally:
            settings.forget()


def _run_python(file: PythonFile, rules: list[Rule], notes: list[str]) -> Iterator[Finding]:
    """What rules for Python find; the facts of the file are kept."""
    try:
        yield from _run_hooks("python", file, rules, notes)
    finally:
        file.forget()


def _run_hooks(
    what: hooks.Input, file: PythonFile | ConfigFile, rules: list[Rule], notes: list[str]
) -> Iterator[Finding]:
    """The findings of the hooks that read such a file."""
    return hooks.run(what, file, rules, registry.module, notes)


def _run_config(
    text: SourceText, kind: Kind, project: Recording, rules: list[Rule], notes: list[str]
) -> Iterator[Finding]:
    from precision_lint.facts.context import ConfigFile, PythonFile
    from precision_lint.facts.frameworks.triggers import is_only_composed
    from precision_lint.source.config.parse import parse_config

    content = text.text.encode("utf-8", "surrogatepass")
    if kind == "yaml" and is_only_composed(content) and not project.composes_settings(text.path):
        return
    parsed = project.config(text, kind)
    if parsed is None:
        follow = project.follow(text.path)
        parsed = parse_config(text, kind, follow=follow, parse_python=project.parse)
    file = ConfigFile.of(parsed, project)
    if file.defect is not None:
        yield _unparsable(text, file.defect, "Only what can be read here was checked.")
    # A document may show a mistake on purpose.
    most = Confidence.MEDIUM if file.is_excerpt else Confidence.HIGH
    try:
        for finding in _run_hooks("settings", file, rules, notes):
            yield replace(finding, confidence=min(finding.confidence, most))
    finally:
        file.forget()
    if file.python is not None:
        yield from _run_python(PythonFile.of(file.python, project), rules, notes)


def _unparsable(
    text: SourceText,
    problem: Unparsable,
    why: str = "Nothing else in this file was checked.",
) -> Finding:
    from precision_lint.facts.context import finding_in

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


def _bare_suppressions(text: SourceText, kind: Kind, codes: frozenset[str]) -> list[Finding]:
    rule = registry.rule("unknown-suppression")
    spans = list(suppression.bare(text, kind)) if rule.code in codes else []
    if not spans:
        return []
    from precision_lint.facts.context import finding_in

    message = "this names no rule and silences nothing: write `ignore[MP101]` with a code or a name"
    return [finding_in(text, rule, span, message, confidence=Confidence.HIGH) for span in spans]


def _unused_suppressions(
    text: SourceText,
    directives: tuple[suppression.Directive, ...],
    used: set[tuple[suppression.Directive, str]],
    codes: frozenset[str],
) -> list[Finding]:
    unused_ones = list(suppression.unused(directives, used, codes, text))
    if not unused_ones:
        return []
    from precision_lint.facts.context import finding_in

    findings = []
    for unused in unused_ones:
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
