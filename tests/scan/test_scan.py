"""The command: with Ray where it is installed, and what it says where it is not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import BAD, CLEAN, CONFIG, SCALER, run
from tests.scan.test_sources import git

FILES = {"a.py": BAD, "b/train.py": SCALER, "clean.py": CLEAN, "conf/args.yaml": CONFIG}
TOLD = {("MP101", "a.py", 4), ("MP201", "b/train.py", 3), ("MP702", "conf/args.yaml", 5)}
COMMAND = [str(Path(sys.executable).with_name("precision-lint")), "scan"]


def scan(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("missing", ["ray", "pyarrow"])
def test_without_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for name in [*sys.modules]:
        if name.startswith("precision_lint.scan") or name == "precision_lint.cli.scan":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    ran = run("scan", "a.parquet", "-o", "out", cwd=tmp_path)
    assert ran.code == 2
    assert 'is missing: pip install "precision-lint[scan]"' in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "out"], "name Parquet files, or a list with --repositories"),
        (["a.parquet"], "Missing option '-o'"),
        (["a.parquet", "-o", "out", "--memory", "much"], "`much` is not a size, such as 512MB"),
        (["a.parquet", "-o", "out", "--columns", "repo"], "`repo` is not NAME=COLUMN"),
        (["-o", "out", "--repositories", "none.txt"], "'none.txt' does not exist"),
        (["a.parquet", "-o", "out", "--timeout", "0"], "0"),
    ],
)
def test_bad_usage(tmp_path: Path, arguments: list[str], said: str) -> None:
    ran = run("scan", *arguments, cwd=tmp_path)
    assert ran.code == 2
    assert said in ran.err
    assert list(tmp_path.iterdir()) == []


def test_help_needs_no_ray(tmp_path: Path) -> None:
    ran = run("scan", "--help", cwd=tmp_path)
    assert ran.code == 0
    assert "Check many repositories, each by itself" in ran.out


class TestWithRay:
    """Runs of the command, as people start it."""

    @pytest.fixture(autouse=True)
    def ray(self) -> None:
        pytest.importorskip("ray")

    @pytest.fixture
    def data(self, tmp_path: Path) -> Path:
        """Four repositories, whose rows are all over two files."""
        folder = tmp_path / "data"
        rows = [(f"org/r{n}", name, text) for name, text in FILES.items() for n in range(4)]
        rows += [("evil", "../x.py", BAD), ("evil", "\0.py", BAD), ("evil", "ok.py", BAD)]
        rows += [("big", f"{n}.py", "x = 1\n" * 1000) for n in range(8)]
        for number in range(2):
            self.write(folder / f"{number}.parquet", rows[number::2])
        return folder

    def write(self, path: Path, rows: list[tuple[str, str, str]]) -> None:
        import pyarrow
        import pyarrow.parquet

        path.parent.mkdir(exist_ok=True)
        columns = [list(column) for column in zip(*rows, strict=True)]
        table = pyarrow.table(columns, ["repo", "path", "content"])
        pyarrow.parquet.write_table(table, path, row_group_size=3, write_page_checksum=True)

    def rows(self, folder: Path) -> list[dict[str, Any]]:
        import pyarrow.parquet

        found: list[dict[str, Any]] = pyarrow.parquet.read_table(folder).to_pylist()
        return found

    def test_a_scan_and_its_continuation(self, tmp_path: Path, data: Path) -> None:
        limits = ("--max-repository-size", "40KB", "-j2")
        hostile = f"open({str(tmp_path / 'executed')!r}, 'w').close()\n"
        here = tmp_path / "here"
        here.mkdir()
        for name in ("json", "struct", "numpy", "ray", "sitecustomize"):
            (here / f"{name}.py").write_text(hostile)
        done = scan(data / "0.parquet", data, "-o", "out", *limits, cwd=here)
        assert done.returncode == 0, done.stderr
        assert not (tmp_path / "executed").exists()
        findings = self.rows(here / "out/findings")
        for number in range(4):
            found = [row for row in findings if row["repository"] == f"org/r{number}"]
            assert {(row["code"], row["path"], row["row"]) for row in found} == TOLD
            assert all(row["witness"] for row in found)
        repositories = {row["repository"]: row for row in self.rows(here / "out/repositories")}
        assert repositories.keys() == {"big", "evil", *(f"org/r{n}" for n in range(4))}
        assert (repositories["evil"]["status"], repositories["evil"]["skipped_files"]) == ("ok", 2)
        assert repositories["big"]["status"] == "too-large"
        assert "6 repositories, " in done.stdout
        assert "5  ok" in done.stdout
        before = sorted((here / "out").rglob("*.parquet"))

        again = scan(data, "-o", "out", *limits, cwd=here)
        assert again.returncode == 0
        assert "6 repositories done before" in again.stderr
        assert again.stdout == done.stdout
        assert sorted((here / "out").rglob("*.parquet")) == before

        retried = scan(data, "-o", "out", "-j2", "--retry", "--part-size", "9KB", cwd=here)
        assert retried.returncode == 0
        assert "5 repositories done before" in retried.stderr
        repositories = {row["repository"]: row for row in self.rows(here / "out/repositories")}
        assert len(repositories) == 6
        assert (repositories["big"]["status"], repositories["big"]["parts"]) == ("ok", 6)

    def test_a_list(self, tmp_path: Path) -> None:
        for name in ("plain", "repository"):
            for file, text in FILES.items():
                path = tmp_path / name / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        root = tmp_path / "repository"
        git("init", "-q", cwd=root)
        git("add", ".", cwd=root)
        git("commit", "-q", "-m", "first", cwd=root)
        (tmp_path / "list.txt").write_text(f"plain\nrepository\nfile://{root}\nnowhere\n")
        done = scan("--repositories", "list.txt", "-o", "out", "--select", "MP101", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "    3  ok\n" in done.stdout
        assert "    1  unreadable\n" in done.stdout
        assert "    3  MP101\n" in done.stdout
        rows = {row["repository"]: row for row in self.rows(tmp_path / "out/repositories")}
        commit = git("rev-parse", "HEAD", cwd=root)
        assert rows[str(root)]["commit"] == rows[f"file://{root}"]["commit"] == commit
        assert rows[str(tmp_path / "plain")]["commit"] is None
        assert rows[str(tmp_path / "nowhere")]["message"] == "no such folder"

    @pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
    def test_a_scan_that_is_killed_goes_on(self, tmp_path: Path, data: Path) -> None:
        """Nothing is in the results twice, and nothing is missing."""
        self.write(data / "more.parquet", [(f"more/{n}", "a.py", BAD) for n in range(12)])
        code = f"""
