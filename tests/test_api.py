"""Projects as values: `lint_project`."""

from __future__ import annotations

import json
import pickle
import tempfile
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter
from pathlib import Path

import pytest

from precision_lint.api import Confidence, Findings, Settings, Shard, lint_project
from tests.cli.running import BAD, CLEAN, CONFIG, SCALER, project, run

FILES = {
    "a.py": BAD,
    "b/train.py": SCALER,
    "clean.py": CLEAN,
    "conf/args.yaml": CONFIG,
    "helper.py": "import torch\n\n\ndef made():\n    return torch.zeros(2, dtype=torch.bfloat16)\n",
    "user.py": "import torch\nfrom helper import made\n\nprint(made().numpy())\n",
}
BYTES = {name: text.encode() for name, text in FILES.items()}


def test_it_finds_what_the_command_finds(tmp_path: Path) -> None:
    root = project(tmp_path, FILES)
    ran = run("--output-format", "json", "--no-cache", "--isolated", cwd=root)
    records = json.loads(ran.out.replace(f"{root}/", ""))
    found = lint_project(BYTES)
    assert list(found.records) == records
    assert {record["code"] for record in records} >= {"MP101", "MP201"}
    assert found.notes == found.failures == ()
    (by_helper,) = (one for one in found.records if one["filename"] == "user.py")
    assert {each["filename"] for each in by_helper["related"]} == {"helper.py"}


def test_the_result_follows_from_the_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".precision-lint.toml").write_text('ignore = ["ALL"]\n')
    (tmp_path / "helper.py").write_text("raise SystemExit('executed')\n")
    monkeypatch.chdir(tmp_path)
    before = lint_project(BYTES)
    other_order = dict(reversed(BYTES.items()))
    with_config = {**BYTES, ".precision-lint.toml": b'ignore = ["ALL"]\n'}
    with ThreadPoolExecutor(1) as pool:  # as a worker calls it, outside of the main thread
        assert pool.submit(lint_project, other_order).result() == before
    assert lint_project(with_config) == before
    assert pickle.loads(pickle.dumps(before)) == before


def test_settings() -> None:
    chosen = lint_project(BYTES, Settings(select=("MP2",)))
    assert {record["code"] for record in chosen.records} == {"MP201"}
    least = lint_project(BYTES, Settings(min_confidence=Confidence.LOW))
    assert len(least.records) >= len(lint_project(BYTES).records)
    assert lint_project(BYTES, Settings(fix=True)) == lint_project(BYTES)
    assert (
        lint_project(BYTES, Settings(extend_exclude=("*.py",), select=("MP1", "MP2"))) == Findings()
    )


@pytest.mark.parametrize("count", [1, 2, 3, 20])
def test_shards(count: int) -> None:
    shards = [lint_project(BYTES, None, Shard(n, count)) for n in range(1, count + 1)]
    records = [record for found in shards for record in found.records]
    key = itemgetter("filename")
    assert sorted(records, key=key) == sorted(lint_project(BYTES).records, key=key)


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lint_project(BYTES)
    with pytest.raises(ValueError, match="no path below"):
        lint_project({**BYTES, "../evil.py": b""})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["/etc/x.py", "../x.py", "a/../../x.py", "", ".", "a\0.py"])
def test_names_that_are_no_paths_below(name: str) -> None:
    with pytest.raises(ValueError, match="no path below"):
        lint_project({name: b""})


@pytest.mark.parametrize("names", [("a", "a/b.py"), ("a/b.py", "a")])
def test_a_file_that_is_a_folder(names: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="both a file and a folder"):
        lint_project(dict.fromkeys(names, b""))


def test_what_is_no_python_is_a_finding() -> None:
    found = lint_project({"a.py": b"import torch\nx.numpy(\n"})
    assert [record["code"] for record in found.records] == ["MP904"]
    assert lint_project({}) == Findings()
