"""Notebooks on the command line: places in cells, fixes in the JSON, every format."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from precision_lint.engine.registry import rules
from precision_lint.engine.suppression import MARKS
from tests.cli.running import BAD, FIXED, Ran, project, run
from tests.notebooks import code, notebook, prose, sources

LAUNCH = "!deepspeed a.py --deepspeed ds.json --fp16 --output_dir x --per_device_train_batch_size 4"
WRITTEN = '%%writefile ds.json\n{"bf16": {"enabled": true}, "train_batch_size": 4}'


def made(folder: Path, *cells: object, **others: str) -> Path:
    return project(folder, {"a.ipynb": notebook(*cells), **others})


def places(ran: Ran) -> list[str]:
    """Cells, rows, columns and codes of a report of format `concise`."""
    return re.findall(r"a\.ipynb:(cell \d+:\d+:\d+: MP\d+)", ran.out)


def test_concise_and_full(tmp_path: Path) -> None:
    made(tmp_path, prose("# hi"), *BAD.split("\n\n"))
    line = "a.ipynb:cell 3:2:9: MP101 [*] `scores` is bfloat16, which NumPy does not have"
    assert line in run("--output-format", "concise", cwd=tmp_path).out
    assert run(cwd=tmp_path).out.startswith(
        """\
MP101 [*] `scores` is bfloat16, which NumPy does not have
 --> a.ipynb:cell 3:2:9
  |
1 | scores = torch.zeros(2, dtype=torch.bfloat16)
2 | array = scores.numpy()  # for the plot
  |         ^^^^^^^^^^^^^^
  |
 ::: a.ipynb:cell 3:1:31: bfloat16 is chosen here
  |
1 | scores = torch.zeros(2, dtype=torch.bfloat16)
  |                               --------------
  |
