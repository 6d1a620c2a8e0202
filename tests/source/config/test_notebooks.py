"""What is read of a notebook: which cells, what of them is Python, what their shells run."""

from __future__ import annotations

import ast
import json
import random
from pathlib import Path

import pytest

from precision_lint.facts.context import ConfigFile
from precision_lint.model.finding import Edit, Span
from precision_lint.source.shell.words import UNKNOWN
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.notebook import NotebookText
from precision_lint.source.text.text import SourceText
from tests.context import config_file
from tests.notebooks import code, notebook, prose
from tests.source.config.reading import findings, plain


def read(text: str) -> NotebookText:
    return NotebookText.read(SourceText(Path("a.ipynb"), text))


def config(*cells: object) -> ConfigFile:
    return config_file(read(notebook(*cells)), "notebook")


def started(*cells: object) -> list[tuple[list[str], dict[str, str]]]:
    """The commands of a notebook, each with the environment that it is given."""
    return [
        (
            [word.text for word in command.words],
            {name: value.text.chars for name, value in command.environment.items()},
        )
        for part in config(*cells).embedded
        for command in (part.file.script.commands if part.file.script else ())
    ]


def words(*cells: object) -> list[str]:
    return [" ".join(command) for command, _ in started(*cells)]


# Cells


def test_code_cells_are_numbered_among_all() -> None:
    text = read(notebook(prose("# hi"), "a = 1", prose("x = 1", "raw"), "b = 2\n", ""))
    assert [(cell.number, text[cell.span]) for cell in text.cells] == [(2, "a = 1"), (4, "b = 2\n")]
    assert ast.unparse(ast.parse(text.code)) == "a = 1\nb = 2"


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("x = 1", "python"),
        ("", "python"),
        ("%%time\nx = 1", "python"),
        ("\n%%capture out\nx = 1", "python"),
        ("%%capture \n%%bash\n# first\nls", "shell"),
        ("%%time\n\n%%capture\nx = 1", "python"),
        ("# first\n%%bash\nls", "python"),
        ("%%bash\nls", "shell"),
        ("%%sh", "shell"),
        ("%%bash --out x\nls", "shell"),
        ("%%script bash\nls", "shell"),
        ("%%script --bg /bin/sh\nls", "shell"),
        ("%%script python\nls", None),
        ("%%writefile a.yaml\nfp16: true", "yaml"),
        ("%%file \"conf/a.json\"\n{}", "json"),
        ("%%writefile -a run.sh\nls", "shell"),
        ("%%writefile a.py\nx = 1", None),
        ("%%writefile a.ipynb\n{}", None),
        ("%%writefile\nx", None),
        ("%%html\n<b>", None),
        ("%%python2\nprint 1", None),
        ("  x = 1\n  y = 2", None),
        (">>> x = 1", None),
        ("@manual{Intro,\n title={Counting cells},\n}", None),
        ("@cache\ndef f(): ...", "python"),
        ("pip install torch", None),
        ('pip -q install "torch<=2.6"', None),
        ("pip - q", "python"),
        ("cd ../x", None),
        ("ls {folders[0]}", None),
        ("not {folders[0]}", "python"),
        ("import torch", "python"),
        ("print(x) if x else y", "python"),
        ("x if y else z", "python"),
    ],
)  # fmt: skip
def test_what_is_read_of_a_cell(source: str, kind: str | None) -> None:
    (cell,) = read(notebook(code([source]))).cells
    assert cell.kind == kind


@pytest.mark.parametrize(
    ("metadata", "kinds"),
    [
        ({}, ["python", "shell"]),
        ({"kernelspec": {"language": "python"}}, ["python", "shell"]),
        ({"language_info": {"name": "Python"}}, ["python", "shell"]),
        ({"kernelspec": {"language": "R"}}, [None, "shell"]),
        ({"language_info": {"name": "julia"}}, [None, "shell"]),
        ({"language_info": {"name": "bash"}}, ["shell", "shell"]),
        ({"kernelspec": 3, "language_info": []}, ["python", "shell"]),
        (None, ["python", "shell"]),
    ],
)
def test_languages(metadata: object, kinds: list[str | None]) -> None:
    cells = [code("x = 1"), code("%%bash\nls")]
    text = read(json.dumps({"cells": cells, "metadata": metadata}))
    assert [cell.kind for cell in text.cells] == kinds


