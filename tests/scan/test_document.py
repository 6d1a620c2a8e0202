"""The page about scans says what is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pytest

from precision_lint.cli.main import cli
from precision_lint.scan.layout import layout
from precision_lint.scan.outcome import Limits, Status
from tests.cli.running import BAD, CLEAN

PAGE = (Path(__file__).parents[2] / "docs/scan.md").read_text("utf-8")


def example(name: str) -> str:
    found = re.search(rf"^<!-- {name} -->\n```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_a_group_of_rows_is_checked_as_spark_and_dask_do_it() -> None:
    pandas = pytest.importorskip("pandas")
    namespace: dict[str, Any] = {}
    exec(example("lint-group"), namespace)
    rows = pandas.DataFrame(
        [("r1", "a.py", BAD), ("r2", "b.py", CLEAN), ("r1", "c/d.py", BAD)],
        columns=["repo", "path", "content"],
    )
    groups = [namespace["lint_group"](group) for _, group in rows.groupby("repo")]
    found = pandas.concat(groups).to_dict("records")
    names = [column.split()[0] for column in namespace["COLUMNS"].split(", ")]
    assert [list(row) for row in found] == [names, names]
    assert {(row["repo"], row["path"], row["row"], row["code"]) for row in found} == {
        ("r1", "a.py", 4, "MP101"), ("r1", "c/d.py", 4, "MP101"),
    }  # fmt: skip


def test_the_limits_alone(capsys: pytest.CaptureFixture[str]) -> None:
    exec(example("limits"), {})
    assert capsys.readouterr().out == "ok 0\n"


def test_options_and_statuses() -> None:
    for parameter in cli.commands["scan"].params:
        if isinstance(parameter, click.Option):
            assert parameter.help
    options = {name for parameter in cli.commands["scan"].params for name in parameter.opts}
    named = set(re.findall(r"`(--[\w-]+)(?: |`)", PAGE)) - {"--isolated"}
    assert named
    assert named <= options
    assert set(re.findall(r"`([a-z-]+)`", _table("| `status`"))) >= {one.value for one in Status}


def test_layouts_that_the_page_names() -> None:
    for row in _table("| data set").splitlines()[2:]:
        columns = [re.findall(r"`(\w+)`", cell) for cell in row.split("|")[2:6]]
        repo, path, content, commit = (names[0] for names in columns)
        found = layout([repo, path, content, commit], {})
        assert (found.repo, found.path, found.content, found.commit) == (
            repo, path, content, commit,
        )  # fmt: skip


def test_limits_by_default() -> None:
    """Those of the command are those of the module, and of the page."""
    defaults = Limits()
    parameters = {one.name: one for one in cli.commands["scan"].params}
    assert parameters["timeout"].default == defaults.seconds
    for name, size, shown in (
        ("memory", defaults.memory, "2 GB"),
        ("max_file_size", defaults.file_size, "4 MB"),
        ("max_repository_size", defaults.repository_size, "512 MB"),
        ("part_size", defaults.part_size, "32 MB"),
    ):
        default = parameters[name].default
        assert default == shown.replace(" ", "")
        number, unit = shown.split()
        assert int(number) * 1024 ** {"MB": 2, "GB": 3}[unit] == size
        assert f"`--{name.replace('_', '-')}` ({shown})" in PAGE


def test_columns_of_the_results() -> None:
    pytest.importorskip("pyarrow")
    from precision_lint.scan.tables import FINDINGS, REPOSITORIES

    rows = _table("| table |").splitlines()[2:]
    for row, schema in zip(rows, (FINDINGS, REPOSITORIES), strict=True):
        named = re.findall(r"`(\w+)`", row)
        assert named[: len(schema.names)] == schema.names


def _table(start: str) -> str:
    """The rows of the table that starts like this."""
    return PAGE[PAGE.index(f"\n{start}") + 1 :].partition("\n\n")[0]
