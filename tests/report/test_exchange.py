"""GitHub, GitLab and JUnit: read back as those who receive them read them."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest


@pytest.fixture
def source(code):
    return code("src/a,b:c%.py", "x = f(\n1)\n")


def test_github(render, source, rules):
    findings = [
        source.finding("x", "100% lost\r\n::error::no", why="it, raises: always"),
        source.finding("f(\n1)", "rounds", rule=rules[1]),
        source.finding("x", "advice", rule=rules[2]),
    ]
    assert render("github", findings, source).splitlines() == [
        "::error title=precision-lint (MP101),file=/repo/src/a%2Cb%3Ac%25.py,line=1,endLine=1,"
        "col=1,endColumn=2::src/a,b:c%25.py:1:1: MP101 100%25 lost\\r\\n::error::no"
        "%0Ait, raises: always",
        "::warning title=precision-lint (MP301),file=/repo/src/a%2Cb%3Ac%25.py,line=1,endLine=2"
        "::src/a,b:c%25.py:1:5: MP301 rounds",
        "::notice title=precision-lint (MP701),file=/repo/src/a%2Cb%3Ac%25.py,line=1,endLine=1,"
        "col=1,endColumn=2::src/a,b:c%25.py:1:1: MP701 advice",
    ]


def test_github_says_nothing_of_nothing(render):
    assert render("github", []) == ""


def test_github_in_ascii(render, source):
    text = render("github", [source.finding("x", "a → 日")], encoding="ascii")
    assert text.endswith(": MP101 a -> \\u65e5\n")


def test_gitlab(render, source, rules):
    findings = [source.finding("f(\n1)"), source.finding("x", rule=rules[1])]
    [first, second] = json.loads(render("gitlab", findings, source))
    assert first.pop("fingerprint") != second["fingerprint"]
    assert first == {
        "check_name": "numpy-on-bfloat16",
        "description": "MP101: bfloat16 reaches NumPy",
        "severity": "major",
        "location": {
            "path": "src/a,b:c%.py",
            "positions": {
                "begin": {"line": 1, "column": 5},
                "end": {"line": 2, "column": 3},
            },
        },
    }
    assert second["severity"] == "minor"
    assert json.loads(render("gitlab", [])) == []


def test_junit(render, source, code):
    other = code("b.py", "y\n")
    illegal = replace(source.finding("x"), message="a\x00<&\x1b\ufffe\udc80→", why="b\n]]>")
    text = render("junit", [illegal, source.finding("f"), other.finding("y")], source, other)
    assert text.isascii()
    root = ElementTree.fromstring(text)
    assert root.attrib == {
        "name": "precision-lint",
        "tests": "3",
        "failures": "3",
        "errors": "0",
    }
    assert [(suite.get("name"), suite.get("tests")) for suite in root] == [
        ("src/a,b:c%.py", "2"),
        ("b.py", "1"),
    ]
    case = root[0][0]
    assert case.attrib == {
        "name": "MP101 numpy-on-bfloat16",
        "classname": "src/a,b:c%.py",
        "file": "src/a,b:c%.py",
        "line": "1",
    }
    assert case[0].attrib == {"type": "error", "message": "a<&→"}
    assert case[0].text == "src/a,b:c%.py:1:1: MP101 a\\x00<&\\x1b\\udc80→\nb\\n]]>"


def test_junit_without_findings_holds_a_case_that_passed(render):
    root = ElementTree.fromstring(render("junit", []))
    assert root.get("tests") == "1"
    assert root.get("failures") == "0"
    assert [len(case) for case in root.iter("testcase")] == [0]
