"""JSON: the keys, their order and what they hold."""

from __future__ import annotations

import json

import pytest

from precision_lint.model.finding import Applicability, Confidence

URL = "https://github.com/precision-lint/precision-lint/blob/main/docs/rules/numpy-on-bfloat16.md"


@pytest.fixture
def source(code):
    return code("src/日.py", "import os\r\nx = '🔥'.numpy()\r\n")


@pytest.fixture
def finding(source):
    return source.finding(
        ".numpy()",
        confidence=Confidence.MEDIUM,
        fix=source.replacing(
            (".numpy", ".float().numpy"),
            ("import os\r\n", ""),
            applicability=Applicability.UNSAFE,
        ),
        related=[source.related("os", "bf16 enters here")],
    )


def test_record(render, source, finding):
    [record] = json.loads(render("json", [finding], source))
    expected = {
        "code": "MP101",
        "name": "numpy-on-bfloat16",
        "message": "bfloat16 reaches NumPy",
        "severity": "error",
        "confidence": "medium",
        "filename": "/repo/src/日.py",
        "cell": None,
        "location": {"row": 2, "column": 8},
        "end_location": {"row": 2, "column": 16},
        "noqa_row": 2,
        "url": URL,
        "fix": {
            "applicability": "unsafe",
            "message": "Convert to float32 first",
            "edits": [
                {
                    "content": ".float().numpy",
                    "cell": None,
                    "location": {"row": 2, "column": 8},
                    "end_location": {"row": 2, "column": 14},
                },
                {
                    "content": "",
                    "cell": None,
                    "location": {"row": 1, "column": 1},
                    "end_location": {"row": 2, "column": 1},
                },
            ],
        },
        "related": [
            {
                "filename": "/repo/src/日.py",
                "cell": None,
                "location": {"row": 1, "column": 8},
                "message": "bf16 enters here",
            }
        ],
    }
    assert record == expected
    assert list(record) == list(expected)


def test_lines(render, source, finding):
    lines = render("json-lines", [finding, finding], source).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(
        render("json", [finding, finding], source)
    )


def test_nothing_found(render):
    assert render("json", []) == "[]\n"
    assert render("json-lines", []) == ""


def test_no_fix_without_text(render, source, finding):
    [record] = json.loads(render("json", [finding]))
    assert record["fix"] is None


def test_text_that_utf8_cannot_hold(render, source):
    text = render("json", [source.finding("x", "a\udcff🔥\x00")], source, encoding="ascii")
    assert json.loads(text)[0]["message"] == "a\ufffd🔥\x00"
