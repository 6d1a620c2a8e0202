"""Whatever a file, a message or a path holds, every format stays well-formed and the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

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
from precision_lint.model.formats import FORMATS
from precision_lint.report.diff import diff
from precision_lint.report.ink import Ink
from precision_lint.source.text.text import SourceText

CODES = {
    "MP101": "numpy-on-bfloat16",
    "MP301": "mask-beyond-range",
    "MP701": "env-precision-conflict",
}
PIECES = ["x", " ", "\t", "\n", "\r\n", "\r", "日本", "e\u0301", "👩‍🔬", "\x1b[31m", "\f", "[bold]"]
anything = st.text(st.characters(), max_size=12)
texts = st.lists(st.sampled_from([*PIECES, "\u2028", "a" * 130]) | anything, max_size=25).map(
    "".join
)
paths = st.sampled_from(["a.py", "b c/日.py", "\udce9.yaml", "%,:.py", "../out.py", "a\x1b.py"])


@st.composite
def reports(draw):
    """Findings in one or two files, of which some may have no text at hand."""
    sources = [SourceText(Path("/repo") / draw(paths), draw(texts)) for _ in range(2)]

    def offsets(source, count):
        offset = st.integers(0, len(source.text))
        return sorted(draw(st.lists(offset, min_size=count, max_size=count)))

    def finding(source):
        count = draw(st.integers(0, 3))
        bounds = offsets(source, 2 * count)
        edits = tuple(
            Edit(Span(start, end), draw(anything))
            for start, end in zip(bounds[::2], bounds[1::2], strict=True)
        )
        code = draw(st.sampled_from(sorted(CODES)))
        place = source.place(Span(*offsets(source, 2)))
        return Finding(
            code,
            CODES[code],
            draw(anything),
            draw(st.sampled_from(Severity)),
            draw(st.sampled_from(Confidence)),
            place,
            draw(anything),
            draw(
                st.none() | st.builds(Fix, st.sampled_from(Applicability), anything, st.just(edits))
            ),
            tuple(
                Related(other.place(Span(*offsets(other, 2))), draw(anything))
                for other in draw(st.lists(st.sampled_from(sources), max_size=2))
            ),
            place.start.row,
        )

    findings = [finding(draw(st.sampled_from(sources))) for _ in range(draw(st.integers(0, 4)))]
    known = draw(st.lists(st.sampled_from(sources), max_size=2))
    return sorted(findings, key=lambda item: item.sort_key), known


@given(report=reports(), encoding=st.sampled_from(["utf-8", "ascii", "cp1252"]))
@settings(max_examples=150, deadline=None)
def test_nothing_reaches_the_terminal_raw(render, report, encoding):
    findings, sources = report
    for format in ("full", "concise"):
        text = render(format, findings, *sources, encoding=encoding)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]", text)
        assert text == render(format, findings, *sources, encoding=encoding)
        colored = render(format, findings, *sources, encoding=encoding, color=True)
        bare = re.sub(r"\x1b\[[\d;]+m|\x1b\]8;;[^\x1b]*\x1b\\", "", colored)
        assert _without_trailing_spaces(bare) == _without_trailing_spaces(text)


def _without_trailing_spaces(text):
    return [line.rstrip() for line in text.split("\n")]


@given(report=reports())
@settings(max_examples=150, deadline=None)
def test_programs_can_read_it(render, report):
    findings, sources = report
    written = {format: render(format, findings, *sources, encoding="ascii") for format in FORMATS}
    assert len(json.loads(written["json"])) == len(findings)
    assert [json.loads(line) for line in written["json-lines"].splitlines()] == json.loads(
        written["json"]
    )
    issues = json.loads(written["gitlab"])
    assert len({issue["fingerprint"] for issue in issues}) == len(findings)
    assert written["github"].count("\n") == len(findings)
    failures = list(ElementTree.fromstring(written["junit"]).iter("failure"))
    assert len(failures) == len(findings)


@given(data=st.data(), text=texts)
@settings(max_examples=150, deadline=None)
def test_a_diff_numbers_rows_as_they_are_after_the_fix(data, text):
    ink, source = Ink(False, "utf-8"), SourceText(Path("/repo/a.py"), text)
    offsets = st.lists(st.integers(0, len(text)), min_size=4, max_size=4).map(sorted)
    start, end, later, last = data.draw(offsets)
    first, second = (
        Edit(Span(start, end), data.draw(texts)),
        Edit(Span(later, last), data.draw(texts)),
    )
    kept = text[:start], text[end:later], text[last:]
    after = source.with_text(kept[0] + first.content + kept[1] + second.content + kept[2])
    for row in diff(source, [first, second], ink):
        if row.number is not None and len(line := after.line(row.number)) <= 120:
            assert row.text == ink.visible(line)


@given(report=reports())
@settings(max_examples=60, deadline=None)
def test_sarif_is_valid(render, sarif_schema, report):
    findings, sources = report
    sarif_schema.validate(json.loads(render("sarif", findings, *sources)))
