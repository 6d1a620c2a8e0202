"""The promises that are kept while fixes are applied, against rules that break them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from precision_lint.engine.check import Checked
from precision_lint.engine.fixing import Fixed, fix
from precision_lint.model.finding import (
    Applicability,
    Edit,
    Finding,
    Fix,
    Related,
    Span,
    apply_edits,
)
from precision_lint.project.discovery import Kind
from precision_lint.source.text.text import SourceText
from tests import cpu_time
from tests.engine.making import PATH, finding, replacing, source, together

Check = Callable[[SourceText], Checked]


def fixed(content: str | SourceText, check: Check, kind: Kind = "python") -> Fixed:
    text = source(content) if isinstance(content, str) else content
    return fix(text, kind, check(text), check, Applicability.SAFE)


# P1: what parses keeps parsing


@pytest.mark.parametrize(
    ("kind", "content", "broken"),
    [
        ("python", "a = bad\nb = bad\n", "("),
        ("python", "a = bad\n", "\n  x"),
        ("python", "a = bad\n", "\x00"),
        ("yaml", "a: bad\nb: bad\n", "[1"),
        ("json", '{"a": bad}', "]"),
        ("toml", "a = 1 # bad\n", "\n="),
        ("shell", "A='x' # bad\n", "\nB='"),
    ],
)
def test_what_does_not_parse_is_dropped(kind: Kind, content: str, broken: str) -> None:
    after = fixed(content.replace("{bad", "{1"), replacing("bad", broken), kind)
    assert after.text.text == content
    assert after.applied == ()
    assert after.left.findings


def test_a_broken_fix_takes_no_sound_one_with_it() -> None:
    check = together(replacing("bad", "good"), replacing("worse", "(", code="MP102"))
    after = fixed("a = bad\nb = worse\nc = bad\nd = worse\ne = bad\n", check)
    assert after.text.text == "a = good\nb = worse\nc = good\nd = worse\ne = good\n"
    assert [row.code for row in after.applied] == ["MP101"] * 3
    assert [row.code for row in after.left.findings] == ["MP102"] * 2


def test_many_fixes_around_broken_ones_take_few_checks() -> None:
    calls = 0
    check = together(replacing("bad", "good"), replacing("worse", "(", code="MP102"))

    def counted(text: SourceText) -> Checked:
        nonlocal calls
        calls += 1
        return check(text)

    content = "".join(f"a{row} = {'worse' if row % 250 == 77 else 'bad'}\n" for row in range(1000))
    after = fixed(content, counted)
    assert after.text.text == content.replace("bad", "good")
    assert calls < 100


def test_thousands_of_fixes_are_chosen_in_time() -> None:
    content = "".join(f"a{row} = bad\n" for row in range(6_000))
    with cpu_time.at_most(10):  # it takes 2 s
        after = fixed(content, replacing("bad", "good"))
    assert after.text.text == content.replace("bad", "good")


# P2: a second time changes nothing


def test_rounds_go_on_until_no_fix_is_left() -> None:
    def check(text: SourceText) -> Checked:
        depth = text.text.count("bad(")
        spans = [Span(4 + 4 * level, len(text.text) - 1 - level) for level in range(depth)]
        edits = [Edit(span, text.text[span.start + 4 : span.end - 1]) for span in spans]
        rows = [finding(text, *row) for row in zip(spans, edits, strict=True)]
        return Checked(tuple(rows), text=text)

    after = fixed("a = bad(bad(bad(1)))\n", check)
    assert after.text.text == "a = 1\n"
    assert len(after.applied) == 3


@pytest.mark.parametrize(
    "check",
    [
        together(replacing("one", "two"), replacing("two", "one", code="MP102")),
        replacing(r"one", "one + one"),
        replacing(r"one|two", lambda match: "two" if match[0] == "one" else "one"),
    ],
    ids=["two rules", "growing", "one rule"],
)
def test_without_an_end_the_text_stays(check: Check) -> None:
    after = fixed("a = one\n", check)
    assert after.text.text == "a = one\n"
    assert after.applied == ()


def test_without_an_end_in_many_rounds_the_text_stays() -> None:
    count = replacing(r"\d+", lambda match: str(int(match[0]) + 1))
    after = fixed("a = 0\n", count)
    assert after.text.text == "a = 0\n"
    assert after.applied == ()


def test_a_fix_that_changes_nothing_ends() -> None:
    after = fixed("a = bad\n", replacing("bad", "bad"))
    assert (after.text.text, after.applied) == ("a = bad\n", ())


# P3: only the edited spans change


@pytest.mark.parametrize(
    "text",
    [
        source("a = bad\r\nb = bad\r\n"),
        source("a = bad\rb = 1\n\fc = bad\r\n"),
        source("if x:\n\ta = bad  \n\n\f\n"),
        source("a = bad"),
        SourceText(PATH, "a = 'é' + bad\n", bom=b"\xef\xbb\xbf"),
        SourceText(PATH, "# coding: latin-1\na = 'é' + bad\n", "iso-8859-1"),
    ],
    ids=["crlf", "mixed", "tabs", "no final newline", "bom", "latin-1"],
)
def test_bytes_outside_stay(text: SourceText) -> None:
    after = fixed(text, replacing("bad", "good"))
    assert after.text.to_bytes() == text.to_bytes().replace(b"bad", b"good")


def test_what_the_encoding_cannot_hold_is_refused() -> None:
    text = SourceText(PATH, "# coding: latin-1\na = bad\n", "iso-8859-1")
    assert fixed(text, replacing("bad", "'→'")).text == text


def test_the_encoding_cookie_stays_where_it_counts() -> None:
    text = SourceText(PATH, "#!python\n# coding: latin-1\na = 'é'\n", "iso-8859-1")
    assert fixed(text, replacing("#!python", "#!python\nimport x")).text == text


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(Span(4, 7), "1"), Edit(Span(5, 9), "2")],
        [Edit(Span(4, 9), "1"), Edit(Span(5, 6), "2")],
        [Edit(Span(7, 4), "1")],
        [Edit(Span(-3, 2), "1")],
        [Edit(Span(4, 99), "1")],
        [Edit(Span(99, 99), "1")],
    ],
    ids=["overlap", "nested", "backwards", "before", "behind", "insert behind"],
)
def test_edits_that_are_no_edits_of_this_text(edits: list[Edit]) -> None:
    def check(text: SourceText) -> Checked:
        return Checked((finding(text, Span(4, 7), *edits),), text=text)

    assert fixed("a = bad + 1\n", check).text.text == "a = bad + 1\n"


# P4: no comment is lost


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("python", "a = (1 +  # why\n     2)\n"),
        ("yaml", "a: 1\n# why\nb: 1\n"),
        ("json", '{"a": 1, // why\n"b": 1}'),
        ("json", '{"a": 1, /* why */ "b": 1}'),
        ("toml", "a = 1\n# why\nb = 1\n"),
        ("shell", "A=1\n# why\nB=1\n"),
    ],
)
def test_a_lost_comment_refuses_the_fix(kind: Kind, content: str) -> None:
    lost = replacing(r"(?:#|//)? ?why\n| */\* why \*/|# why\n", "" if kind == "json" else "\n")
    check = together(lost)
    after = fixed(content, check, kind)
    assert after.text.text == content
    assert after.left.findings


def test_a_comment_that_is_swallowed_by_a_string_is_lost() -> None:
    assert fixed("a = bad\n# why\n", replacing("bad\n# why", "'''\n# why'''")).applied == ()


def test_a_comment_may_move() -> None:
    after = fixed("a = bad  # why\n", replacing("bad  # why", "(  # why\n    1\n)"))
    assert after.text.text == "a = (  # why\n    1\n)\n"


def test_what_looks_like_a_comment_in_a_string_may_go() -> None:
    after = fixed("a = '# bad'\n", replacing("'# bad'", "''"))
    assert after.text.text == "a = ''\n"


def test_only_a_suppression_that_is_removed_may_be_lost() -> None:
    removing = replacing("  # noqa: MP101", "", code="MP901")
    assert fixed("a = 1  # noqa: MP101\n", removing).text.text == "a = 1\n"
    greedy = replacing("  # noqa: MP101\n# why", "", code="MP901")
    assert fixed("a = 1  # noqa: MP101\n# why\n", greedy).applied != ()
    other = together(removing, replacing("b # why", "b", code="MP101"))
    after = fixed("a = 1  # noqa: MP101\nb # why\n", other)
    assert after.text.text == "a = 1\nb # why\n"


def test_suppressions_go_along_with_other_fixes() -> None:
    check = together(replacing("  # noqa: MP101", "", code="MP901"), replacing("bad", "good"))
    content = "".join(f"a{row} = bad\nb = 1  # noqa: MP101\n" for row in range(300))
    after = fixed(content, check)
    assert after.text.text == content.replace("bad", "good").replace("  # noqa: MP101", "")


# P6: no finding is caused


def first(check: Check) -> Check:
    """A rule that reports only the first cause of a problem, so that the others stay hidden."""

    def only_first(text: SourceText) -> Checked:
        return Checked(check(text).findings[:1], text=text)

    return only_first


def test_what_a_fix_uncovers_is_fixed_as_well() -> None:
    after = fixed("a = bad\nb = bad\nc = bad\n", first(replacing("bad", "good")))
    assert after.text.text == "a = good\nb = good\nc = good\n"
    assert len(after.applied) == 3


def test_what_a_fix_uncovers_is_reported() -> None:
    check = first(together(replacing("bad", "good", "MP502"), replacing("b = worse", "(", "MP503")))
    after = fixed("a = bad\nb = worse\n", check)
    assert after.text.text == "a = good\nb = worse\n"
    assert [row.code for row in after.left.findings] == ["MP503"]


def test_a_fix_at_the_root_cures_what_follows_from_it() -> None:
    def check(text: SourceText) -> Checked:
        if "load()" not in text.text:
            return Checked(text=text)
        load, use = Span(4, 10), Span(text.text.index("sum"), text.text.index("sum") + 3)
        end = Edit(Span(use.end, use.end), ".float()")
        far = finding(text, Span(use.start + 1, use.end), Edit(load, "wide()"), code="MP507")
        return Checked((finding(text, use, end, code="MP507"), far), text=text)

    after = fixed("a = load()\nb = sum(a)\n", check)
    assert after.text.text == "a = wide()\nb = sum(a)\n"
    assert len(after.applied) == 2


def test_a_finding_of_another_rule_is_caused() -> None:
    check = first(together(replacing("bad", "good"), replacing("worse", "better", code="MP215")))
    after = fixed("a = bad\nb = worse\n", check)
    assert after.text.text == "a = bad\nb = worse\n"


def test_a_finding_that_names_what_a_fix_wrote_is_caused() -> None:
    def check(text: SourceText) -> Checked:
        if "good" not in text.text:
            return replacing("bad", "good")(text)
        start = text.text.index("good")
        related = Related(text.place(Span(start, start + 4)), "since it is good here")
        found = finding(text, Span(len(text.text) - 2, len(text.text) - 1))
        return Checked((replace(found, related=(related,)),), text=text)

    assert fixed("a = bad\nb = 1\n", check).text.text == "a = bad\nb = 1\n"


def test_a_fix_that_is_left_out_is_not_called_fixable() -> None:
    check = together(replacing("bad", "("), replacing("minor", "good", code="MP102"))
    after = fixed("a = bad\nb = minor\n", check)
    assert after.text.text == "a = bad\nb = good\n"
    (left,) = after.left.findings
    assert left.fix is not None
    assert left.fix.applicability is Applicability.DISPLAY
    assert "left out" in left.fix.message


def test_a_fix_that_is_left_out_makes_room_for_another() -> None:
    check = together(replacing(r"a = bad", "("), replacing("bad", "good", code="MP102"))
    assert fixed("a = bad\n", check).text.text == "a = good\n"


def test_a_fix_that_adds_a_finding_is_refused() -> None:
    check = together(replacing("bad", "worse"), replacing("worse", "worse", code="MP102"))
    after = fixed("a = bad\n", check)
    assert after.text.text == "a = bad\n"
    assert [row.code for row in after.left.findings] == ["MP101"]


def test_a_fix_that_moves_its_finding_elsewhere_is_refused() -> None:
    check = replacing(r"bad\nb = 1|bad", lambda match: "1\nb = bad" if "b =" in match[0] else "1")
    after = fixed("a = bad\nb = 1\n", check)
    assert after.text.text == "a = bad\nb = 1\n"


def test_findings_that_were_there_may_stay() -> None:
    def check(text: SourceText) -> Checked:
        unfixable = [finding(text, Span(0, 1), code="MP102")]
        return Checked((*unfixable, *replacing("bad", "good")(text).findings), text=text)

    after = fixed("a = bad\n", check)
    assert after.text.text == "a = good\n"
    assert [row.code for row in after.left.findings] == ["MP102"]


# Several fixes at once


def test_overlapping_fixes_take_turns() -> None:
    check = together(
        replacing(r"f\(g\(1\)\)", "g(1)"),
        replacing(r"g\(1\)(?=\))", "1", code="MP102"),
        replacing(r"f\(1\)", "1"),
        replacing(r"^a = g\(1\)", "a = 1", code="MP102"),
    )
    after = fixed("a = f(g(1))\n", check)
    assert after.text.text == "a = 1\n"


def test_fixes_share_an_import() -> None:
    def check(text: SourceText) -> Checked:
        found = []
        add = () if "import good" in text.text else (Edit(Span(0, 0), "import good\n"),)
        for row in replacing("bad", "good.good")(text).findings:
            assert row.fix is not None
            found.append(finding(text, row.place.span, *add, *row.fix.edits))
        return Checked(tuple(found), text=text)

    after = fixed("a = bad\nb = bad\n", check)
    assert after.text.text == "import good\na = good.good\nb = good.good\n"
    assert len(after.applied) == 2


def test_insertions_at_one_place_keep_the_order_they_are_given() -> None:
    edits = [Edit(Span(4, 4), part) for part in "bdace"]
    assert apply_edits("a = \n", edits) == "a = bdace\n"

    def check(text: SourceText) -> Checked:
        found = [finding(text, Span(4, 5), *edits)] if text.text == "a = 1\n" else []
        return Checked(tuple(found), text=text)

    assert fixed("a = 1\n", check).text.text == "a = bdace1\n"


@pytest.mark.parametrize("level", [Applicability.SAFE, Applicability.UNSAFE])
@pytest.mark.parametrize("offered", list(Applicability))
def test_only_what_was_asked_for_is_applied(offered: Applicability, level: Applicability) -> None:
    def check(text: SourceText) -> Checked:
        rows = replacing("bad", "good")(text).findings
        fixes = [replace(row.fix, applicability=offered) for row in rows if row.fix is not None]
        return Checked(tuple(map(_with_fix, rows, fixes)), text=text)

    text = source("a = bad\n")
    after = fix(text, "python", check(text), check, level)
    assert after.text.text == ("a = good\n" if offered >= level else "a = bad\n")


def _with_fix(row: Finding, offered: Fix) -> Finding:
    return replace(row, fix=offered)
