"""The programs that documents show, and where their statements stand."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from precision_lint.source.python.examples import examples
from precision_lint.source.text.text import SourceText

FENCE = "```"
ANY = re.compile("")


def shown(name: str, text: str) -> list[str]:
    """The programs of a document, written out again."""
    found = examples(SourceText(Path(name), text), ANY)
    return [ast.unparse(example.tree) for example in found]


def markdown(*blocks: str) -> str:
    return "\n".join(f"Words.\n\n{FENCE}python\n{block}\n{FENCE}\n" for block in blocks)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", f"{FENCE}python\nx = f(1)\n{FENCE}\n"),
        ("README.md", f"1. Run\n\n   {FENCE}py\n   x = f(1)\n   {FENCE}\n"),
        ("page.mdx", f"{FENCE}py {{1}}\n>>> x = f(\n...     1)\n5\n{FENCE}\n"),
        ("page.rst", "Use\n\n.. code-block:: python\n    :linenos:\n\n    x = f(1)\n\nThen\n"),
        ("page.rst", "Use\n\n>>> x = f(1)\n>>> # nothing\n3\n"),
        ("a.py", 'def g():\n    """Use.\n\n    >>> x = f(1)\n    """\n'),
        (
            "a.py",
            f'class A:\n    """Use.\n\n    {FENCE}python\n    x = f(1)\n    {FENCE}\n    """\n',
        ),
        (
            "a.py",
            'DOC = """\n    Examples:\n        ```py\n        >>> x = f(1)\n        ```\n"""\n',
        ),
    ],
)
def test_formats(name: str, text: str) -> None:
    assert shown(name, text) == ["x = f(1)"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", f"{FENCE}bash\nx = f(1)\n{FENCE}\n"),
        ("README.md", f"<!--\n{FENCE}python\nx = f(1)\n{FENCE}\n-->\n"),
        ("README.md", "x = f(1)\n"),
        ("a.py", 'x = f(1)\ns = "a >>> b"\n'),
        ("a.py", "# >>> x = f(1)\n"),
        ("page.rst", ".. code-block:: bash\n\n    x = f(1)\n"),
        ("book.ipynb", "{"),
        ("book.ipynb", "[]"),
    ],
)
def test_what_shows_nothing(name: str, text: str) -> None:
    assert "".join(shown(name, text)) == ""


def test_a_notebook_is_one_program() -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**cell, "source": [line]} for line in ("x = 1\n", "%time\n", "f(x)")]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (program,) = shown("book.ipynb", json.dumps(book))
    assert program.startswith("x = 1\n")
    assert program.endswith("f(x)")


def test_blocks_that_build_on_each_other_are_one_program() -> None:
    load, use, other = "m = load()", "for i in range(3):\n    m.run(i)", "m = other()\nm.stop()"
    assert shown("a.md", markdown(load, use, other)) == [f"{load}\n{use}", other]


def test_a_block_goes_on_with_the_last_program_that_binds_a_name() -> None:
    text = markdown("a = f()\nb = 1", "a = g()", "a.run()", "print(b)")
    assert shown("a.md", text) == ["a = f()\nb = 1\nprint(b)", "a = g()\na.run()"]


def test_what_is_no_python_is_left_out() -> None:
    block = (
        "import a\n!pip install b\nx = {\n  1: 2,\n  3: 4 5: 6\n}\ny = a.f(\n    1,\n)\nz = <token>"
    )
    assert shown("a.md", markdown(block)) == ["import a\ny = a.f(1)"]


def test_places_are_those_of_the_document() -> None:
    text = "# é\n\n- Use:\n\n  ```python\n  x = 'ü' + f(1)\n  ```\n\n- ```python\n  g(x)\n  ```\n"
    (example,) = examples(SourceText(Path("a.md"), text), ANY)
    calls = [node for node in example.nodes if isinstance(node, ast.Call)]
    found = {text[slice(*example.span_of(node))] for node in calls}
    assert found == {"f(1)", "g(x)"}
    place = example.text.place(example.span_of(calls[-1]))
    assert (place.start.row, place.start.column) in {(6, 13), (10, 3)}
    assert example.text.text.split() == ["x", "=", "'ü'", "+", "f(1)", "g(x)"]


def test_other_line_ends() -> None:
    text = markdown("x = 1", "y = x").replace("\n", "\r\n")
    (example,) = examples(SourceText(Path("a.md"), text), ANY)
    assert ast.unparse(example.tree) == "x = 1\ny = x"
    node = example.tree.body[1]
    assert text[slice(*example.span_of(node))] == "y = x"


def test_programs_that_do_not_name_it_are_left_out() -> None:
    text = SourceText(Path("a.md"), markdown("a = f()", "b = 1", "print(a)", "wanted(b)"))
    (example,) = examples(text, re.compile("wanted"))
    assert ast.unparse(example.tree) == "b = 1\nwanted(b)"
    assert examples(text, re.compile("Words")) == []