def test_a_cell_of_another_language() -> None:
    text = read(notebook(code("SELECT 1", vscode={"languageId": "sql"}), "x = 1"))
    assert [cell.kind for cell in text.cells] == [None, "python"]


def test_format_3() -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": "hi"},
        {"cell_type": "code", "language": "python", "input": ["x = 1\n", "y = 2"], "outputs": []},
        {"cell_type": "code", "language": "ruby", "input": "puts 1"},
    ]
    text = read(json.dumps({"worksheets": [{"cells": cells[:2]}, {"cells": cells[2:]}]}))
    assert [(cell.number, cell.kind) for cell in text.cells] == [(2, "python"), (3, None)]
    assert text.text.startswith("x = 1\ny = 2")


def test_cells_of_no_known_shape_are_passed_over() -> None:
    cells = [
        3, [], {}, {"cell_type": "code"}, code([]), {"cell_type": "code", "source": 3},
        {"cell_type": "code", "source": ["x", 3]}, {"cell_type": "code", "source": None},
        {"cell_type": "code", "source": "x = 1", "metadata": 7},
    ]  # fmt: skip
    text = read(json.dumps({"cells": cells}))
    assert [(cell.number, text[cell.span]) for cell in text.cells] == [(9, "x = 1")]


def test_the_last_of_two_keys_counts() -> None:
    text = read('{"cells": [], "cells": [{"cell_type": "raw", "cell_type": "code", "source": "a",'
                '"source": ["b"]}]}')  # fmt: skip
    assert [text[cell.span] for cell in text.cells] == ["b"]


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "invalid JSON: Expecting value", (1, 1)),
        ("[]", "not a notebook: it has no cells", (1, 1)),
        ("{}", "not a notebook: it has no cells", (1, 1)),
        ('{"cells": [\n {"source": [}]}', "invalid JSON: Expecting value", (2, 14)),
        ('{"cells": [],\n}', "invalid JSON: Expecting ',' delimiter", (1, 13)),
        ('{"cells": []}\n x', "invalid JSON: Extra data", (2, 2)),
        ('{"cells": ["\n"]}', "invalid JSON: Invalid control character at", (1, 13)),
        ("[" * 100_000, "nested too deeply", (1, 1)),
    ],
)
def test_what_is_no_notebook(text: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(Unparsable) as raised:
        read(text)
    assert (raised.value.message, (raised.value.row, raised.value.column)) == (message, place)


# Python


def test_what_python_sees() -> None:
    text = read(
        notebook("%%time\nif x:\n    !ls \\\n  -l\ny = !é ls\nz = %time f()\nz?\n%matplotlib")
    )
    assert text.code == (
        "      \nif x:\n    _____\n    \ny = _____\nz = _________\n__\n___________\n\n"
    )
    assert len(text.code) == len(text.text)


def test_columns_are_those_of_the_notebook() -> None:
    file = config('a = "é"; b = 1\nc = !é\n', "d = 1")
    assert file.python is not None
    assert [file.text[file.python.span_of(node)] for node in file.python.tree.body] == [
        'a = "é"', "b = 1", "c = !é", "d = 1"
    ]  # fmt: skip


_LINES = (
    "x = 1", "!ls", "!ls -l | grep '#'", "y = !ls", "%time x = 1", "%env A=b", "z = %sx ls",
    "a, b = !ls", "obj?", "?obj", "obj.x??", "print('!ls')", "s = '''", "!x", "'''", "f(", "  !a",
    ")", "if x:", "    !ls", "    %cd x", "    y = !ls", "    pass", "x \\", "  + 1", "!ls \\",
    "  foo", "x %= 3", "x != 3", "y = y % z", "d = {'a': '?'}", "# comment ?", "!", "%", "!!ls",
    "x = [", "]", "u = 'a?'", "g(a=1)", "!echo 'x", "def f():", "    return 1", "", "t = x == 1",
    "k.z[0] = !ls", "n: int = 3", "for i in x:", "x; !ls", '"""!ls', '"""', "m = f(a=!b)",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_python_sees_what_ipython_leaves_of_it() -> None:
    manager = pytest.importorskip("IPython.core.inputtransformer2").TransformerManager()
    choice = random.Random(0)
    compared = 0
    for _ in range(4000):
        cell = "\n".join(choice.choice(_LINES) for _ in range(choice.randint(1, 5)))
        if cell.lstrip("\n").startswith((" ", "%%")) or not cell.strip():
            continue
        try:
            expected = _shape(manager.transform_cell(cell))
        except SyntaxError:
            continue
        compared += 1
        assert _shape(read(notebook(code([cell]))).code) == expected, cell
    assert compared > 500


def _shape(text: str) -> str:
    """The tree of a program with one name for all that IPython computes."""
    return ast.dump(_Unknown().visit(ast.parse(text)))


class _Unknown(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node).startswith("get_ipython()"):
            return ast.Name("_", ast.Load())
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("_", node.ctx) if set(node.id) == {"_"} else node


# Scripts


@pytest.mark.parametrize(
    ("source", "commands"),
    [
        ("!python a.py --fp16", ["python a.py --fp16"]),
        ("x = !python a.py", ["python a.py"]),
        ("!!python a.py", ["python a.py"]),
        ("%sx python a.py", ["python a.py"]),
        ("%run a.py --fp16", ["a.py --fp16"]),
        ("!python a.py \\\n  --fp16", ["python a.py --fp16"]),
        ("if x:\n    !python a.py", ["python a.py"]),
        ("!A=1\n!echo $A", [f"echo {UNKNOWN * 2}"]),
        ("!a {script} --fp16 ${y}", [f"a {UNKNOWN * 8} --fp16 {UNKNOWN * 4}"]),
        ("!cd x && python a.py", ["cd x", "python a.py"]),
        ("s = '''\n!ls\n'''", []),
        ("f(\n!ls\n)", []),
        ("# !ls", []),
        ("?ls", []),
        ("%cd x", []),
        ("%%bash\nA=1\npython a.py --n $A", ["python a.py --n 1"]),
        ("%%bash\ncat > a.sh <<EOF\na.py\nEOF\nb.py", ["cat", "b.py", "a.py"]),
        ("%%html\n!ls", []),
        ("%%writefile a.sh\npython a.py", ["python a.py"]),
    ],
)  # fmt: skip
def test_what_is_started(source: str, commands: list[str]) -> None:
    assert words(source) == commands


@pytest.mark.parametrize(
    ("before", "environment"),
    [
        ("%env A=b", {"A": "b"}),
        ("%env A b", {"A": "b"}),
        ("%set_env A=b c ", {"A": "b c"}),
        ("import os\nos.environ['A'] = \"b\"  # so", {"A": "b"}),
        ("%env A=x\nos.environ['A'] = 'b'\n", {"A": "b"}),
        ("os.environ['A'] = 'x'\n%env A=b\n", {"A": "b"}),
        ("%env A={b}", {"A": UNKNOWN}),
        ("%env A=$b", {"A": UNKNOWN}),
        ("%env A=b\nif x:\n    %env A=c", {"A": UNKNOWN}),
        ("%env A=b\nif x:\n    os.environ['A'] = 'c'", {"A": UNKNOWN}),
        ("%env A=b\nos.environ['A'] = b", {"A": UNKNOWN}),
        ("%env A=b\nos.environ.update(x)", {}),
        ("%env A", {}),
        ("!export A=b", {}),
        ("os.environ['A'] == 'b'", {}),
        ("x = '''\n%env A=b\n'''", {}),
    ],
)
def test_the_environment_of_what_comes_later(before: str, environment: dict[str, str]) -> None:
    assert started(before, "%%bash\npython a.py")[-1] == (["python", "a.py"], environment)
    assert started(before, "!python a.py")[-1] == (["python", "a.py"], environment)
    assert started("!python a.py", before)[0] == (["python", "a.py"], {})


def test_files_that_are_written() -> None:
    parts = config(
        "%%writefile conf/a.yaml\nfp16: true", '%%file b.json\n{"fp16": true}',
        "%%writefile {x}/c.toml\nfp16 = true", "%%writefile d.yaml\nfp16: true",
        "%%writefile -a d.yaml\nbf16: true", "%%writefile e.yaml\nfp16: [",
    ).embedded  # fmt: skip
    assert [(part.name, plain(part.file.documents[0])) for part in parts] == [
        ("conf/a.yaml", {"fp16": True}),
        ("b.json", {"fp16": True}),
        (f"{UNKNOWN}/c.toml", {"fp16": True}),
    ]


def test_a_command_refers_to_a_file_that_the_notebook_writes() -> None:
    command = (
        "!deepspeed a.py --deepspeed ds.json {} --output_dir x --per_device_train_batch_size 4"
    )
    written = '%%writefile ds.json\n{"bf16": {"enabled": true}, "train_batch_size": 4}'
    found = findings(config(written, command.format("--fp16")))
    assert [(finding.name, finding.place.cell and finding.place.cell.number) for finding in found][
        :1
    ] == [("run-precision-mismatch", 1)]
    assert not findings(config(written, command.format("--bf16")))


def test_shells_are_read_where_python_is_broken() -> None:
    file = config("x = (", "!python a.py --fp16")
    assert file.python is None
    assert file.defect is not None
    assert [part.name for part in file.embedded] == ["cell 2"]


# Edits


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (Edit(Span(0, 1), "x"), [["x = 1\n", "b = 2"], ["c"]]),
        (Edit(Span(0, 6), ""), [["b = 2"], ["c"]]),
        (Edit(Span(6, 12), ""), [["a = 1"], ["c"]]),
        (Edit(Span(6, 11), ""), [["a = 1\n"], ["c"]]),
        (Edit(Span(0, 12), ""), [[""], ["c"]]),
        (Edit(Span(6, 6), "n\n"), [["a = 1\n", "n\n", "b = 2"], ["c"]]),
        (Edit(Span(12, 12), "n\n"), [["a = 1\n", "b = 2\n", "n"], ["c"]]),
        (Edit(Span(11, 11), "\nn"), [["a = 1\n", "b = 2\n", "n"], ["c"]]),
        (Edit(Span(4, 7), ""), [["a =  = 2"], ["c"]]),
        (Edit(Span(4, 5), "\n"), [["a = \n", "\n", "b = 2"], ["c"]]),
        (Edit(Span(13, 14), "é\n"), [["a = 1\n", "b = 2"], ["é\n"]]),
        (Edit(Span(13, 13), '"\\'), [["a = 1\n", "b = 2"], ['"\\c']]),
        (Edit(Span(7, 14), ""), None),
        (Edit(Span(8, 12), ""), None),
        (Edit(Span(11, 13), ""), None),
        (Edit(Span(12, 12), "n"), None),
    ],
)
def test_an_edit_of_a_cell(edit: Edit, after: list[list[str]] | None) -> None:
    text = read(notebook("a = 1\nb = 2", "c"))
    assert text.takes([edit]) == (after is not None)
    if after is not None:
        assert text.edited([edit]).json.text == notebook(*map(code, after))


