"""One line for each finding, and the summary that ends every report for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from precision_lint.engine import registry
from precision_lint.model.finding import Applicability, Finding, Severity
from precision_lint.report.ink import Ink
from precision_lint.report.model import Report


def render(report: Report) -> Iterator[str]:
    """The report, in pieces."""
    ink = report.ink
    for finding in report.findings:
        path = report.relative(finding.place.path)
        position = report.position(finding.place)[len(path) :]
        url = registry.rule(finding.code).url if ink.color else ""
        yield f"{ink.paint(ink.visible(path), 'strong')}{position}: {head(finding, ink, url)}\n"
    yield from summary(report)


def head(finding: Finding, ink: Ink, url: str) -> str:
    """The code, a mark if it is fixable with `--fix`, and the message."""
    code = ink.link(ink.paint(finding.code, str(finding.severity)), url)
    mark = ink.paint("[*]", "fixable") + " " if is_safely_fixable(finding) else ""
    return f"{code} {mark}{ink.visible(finding.message)}"


def summary(report: Report) -> Iterator[str]:
    """The number of findings, how many were fixed, and how many can be."""
    if report.show_fixes:
        yield from fixes(report.fixed, report)
    if not report.findings and not report.fixed:
        yield "All checks passed!\n"
        return
    severities = Counter(finding.severity for finding in (*report.findings, *report.fixed))
    counts = [
        f"{severities[severity]} {severity}{'s' * (severities[severity] > 1)}"
        for severity in sorted(Severity, reverse=True)
        if severities[severity]
    ]
    done = f" ({len(report.fixed)} fixed, {len(report.findings)} remaining)" * bool(report.fixed)
    yield f"Found {', '.join(counts)}{done}.\n"

    levels = Counter(finding.fix.applicability for finding in report.findings if finding.fix)
    safe, unsafe = levels[Applicability.SAFE], levels[Applicability.UNSAFE]
    if safe:
        more = f" ({unsafe} more with `--unsafe-fixes`)" * (unsafe > 0)
        yield f"{report.ink.paint('[*]', 'fixable')} {safe} fixable with `--fix`{more}.\n"
    elif unsafe:
        yield f"{unsafe} fixable with `--unsafe-fixes`.\n"


def fixes(fixed: Sequence[Finding], report: Report) -> Iterator[str]:
    """The number of fixes by file and rule."""
    if not fixed:
        return
    yield f"Fixed {len(fixed)} finding{'s' * (len(fixed) > 1)}:\n"
    for path in sorted({finding.place.path for finding in fixed}):
        yield f"- {report.ink.paint(report.ink.visible(report.relative(path)), 'strong')}:\n"
        rules = Counter((one.code, one.name) for one in fixed if one.place.path == path)
        for (code, name), count in sorted(rules.items()):
            yield report.ink.visible(f"    {count} × {code} ({name})") + "\n"
    yield "\n"


def is_safely_fixable(finding: Finding) -> bool:
    """True if `--fix` fixes the finding."""
    return finding.fix is not None and finding.fix.applicability is Applicability.SAFE
