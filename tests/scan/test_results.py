"""The folder of results: written whole, resumed, and kept from others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

import pyarrow.parquet

from precision_lint.api import Settings, lint_project
from precision_lint.scan import results as module
from precision_lint.scan import tables
from precision_lint.scan.outcome import Outcome, Status
from precision_lint.scan.results import BadOutput, Results
from tests.cli.running import BAD, SCALER

FOUND = lint_project({"a.py": BAD.encode(), "b/train.py": SCALER.encode()}).records
GOOD = Outcome("org/good", "c1", files=2, size=9, seconds=1.5, cpu_seconds=1.0, records=FOUND)
SLOW = Outcome("org/slow", None, status=Status.TIMEOUT, message="stopped", records=FOUND[:1])
SETTINGS = Settings()


def table(folder: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for path in sorted((folder / name).glob("*.parquet")):
        rows += pyarrow.parquet.read_table(path).to_pylist()
    return rows


def test_the_tables(tmp_path: Path) -> None:
    with Results.open(tmp_path / "deep/out", SETTINGS) as results:
        results.add(GOOD)
        results.add(SLOW)
    findings = table(tmp_path / "deep/out", "findings")
    assert len(findings) == len(FOUND) + 1
    first, record = findings[0], FOUND[0]
    assert (first["repository"], first["commit"]) == ("org/good", "c1")
    assert (first["code"], first["rule"]) == (record["code"], record["name"])
    assert (first["severity"], first["confidence"]) == (record["severity"], record["confidence"])
    assert (first["path"], first["row"], first["column"]) == (
        "a.py", record["location"]["row"], record["location"]["column"],
    )  # fmt: skip
    assert first["message"] == record["message"]
    assert first["witness"] == [
        {"path": one["filename"], "cell": one["cell"], **one["location"], "message": one["message"]}
        for one in record["related"]
    ]
    assert first["witness"]
    good, slow = table(tmp_path / "deep/out", "repositories")
    assert dict(good["rules"]) == {"MP101": 1, "MP201": 1}
    assert (good["status"], good["files"], good["bytes"], good["findings"]) == ("ok", 2, 9, 2)
    assert (slow["status"], slow["message"], slow["peak_memory"]) == ("timeout", "stopped", None)


def test_a_second_run_knows_what_is_done(tmp_path: Path) -> None:
    with Results.open(tmp_path, SETTINGS) as results:
        assert results.done() == set()
        results.add(GOOD)
    with Results.open(tmp_path, SETTINGS) as results:
        assert results.done() == {("org/good", "c1")}
        results.add(SLOW)
    with Results.open(tmp_path, SETTINGS) as results:
        assert results.done() == {("org/good", "c1"), ("org/slow", None)}
    assert len(list((tmp_path / "repositories").glob("*.parquet"))) == 2


def test_what_was_waiting_is_written_when_a_run_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Results.open(tmp_path, SETTINGS) as results:  # noqa: PT012
        results.add(GOOD)
        raise KeyboardInterrupt
    with Results.open(tmp_path, SETTINGS) as results:
        assert results.done() == {("org/good", "c1")}


def test_a_run_that_is_killed_between_two_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings of repositories that are not known to be done do not stay."""

    def killed(outcomes: object) -> bytes:
        raise SystemExit

    with monkeypatch.context() as patch, pytest.raises(SystemExit):  # noqa: PT012
        patch.setattr(tables, "repositories", killed)
        with Results.open(tmp_path, SETTINGS) as results:
            results.add(GOOD)
    assert len(table(tmp_path, "findings")) == len(FOUND)
    with Results.open(tmp_path, SETTINGS) as results:
        assert results.done() == set()
        assert table(tmp_path, "findings") == []
        results.add(GOOD)
    assert len(table(tmp_path, "findings")) == len(FOUND)


def test_results_are_written_from_time_to_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parts() -> int:
        return len(list((tmp_path / "repositories").glob("*.parquet")))

    with Results.open(tmp_path, SETTINGS) as results:
        results.add(GOOD)
        assert parts() == 0
        monkeypatch.setattr(module, "_LONGEST_WAIT", 0.0)
        results.add(SLOW)
        assert parts() == 1
        monkeypatch.setattr(module, "_LONGEST_WAIT", 99.0)
        monkeypatch.setattr(module, "_MOST_REPOSITORIES", 1)
        results.add(GOOD)
        assert parts() == 2


def test_failures_are_forgotten_on_request(tmp_path: Path) -> None:
    with Results.open(tmp_path, SETTINGS) as results:
        results.add(GOOD)
        results.add(SLOW)
    with Results.open(tmp_path, SETTINGS, retry=True) as results:
        assert results.done() == {("org/good", "c1")}
    assert {row["repository"] for row in table(tmp_path, "findings")} == {"org/good"}


def test_other_settings_need_another_folder(tmp_path: Path) -> None:
    with Results.open(tmp_path, SETTINGS):
        pass
    other = Settings(preview=True)
    with (
        pytest.raises(BadOutput, match=r"other settings \(preview, rules\); use another folder"),
        Results.open(tmp_path, other),
    ):
        pass
    with Results.open(tmp_path, Settings(jobs=3, fix=True)):  # which make no difference
        pass
    manifest = tmp_path / "scan.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "version": "0.0.1"}))
    with pytest.raises(BadOutput, match=r"\(version\)"), Results.open(tmp_path, SETTINGS):
        pass
    manifest.write_text("{")
    with pytest.raises(BadOutput, match=r"scan\.json"), Results.open(tmp_path, SETTINGS):
        pass


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with (
        pytest.raises(BadOutput, match="not a folder of results"),
        Results.open(tmp_path, SETTINGS),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_two_scans_do_not_write_to_one_folder(tmp_path: Path) -> None:
    with (
        Results.open(tmp_path, SETTINGS),
        pytest.raises(BadOutput, match="another scan"),
        Results.open(tmp_path, SETTINGS),
    ):
        pass
    with Results.open(tmp_path, SETTINGS):
        pass


def test_a_part_that_is_damaged(tmp_path: Path) -> None:
    with Results.open(tmp_path, SETTINGS) as results:
        results.add(GOOD)
    (part,) = (tmp_path / "repositories").glob("*.parquet")
    part.write_bytes(b"PAR1")
    with (
        pytest.raises(BadOutput, match=r"part-00001\.parquet"),
        Results.open(tmp_path, SETTINGS) as results,
    ):
        results.done()
