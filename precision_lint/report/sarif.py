"""SARIF 2.1.0, the exchange format of static analysis."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from precision_lint.engine import registry
from precision_lint.model.finding import Applicability, Edit, Finding, Place, Position, Severity
from precision_lint.model.rule import Rule
from precision_lint.model.version import __version__
from precision_lint.report.fingerprint import fingerprints
from precision_lint.report.json_report import dumps
from precision_lint.report.model import Report, in_cell
from precision_lint.source.text.text import SourceText

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HOME = "https://github.com/precision-lint/precision-lint"
_ROOT = "SRCROOT"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}

Json = dict[str, object]


def render(report: Report) -> Iterator[str]:
    """One run with all findings."""
    codes = sorted({finding.code for finding in report.findings})
    run = {
        "tool": {
            "driver": {
                "name": "precision-lint",
                "version": __version__,
                "informationUri": _HOME,
                "rules": [_rule(registry.rule(code)) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": _file_uri(report.root).rstrip("/") + "/"}},
        "results": [
            _result(finding, codes.index(finding.code), mark, report)
            for finding, mark in zip(report.findings, fingerprints(report), strict=True)
        ],
    }
    yield dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> Json:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "helpUri": rule.url,
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Finding, rule_index: int, fingerprint: str, report: Report) -> Json:
    message = finding.message + in_cell(finding.place)
    text = f"{message}\n{finding.why}" if finding.why else message
    result: Json = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": _location(finding.place, report)}],
        "partialFingerprints": {"precisionLint/v1": fingerprint},
        "properties": {"confidence": str(finding.confidence)},
    }
    if finding.related:
        result["relatedLocations"] = [
            {
                "id": index,
                "physicalLocation": _location(related.place, report),
                "message": {"text": related.message + in_cell(related.place)},
            }
            for index, related in enumerate(finding.related)
        ]
    if fixes := _fixes(finding, report):
        result["fixes"] = fixes
    return result


def _fixes(finding: Finding, report: Report) -> list[Json]:
    """The fix, if an editor may apply it; display-only fixes are left out."""
    fix, source = finding.fix, report.sources.get(finding.place.path)
    if fix is None or fix.applicability is Applicability.DISPLAY or not fix.edits or source is None:
        return []
    text, edits = source.in_file(fix.edits)
    is_unsafe = fix.applicability is Applicability.UNSAFE
    change = {
        "artifactLocation": _artifact(finding.place.path, report),
        "replacements": [_replacement(edit, text) for edit in edits],
    }
    return [
        {
            "description": {"text": f"{fix.message} (unsafe)" if is_unsafe else fix.message},
            "artifactChanges": [change],
        }
    ]


def _replacement(edit: Edit, source: SourceText) -> Json:
    replacement: Json = {
        "deletedRegion": _region(source.position(edit.span.start), source.position(edit.span.end))
    }
    if edit.content:
        replacement["insertedContent"] = {"text": edit.content}
    return replacement


def _location(place: Place, report: Report) -> Json:
    return {
        "artifactLocation": _artifact(place.path, report),
        "region": _region(*place.in_file),
    }


def _region(start: Position, end: Position) -> Json:
    return {
        "startLine": start.row,
        "startColumn": start.column,
        "endLine": end.row,
        "endColumn": end.column,
    }


def _artifact(path: Path, report: Report) -> Json:
    relative = report.relative(path)
    if os.path.isabs(relative):
        return {"uri": _file_uri(Path(relative))}
    return {"uri": _quoted(relative), "uriBaseId": _ROOT}


def _file_uri(path: Path) -> str:
    return "file://" + _quoted(path.as_posix())


def _quoted(path: str) -> str:
    """A path for a URI, with the bytes of the file system kept even if they are not UTF-8."""
    return quote(os.fsencode(path))