from precision_lint.scan import results
results._LONGEST_WAIT = 0
from precision_lint.cli.main import main
main(["scan", {str(data)!r}, "-o", {str(tmp_path / "out")!r}, "-j2"])
"""
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        done = tmp_path / "out/repositories"
        for _ in range(1200):
            if len(list(done.glob("*.parquet"))) >= 3 or process.poll() is not None:
                break
            time.sleep(0.1)
        assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        first = {row["repository"] for row in self.rows(done)}
        assert 3 <= len(first) < 18
        again = scan(data, "-o", "out", "-j2", cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert f"{len(first)} repositories done before" in again.stderr
        names = [row["repository"] for row in self.rows(done)]
        assert len(names) == len(set(names)) == 18
        found = [(row["repository"], row["path"], row["row"], row["code"])
                 for row in self.rows(tmp_path / "out/findings")]  # fmt: skip
        assert len(found) == len(set(found)) == 12 + 4 * 3 + 1

    def test_what_cannot_be_scanned(self, tmp_path: Path, data: Path) -> None:
        def said(*arguments: str | Path) -> str:
            done = scan(*arguments, "-o", "out", cwd=tmp_path)
            assert done.returncode == 2
            assert done.stdout == ""
            return done.stderr

        (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
        assert "broken.parquet: not readable as Parquet" in said("broken.parquet")
        assert "no column `text`" in said(data, "--columns", "content=text")
        assert "no machine has" in said(data, "--memory", "9000GB")
        assert "no Ray at 127.0.0.1:1" in said(data, "--address", "127.0.0.1:1")

    def test_a_file_that_breaks_off(self, tmp_path: Path) -> None:
        """Its footer is whole, so nobody knows before it is read."""
        texts = [os.urandom(2000).hex() for _ in range(30)]
        path = tmp_path / "data/a.parquet"
        self.write(path, [("r", f"{n}.py", text) for n, text in enumerate(texts)])
        whole = path.read_bytes()
        path.write_bytes(whole[:1000] + b"\xff" * 3000 + whole[4000:])
        done = scan("data", "-o", "out", cwd=tmp_path)
        assert done.returncode == 2
        assert f"error: {path}: " in done.stderr
        assert "Traceback" not in done.stderr

    def test_an_empty_input(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        done = scan("empty", "-o", "out", cwd=tmp_path)
        assert done.returncode == 0
        assert "nothing to scan" in done.stderr

    @pytest.fixture
    def cluster(self) -> Iterator[str]:
        """A Ray that was started by somebody else."""
        import ray

        context = ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
        yield context.address_info["gcs_address"]
        ray.shutdown()

    def test_a_cluster(self, tmp_path: Path, data: Path, cluster: str) -> None:
        done = scan(data, "-o", "out", "--address", cluster, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "6 repositories" in done.stdout
        manifest = json.loads((tmp_path / "out/scan.json").read_text())
        assert manifest["settings"]["min_confidence"] == "medium"
