"""One line for each finding, and counts."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def findings(code, rules):
    source = code("src/a.py", "é\nx = 1\n")
    fix = source.replacing(("1", "2"))
    return [
        source.finding("é", "mask → -inf", rule=rules[1]),
        source.finding("x", "first", fix=fix),
        source.finding("1", "second\nhalf", fix=fix),
        source.finding("1", "told", rule=rules[2], fix=fix),
        source.finding("=", "third"),
    ]


def test_concise(render, findings):
    assert render("concise", findings, encoding="ascii") == (
        "src/a.py:1:1: MP301 mask -> -inf\n"
        "src/a.py:2:1: MP101 [*] first\n"
        "src/a.py:2:5: MP101 [*] second\\nhalf\n"
        "src/a.py:2:5: MP701 [*] told\n"
        "src/a.py:2:3: MP101 third\n"
        "Found 3 errors, 1 warning, 1 info.\n"
        "[*] 3 fixable with `--fix`.\n"
    )


def test_concise_in_colour(render, findings):
    line = render("concise", findings[:1], color=True).splitlines()[0]
    assert line.startswith("\x1b[1msrc/a.py\x1b[0m:1:1: \x1b]8;;https://")
    assert "\x1b[1;33mMP301\x1b[0m" in line


@pytest.mark.parametrize("format", ["full", "concise"])
def test_statistics(render, findings, format):
    assert render(format, findings, statistics=True) == (
        "3  MP101  [-] numpy-on-bfloat16\n"
        "1  MP301  [ ] mask-beyond-range\n"
        "1  MP701  [*] env-precision-conflict\n"
        "Found 3 errors, 1 warning, 1 info.\n"
        "[*] 3 fixable with `--fix`.\n"
    )


def test_statistics_of_nothing(render):
    assert render("full", [], statistics=True) == "All checks passed!\n"
    assert json.loads(render("json", [], statistics=True)) == []


@pytest.mark.parametrize("format", ["json", "json-lines"])
def test_statistics_in_json(render, findings, format):
    text = render(format, findings, statistics=True)
    if format == "json":
        counts = json.loads(text)
    else:
        counts = [json.loads(line) for line in text.splitlines()]
    assert counts[0] == {
        "code": "MP101",
        "name": "numpy-on-bfloat16",
        "count": 3,
        "fixable": False,
        "fixable_count": 2,
    }
    assert [row["code"] for row in counts] == ["MP101", "MP301", "MP701"]


def test_exchange_formats_have_no_counts(render, findings):
    assert render("gitlab", findings, statistics=True) == render("gitlab", findings)
