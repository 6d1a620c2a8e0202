"""The report for people, as they see it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from precision_lint.model.finding import Applicability, Confidence, Edit, Fix, Place, Position, Span


def shown(text: str) -> str:
    return dedent(text).removeprefix("\n")


def test_a_finding_with_everything(code, render, rules):
    model = code("train.py", "import torch\n\nmodel = load(dtype=torch.bfloat16)\n")
    text = "import torch\n\nwith torch.no_grad():\n    vecs = model(ids).numpy()\nreturn vecs\n"
    host = code("src/host.py", text)
    finding = host.finding(
        "model(ids).numpy()",
        confidence=Confidence.MEDIUM,
        why="TypeError: Got unsupported ScalarType BFloat16",
        fix=host.replacing((".numpy", ".float().numpy")),
        related=[model.related("torch.bfloat16", "bf16 enters here")],
    )
    other = host.finding(
        "return vecs",
        "the mask overflows",
        rule=rules[1],
        fix=host.replacing(("vecs\n", "None\n"), applicability=Applicability.UNSAFE),
    )
    assert render("full", [finding, other], model, host) == shown("""
        MP101 [*] bfloat16 reaches NumPy
         --> src/host.py:4:12
          |
        3 | with torch.no_grad():
        4 |     vecs = model(ids).numpy()
          |            ^^^^^^^^^^^^^^^^^^
        5 | return vecs
          |
         ::: train.py:3:20: bf16 enters here
          |
        3 | model = load(dtype=torch.bfloat16)
          |                    --------------
          |
          = why: TypeError: Got unsupported ScalarType BFloat16
          = confidence: medium
        help: Convert to float32 first
          |
        3 | with torch.no_grad():
          -     vecs = model(ids).numpy()
        4 +     vecs = model(ids).float().numpy()
        5 | return vecs
          |

        MP301 the mask overflows
         --> src/host.py:5:1
          |
        4 |     vecs = model(ids).numpy()
        5 | return vecs
          | ^^^^^^^^^^^
          |
        help: Convert to float32 first (unsafe: --unsafe-fixes)
          |
        4 |     vecs = model(ids).numpy()
          - return vecs
        5 + return None
          |

        Found 1 error, 1 warning.
        [*] 1 fixable with `--fix` (1 more with `--unsafe-fixes`).
    """)


def test_nothing_found(render):
    assert render("full", []) == "All checks passed!\n"
    assert render("concise", []) == "All checks passed!\n"


@pytest.mark.parametrize(
    ("text", "snippet", "expected"),
    [
        pytest.param(
            "é = f('日本', x)\n",
            "x",
            """
              |
            1 | é = f('日本', x)
              |               ^
              |
            """,
            id="wide-before",
        ),
        pytest.param(
            "f('日本🔥')\n",
            "'日本🔥'",
            """
              |
            1 | f('日本🔥')
              |   ^^^^^^^^
              |
            """,
            id="wide-under",
        ),
        pytest.param(
            "e\u0301 = x\n",
            "x",
            """
              |
            1 | e\u0301 = x
              |     ^
              |
            """,
            id="combining",
        ),
        pytest.param(
            "if a:\n\tb =\tx\n",
            "x",
            """
              |
            1 | if a:
            2 |     b =    x
              |            ^
              |
            """,
            id="tabs",
        ),
        pytest.param(
            "a\r\nx\r\nb\r\n",
            "x",
            """
              |
            1 | a
            2 | x
              | ^
            3 | b
              |
            """,
            id="crlf",
        ),
        pytest.param(
            "a\nx",
            "x",
            """
              |
            1 | a
            2 | x
              | ^
              |
            """,
            id="no-final-newline",
        ),
        pytest.param(
            "",
            "",
            """
              |
            1 |
              | ^
              |
            """,
            id="empty-file",
        ),
        pytest.param(
            "x = 1\n\n",
            "\n\n",
            """
              |
            1 |   x = 1
              |  ______^
            2 | |
              | |_^
              |
            """,
            id="line-ends-only",
        ),
        pytest.param(
            "a = 1\nb = f(\n    1,\n)\nc\n",
            "f(\n    1,\n)",
            """
              |
            1 |   a = 1
            2 |   b = f(
              |  _____^
            3 | |     1,
            4 | | )
              | |_^
            5 |   c
              |
            """,
            id="several-rows",
        ),
        pytest.param(
            "    f(\n        日)\n",
            "f(\n        日)\n",
            """
              |
            1 | /     f(
            2 | |         日)
              | |___________^
              |
            """,
            id="several-rows-from-their-start",
        ),
        pytest.param(
            "f(\n1\n2\n3\n4\n5\n6\n7\n8\n9\n)\n",
            "f(\n1\n2\n3\n4\n5\n6\n7\n8\n9\n)",
            """
               |
             1 | / f(
             2 | | 1
             3 | | 2
               | | …
             9 | | 8
            10 | | 9
            11 | | )
               | |_^
               |
            """,
            id="many-rows",
        ),
    ],
)
def test_frames(code, body, text, snippet, expected):
    source = code("a.py", text)
    lines = body(source.finding(snippet), source).splitlines(keepends=True)
    assert "".join(lines[2:]) == shown(expected)


def test_a_long_row_is_cut_around_the_place(code, body):
    source = code("a.py", "short\n" + "a" * 500 + "BAD" + "b" * 500 + "\n")
    frame = body(source.finding("BAD"), source).splitlines()[3:6]
    assert frame == [
        "1 | …",
        f"2 | …{'a' * 40}BAD{'b' * 77}…",
        f"  |  {' ' * 40}^^^",
    ]


def test_a_place_longer_than_what_is_shown(code, body):
    source = code("a.py", "f(" + "a" * 500 + ")\n")
    frame = body(source.finding("a" * 500), source).splitlines()[3:5]
    assert frame == [f"1 | f({'a' * 118}…", f"  |   {'^' * 118}"]


def test_a_long_row_of_a_fix_is_cut_around_the_change(code, body):
    source = code("a.py", "a" * 500 + "BAD" + "b" * 500 + "\n")
    finding = source.finding("BAD", fix=source.replacing(("BAD", "GOOD")))
    assert body(finding, source).splitlines()[-3:] == [
        f"  - …{'a' * 40}BAD{'b' * 77}…",
        f"1 + …{'a' * 40}GOOD{'b' * 76}…",
        "  |",
    ]


def test_no_text_no_frame(code, body):
    source = code("a.py", "x\n")
    gone = Place(Path("/elsewhere/b.py"), Span(7, 8), Position(3, 4), Position(3, 5))
    finding = source.finding("x", fix=source.replacing(("x", "y")), why="it fails")
    finding = replace(finding, place=gone, related=(source.related("x", "as here"),))
    assert body(finding) == shown("""
        MP101 [*] bfloat16 reaches NumPy
         --> /elsewhere/b.py:3:4
         ::: a.py:1:1: as here
          = why: it fails
        help: Convert to float32 first
    """)


@pytest.mark.parametrize("snippet", ["x", "x\nb\n"])
def test_text_that_no_longer_has_the_place(code, body, snippet):
    finding = code("a.py", "a\n\nx\nb\n").finding(snippet)
    assert body(finding, code("a.py", "a\n")) == shown("""
        MP101 bfloat16 reaches NumPy
         --> a.py:3:1
    """)


def test_terminal_commands_and_markup_are_shown_not_obeyed(code, body):
    source = code("a\x1b]0;.py", "f('\x1b[31m\x07', '\u202e[bold]') ; x\n")
    finding = source.finding("x", "\x9bm and\nthen [red]", why="\x00\udc80")
    assert body(finding, source, color=False) == shown(r"""
        MP101 \x9bm and\nthen [red]
         --> a\x1b]0;.py:1:36
          |
        1 | f('\x1b[31m\x07', '\u202e[bold]') ; x
          |                                     ^
          |
          = why: \x00\udc80
    """).replace("1:36", f"1:{source.text.index('x') + 1}")
    colored = body(finding, source, color=True)
    assert "\x1b[31m\x07" not in colored
    assert "\u202e" not in colored


def test_fixes_far_apart(code, body):
    source = code("a.py", "import os\n\n\n\n\na\nb\nx = 1\n\nlast\n")
    edits = (Edit(source.span("1"), "2"), Edit(Span(0, 0), "import torch\n"))
    finding = source.finding("x", fix=Fix(Applicability.DISPLAY, "Think", edits))
    assert body(finding, source).partition("help: ")[2] == shown("""
        Think (not applied)
          |
        1 + import torch
        2 | import os
          | …
        8 | b
          - x = 1
        9 + x = 2
          |
    """)


def test_fixes_close_together_are_one_hunk(code, body):
    source = code("a.py", "a = 1\nkept\nb = 2\r\n")
    finding = source.finding("a", fix=source.replacing(("2", "20"), ("1", "10")))
    assert body(finding, source).partition("help: ")[2] == shown("""
        Convert to float32 first
          |
          - a = 1
        1 + a = 10
        2 | kept
          - b = 2
        3 + b = 20
          |
    """)


def test_a_fix_that_removes_rows(code, body):
    source = code("a.py", "a\nx = (\n  1)\nb\nc")
    finding = source.finding("x", fix=source.replacing(("x = (\n  1)\n", "")))
    assert body(finding, source).partition("help: ")[2] == shown("""
        Convert to float32 first
          |
        1 | a
          - x = (
          -   1)
        2 | b
          |
    """)


@pytest.mark.parametrize("pairs", [(), (("a", "a"),), (("\n", "\r\n"),)])
def test_a_fix_that_shows_no_difference_has_no_diff(code, body, pairs):
    source = code("a.py", "a\n")
    finding = source.finding("a", fix=source.replacing(*pairs))
    assert body(finding, source).endswith("  |\nhelp: Convert to float32 first\n")


def test_a_stream_in_ascii(code, body):
    source = code("a.py", "f('日') + x" + " " * 200 + "\n")
    finding = source.finding("x", "float32 → bfloat16 … 日", why="α ≥ 1")
    out = body(finding, source, encoding="ascii")
    lines = out.splitlines()
    assert lines[0] == r"MP101 float32 -> bfloat16 ... \u65e5"
    assert lines[3] == r"1 | f('\u65e5') + x" + " " * 110 + "..."
    assert lines[4] == "  | " + " " * 14 + "^"
    assert lines[6] == r"  = why: \u03b1 >= 1"


def test_colour_and_link(code, body):
    source = code("a.py", "x\n")
    finding = source.finding("x", fix=source.replacing(("x", "y")))
    lines = body(finding, source, color=True).splitlines()
    url = (
        "https://github.com/precision-lint/precision-lint/blob/main/docs/rules/numpy-on-bfloat16.md"
    )
    link = f"\x1b]8;;{url}\x1b\\\x1b[1;31mMP101\x1b[0m\x1b]8;;\x1b\\"
    assert lines[0] == f"{link} \x1b[36m[*]\x1b[0m bfloat16 reaches NumPy"
    assert "\x1b[1;31m^\x1b[0m" in lines[4]
    assert "\x1b[32my\x1b[0m" in lines[-2]


@pytest.mark.parametrize(
    ("applicabilities", "expected"),
    [
        ((None, None), "Found 2 errors.\n"),
        (("SAFE", "SAFE"), "Found 2 errors.\n[*] 2 fixable with `--fix`.\n"),
        (("UNSAFE", "DISPLAY"), "Found 2 errors.\n1 fixable with `--unsafe-fixes`.\n"),
        (
            ("SAFE", "UNSAFE"),
            "Found 2 errors.\n[*] 1 fixable with `--fix` (1 more with `--unsafe-fixes`).\n",
        ),
    ],
)
def test_summary(code, render, applicabilities, expected):
    source = code("a.py", "x\n")
    findings = [
        source.finding("x", fix=kind and Fix(Applicability[kind], "Do", ()))
        for kind in applicabilities
    ]
    assert render("concise", findings).endswith(expected)
    assert render("full", findings).endswith("\n\n" + expected)