"""
    )
    assert "\n ::: cell 3\n  |\n" in run(cwd=tmp_path).out


def test_the_other_half_is_in_another_cell(tmp_path: Path) -> None:
    made(tmp_path, WRITTEN, LAUNCH)
    out = run(cwd=tmp_path).out
    assert "--> a.ipynb:cell 1:2:" in out
    assert "::: a.ipynb:cell 2:1:" in out


def test_json(tmp_path: Path) -> None:
    made(tmp_path, prose("# hi"), *BAD.split("\n\n"))
    (record,) = json.loads(run("--output-format", "json", cwd=tmp_path).out)
    assert (record["cell"], record["noqa_row"]) == (3, 2)
    assert record["location"] == {"row": 2, "column": 9}
    assert record["related"][0]["cell"] == 3
    assert record["fix"]["edits"] == [
        {
            "content": ".float()",
            "cell": 3,
            "location": {"row": 2, "column": 15},
            "end_location": {"row": 2, "column": 15},
        }
    ]


def test_programs_that_know_no_cells_get_the_rows_of_the_file(tmp_path: Path) -> None:
    made(tmp_path, prose("# hi"), *BAD.split("\n\n"))
    rows = (tmp_path / "a.ipynb").read_text("utf-8").splitlines()
    row = next(i for i, line in enumerate(rows, 1) if "scores.numpy()" in line)
    column = rows[row - 1].index("scores.numpy()") + 1

    github = run("--output-format", "github", cwd=tmp_path).out
    assert f"line={row},endLine={row},col={column}," in github
    assert "::a.ipynb:cell 3:2:9: MP101" in github

    (issue,) = json.loads(run("--output-format", "gitlab", cwd=tmp_path).out)
    assert issue["location"]["positions"]["begin"] == {"line": row, "column": column}
    assert issue["description"].endswith(" (cell 3, line 2)")

    suite = ElementTree.fromstring(run("--output-format", "junit", cwd=tmp_path).stdout)
    assert [case.get("line") for case in suite.iter("testcase")] == [str(row)]
    assert "a.ipynb:cell 3:2:9:" in "".join(suite.itertext())

    sarif = json.loads(run("--output-format", "sarif", cwd=tmp_path).out)
    (result,) = sarif["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"]) == (row, column)
    (replacement,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    deleted, inserted = replacement["deletedRegion"], replacement["insertedContent"]["text"]
    line = rows[row - 1]
    fixed = line[: deleted["startColumn"] - 1] + inserted + line[deleted["endColumn"] - 1 :]
    assert json.loads(fixed.strip()) == "array = scores.float().numpy()  # for the plot\n"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: json.dumps(json.loads(text)),
        lambda text: json.dumps(json.loads(text), indent="\t", sort_keys=True),
        lambda text: json.dumps(json.loads(text), separators=(",", ":")),
        lambda text: text.replace("é", "\\u00E9").replace("\\n", "\\u000a").replace("/", "\\/"),
    ],
)  # fmt: skip
def test_a_fix_leaves_the_rest_as_it_is(tmp_path: Path, change) -> None:
    cells = prose("# é / hi"), "!ls é", *BAD.split("\n\n"), code("x = '/'", tags=["a"])
    content = change(notebook(*cells))
    project(tmp_path, {"a.ipynb": content})
    assert run("--fix", cwd=tmp_path).code == 0
    expected = content.replace("scores.numpy()", "scores.float().numpy()")
    assert (tmp_path / "a.ipynb").read_bytes() == expected.encode()
    assert run("--fix", cwd=tmp_path).code == 0
    assert (tmp_path / "a.ipynb").read_bytes() == expected.encode()


def test_an_import_is_added_to_the_cell_with_the_imports(tmp_path: Path) -> None:
    use = (
        "def f(a):\n    x = torch.ones(2).bfloat16() if a else torch.arange(2)\n"
        "    return x.numpy()\n"
    )
    made(tmp_path, "%%bash\nls", "!pip install torch\nimport torch", use, "torch.bfloat16")
    helpers = '[tool.precision-lint.fix]\nhelper-module = "precision_lint.runtime"\n'
    (tmp_path / "pyproject.toml").write_text(helpers)
    run("--unsafe-fixes", cwd=tmp_path)
    _, imports, fixed, _ = sources((tmp_path / "a.ipynb").read_text("utf-8"))
    assert imports == (
        "!pip install torch\nimport torch\nfrom precision_lint.runtime import to_numpy"
    )
    assert fixed == use.replace("x.numpy()", "to_numpy(x)")


def test_others_do_not_say_which_dtypes_a_notebook_has(tmp_path: Path) -> None:
    use = "import torch\ndef f(model):\n    return model.head.weight.numpy()\n"
    half = "import torch\nDTYPE = torch.bfloat16\ng = c.f\n"
    project(tmp_path, {"a.ipynb": notebook(use), "b.py": f"import c\n{half}", "c.py": use})
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert ran.out.startswith("c.py:3:12: MP101")
    assert "a.ipynb" not in ran.out
    project(tmp_path, {"a.ipynb": notebook(half, use), "b.py": "", "c.py": ""})
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert places(ran) == ["cell 2:3:12: MP101"]


def test_settings_of_scripts_are_fixed(tmp_path: Path) -> None:
    made(tmp_path, WRITTEN, LAUNCH)
    run("--fix", cwd=tmp_path)
    written, launch = sources((tmp_path / "a.ipynb").read_text("utf-8"))
    assert (written, launch) == (WRITTEN.replace("true", '"auto"'), LAUNCH)


def test_diff(tmp_path: Path) -> None:
    content = notebook(prose("# hi"), "import torch\n", *BAD.split("\n\n")[1:])
    project(tmp_path, {"a.ipynb": content})
    assert run("--diff", cwd=tmp_path).out == (
        "--- a/a.ipynb:cell 3\t\n+++ b/a.ipynb:cell 3\t\n@@ -1,3 +1,3 @@\n"
        " scores = torch.zeros(2, dtype=torch.bfloat16)\n"
        "-array = scores.numpy()  # for the plot\n"
        "+array = scores.float().numpy()  # for the plot\n \n"
    )
    assert (tmp_path / "a.ipynb").read_text("utf-8") == content


def test_stdin(tmp_path: Path) -> None:
    content = notebook(BAD).encode()
    arguments = "--isolated", "--stdin-filename", "x.ipynb"
    shown = run(*arguments, "--output-format", "concise", "-", cwd=tmp_path, stdin=content)
    assert "x.ipynb:cell 1:4:9: MP101" in shown.out
    fixed = run(*arguments, "--fix", "-", cwd=tmp_path, stdin=content)
    assert fixed.stdout == notebook(FIXED).encode()


@pytest.mark.parametrize(
    "source",
    [
        BAD.replace("for the plot", "noqa: MP101"),
        BAD.replace("array", "# precision-lint: ignore[MP101] so\narray"),
        BAD + "# precision-lint: ignore-file",
    ],
)
def test_suppressions_in_cells(tmp_path: Path, source: str) -> None:
    assert run(cwd=made(tmp_path, source)).code == 0


def test_suppressions_in_scripts(tmp_path: Path) -> None:
    told = WRITTEN.replace('"enabled": true', '"enabled": "auto"')
    launch = LAUNCH.replace("--fp16", "--fp16 --bf16")
    shown = run("--output-format", "concise", cwd=made(tmp_path, told, launch)).out
    assert "a.ipynb:cell 2:1:44: MP702" in shown
    assert run(cwd=made(tmp_path, told, f"{launch}  # noqa: MP702")).code == 0
    assert run(cwd=made(tmp_path, told, f"%%bash\n# noqa: MP702\n{launch[1:]}")).code == 0


def test_a_suppression_at_the_end_of_a_cell_is_not_above_the_next(tmp_path: Path) -> None:
    first, second = BAD.split("array")
    made(tmp_path, f"{first}# precision-lint: ignore[MP101] so", f"array{second}")
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert places(ran) == ["cell 1:4:26: MP901", "cell 2:1:9: MP101"]
    run("--fix", cwd=tmp_path)
    assert sources((tmp_path / "a.ipynb").read_text("utf-8"))[0] == first.rstrip("\n")


def test_a_broken_notebook(tmp_path: Path) -> None:
    content = notebook(BAD)[:-20]
    project(tmp_path, {"a.ipynb": content, "b.ipynb": "{"})
    ran = run("--output-format", "json", cwd=tmp_path)
    (record,) = json.loads(ran.out)
    assert (record["code"], record["cell"]) == ("MP904", None)
    assert record["location"]["row"] == len(content.splitlines())
    assert ran.code == 1
    assert "b.ipynb:1:2: MP904" in run("--output-format", "concise", "b.ipynb", cwd=tmp_path).out
    run("--fix", cwd=tmp_path)
    assert (tmp_path / "a.ipynb").read_text("utf-8") == content


def test_a_broken_notebook_without_a_trigger_is_nobodys_business(tmp_path: Path) -> None:
    project(tmp_path, {"a.ipynb": '{"x = 1  # noqa"', "b.ipynb": ""})
    assert run(cwd=tmp_path).code == 0


def test_a_broken_cell(tmp_path: Path) -> None:
    made(tmp_path, prose("hi"), "import torch", "x.numpy(\n", WRITTEN, LAUNCH)
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert places(ran) == ["cell 3:1:8: MP904", "cell 4:2:11: MP703", "cell 5:1:37: MP703"]


def test_json_hides_nothing_of_a_trigger_but_quotes() -> None:
    literals = {literal for rule in rules() for group in rule.triggers for literal in group}
    for literal in {*literals, *MARKS}:
        written = json.dumps(literal.decode())[1:-1]
        assert written.replace('\\"', '"').encode() == literal


def test_what_outputs_hold_is_no_trigger(tmp_path: Path) -> None:
    cell = code("x = (")
    cell["outputs"] = [{"text": BAD.splitlines(keepends=True)}]
    made(tmp_path, cell)
    assert run(cwd=tmp_path).code == 0
    assert run("a.ipynb", cwd=tmp_path).code == 1


@pytest.mark.parametrize("name", [".ipynb_checkpoints/a-checkpoint.ipynb", "build/a.ipynb"])
def test_copies_are_not_read(tmp_path: Path, name: str) -> None:
    assert run(cwd=project(tmp_path, {name: notebook(BAD)})).code == 0


def test_baseline(tmp_path: Path) -> None:
    made(tmp_path, *BAD.split("\n\n"))
    run("--write-baseline", "base.json", cwd=tmp_path)
    made(tmp_path, "x = 1", "y = 2", *BAD.split("\n\n"))
    assert run("--baseline", "base.json", cwd=tmp_path).code == 0


def test_a_large_notebook_costs_little(tmp_path: Path) -> None:
    cells = [code(f"x{index} = {index}") for index in range(50)]
    for cell in cells:
        cell["outputs"] = [{"data": {"image/png": "iVBORw0KGgo" * 20_000}}]
    content = notebook(*cells, BAD)
    assert len(content) > 10_000_000
    project(tmp_path, {"a.ipynb": content})
    assert run("--fix", "--no-cache", cwd=tmp_path).code == 0
    assert sources((tmp_path / "a.ipynb").read_bytes())[-1] == FIXED


def test_a_run_is_explained(tmp_path: Path) -> None:
    made(tmp_path, WRITTEN, LAUNCH)
    out = run("explain-config", "a.ipynb", cwd=tmp_path).out
    assert out.startswith("a.ipynb:cell 2:1: Hugging Face Trainer, started as a.py, by its options")
    assert "deepspeed: a.ipynb:cell 1:2: DeepSpeed" in out