@pytest.mark.parametrize(
    ("source", "edit"),
    [
        ("%%bash\nls", Edit(Span(0, 0), "import x\n")),
        ("%%time\nx", Edit(Span(2, 3), "x")),
        ("%%html\n<b>", Edit(Span(8, 9), "x")),
        ("  x = 1", Edit(Span(0, 0), "import x\n")),
    ],
)
def test_magics_and_what_is_not_read_take_no_edits(source: str, edit: Edit) -> None:
    assert not read(notebook(source)).takes([edit])


def test_a_source_that_is_one_string_stays_one() -> None:
    text = read('{"cells": [{"cell_type": "code", "source": "a\\n\\u00e9 = 1"}]}')
    assert text.edited([Edit(Span(6, 7), "2\n")]).json.text == (
        '{"cells": [{"cell_type": "code", "source": "a\\n\\u00e9 = 2\\n"}]}'
    )


def test_places_in_the_json() -> None:
    text = read(notebook(prose("hi"), 'x = "é"\ny = 1'))
    place = text.place(Span(text.text.index("y"), text.text.index("1") + 1))
    assert place.cell is not None
    assert (place.start, place.end, place.cell.number) == ((2, 1), (2, 6), 2)
    row = text.json.line(place.in_file[0].row)
    assert row[place.in_file[0].column - 1 : place.in_file[1].column - 1] == "y = 1"


# Time


@pytest.mark.parametrize(
    "cells",
    [
        [code(["\r\n" * 50_000 + "#"])],
        [code(["a b" + " " * 100_000 + "\n x"])],
        [code(["'''" + "!ls\n" * 20_000])],
        [code(["!ls " + "{" * 50_000])],
        [code(["(" * 5_000 + "\n!ls" * 5_000])],
        [code("!python a.py --fp16")] * 2_000,
        [code("os.environ['A'] = '" + "\\" * 50_000)],
        [code("%%bash\n" + "a=$a$a\n" * 5_000)],
    ],
)
def test_large_and_odd_cells(cells: list[dict[str, object]]) -> None:
    file = config(*cells)
    assert len(file.text.code) == len(file.text.text)
    assert len(file.embedded) <= 256
