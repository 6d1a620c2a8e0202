"""JUnit XML: a suite for each file, a failed case for each finding."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from xml.etree import ElementTree

from precision_lint.model.finding import Finding
from precision_lint.model.regex import regex
from precision_lint.report.model import Report

_ILLEGAL = regex(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> Iterator[str]:
    """The document; without findings it has one passed case, because empty reports are rejected."""
    count = len(report.findings)
    root = _element(None, "testsuites", name="precision-lint", **_counts(count or 1, count))
    for path, group in groupby(report.findings, key=lambda finding: finding.place.path):
        findings = list(group)
        counts = _counts(len(findings), len(findings))
        suite = _element(root, "testsuite", name=report.relative(path), **counts)
        for finding in findings:
            _case(suite, finding, report)
    if not count:
        suite = _element(root, "testsuite", name="precision-lint", **_counts(1, 0))
        _element(suite, "testcase", name="no findings", classname="precision-lint")
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="us-ascii", xml_declaration=True)
    yield document.decode("ascii") + "\n"


def _case(suite: ElementTree.Element, finding: Finding, report: Report) -> None:
    row = finding.place.in_file[0].row
    path = report.relative(finding.place.path)
    case = _element(
        suite,
        "testcase",
        name=f"{finding.code} {finding.name}",
        classname=path,
        file=path,
        line=str(row),
    )
    failure = _element(case, "failure", type=str(finding.severity), message=finding.message)
    lines = (f"{report.position(finding.place)}: {finding.code} {finding.message}", finding.why)
    # The text is written as it is: a line end in a name must not begin a line of its own.
    failure.text = _legal("\n".join(report.ink.visible(line) for line in lines if line))


def _counts(tests: int, failures: int) -> dict[str, str]:
    return {"tests": str(tests), "failures": str(failures), "errors": "0"}


def _element(
    parent: ElementTree.Element | None, tag: str, **attributes: str
) -> ElementTree.Element:
    legal = {key: _legal(value) for key, value in attributes.items()}
    if parent is None:
        return ElementTree.Element(tag, legal)
    return ElementTree.SubElement(parent, tag, legal)


def _legal(text: str) -> str:
    """`text` without the characters that XML does not allow."""
    return _ILLEGAL.sub("", text)
