"""The store: what is linted again after an edit, and what stands in the way of a right answer."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from precision_lint.engine import answers, store_key
from precision_lint.engine.job import Job
from precision_lint.engine.run import run
from precision_lint.engine.settings import Settings
from precision_lint.engine.store import StoreFile, Unreadable
from precision_lint.facts.project.imports import Imports
from precision_lint.facts.project.questions import OF_NAMES
from precision_lint.model.finding import Confidence
from precision_lint.model.trace import Question
from precision_lint.project import disk
from precision_lint.project.discovery import files
from precision_lint.project.files import Project
from tests.engine.stored_projects import (
    FILES,
    LINTED,
    MODEL,
    SETTINGS,
    always_stored,
    build,
    lint,
    put,
)

NOTHING: list[str] = []


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "project")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def stored(cache: Path) -> Path:
    (file,) = cache.iterdir()
    return file


# What is linted again


def again(root: Path, cache: Path, name: str, content: str) -> list[str]:
    """The files that are linted after an edit; what is reported is what a cold run reports."""
    with always_stored() as linted:
        lint(root, cache)
        put(root, name, content)
        linted.clear()
        warm = lint(root, cache)
        found = sorted(linted)
        assert warm == lint(root, None)
    return found


def test_a_second_run_lints_nothing(root: Path, cache: Path) -> None:
    with always_stored() as linted:
        cold = lint(root, cache)
        assert len(linted) == len(cold) == LINTED
        linted.clear()
        assert lint(root, cache) == cold
        assert linted == NOTHING
    assert sum(len(result.findings) for result in cold) > 4


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("plain.py", "x = 2\n", ["plain.py"]),
        ("vocab.py", FILES["vocab.py"] + "\n# more\n", ["vocab.py"]),
        ("conf/training/base.yaml", "lr: 1\n", ["conf/config.yaml", "conf/training/base.yaml"]),
    ],
)
def test_an_edit_of_a_leaf(
    name: str, content: str, expected: list[str], root: Path, cache: Path
) -> None:
    assert again(root, cache, name, content) == expected


def test_an_edit_of_what_others_import(root: Path, cache: Path) -> None:
    found = again(root, cache, "pkg/model.py", MODEL + "\n# more\n")
    assert {"pkg/model.py", "train.py", "evaluate.py"} <= set(found)
    assert not {"pkg/helper.py", "vocab.py", "plain.py", "args.yaml"} & set(found)


def test_an_edit_of_a_configuration(root: Path, cache: Path) -> None:
    found = again(root, cache, "ds.json", '{"bf16": {"enabled": true}, "train_batch_size": 1}\n')
    assert {"ds.json", "acc.yaml"} <= set(found)
    assert not {"pkg/helper.py", "plain.py", "args.yaml"} & set(found)


def test_another_pin(root: Path, cache: Path) -> None:
    put(root, "old.py", "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n")
    put(root, "pyproject.toml", "")
    found = again(root, cache, "requirements.txt", "torch==2.2.0\n")
    assert "old.py" in found
    assert not {"plain.py", "pkg/helper.py"} & set(found)


def test_a_new_file_and_one_that_is_gone(root: Path, cache: Path) -> None:
    found = again(root, cache, "new.py", "import torch\n")
    assert "new.py" in found
    assert "plain.py" not in found
    (root / "new.py").unlink()
    with always_stored() as linted:
        assert lint(root, cache) == lint(root, None)
        assert "plain.py" not in linted[:-LINTED]


def test_another_time_is_no_other_content(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with always_stored() as linted:
        lint(root, cache)
        put(root, "pkg/model.py", MODEL)
        linted.clear()
        lint(root, cache)
        assert linted == NOTHING


def test_a_file_that_was_just_written_is_read_again(root: Path, cache: Path) -> None:
    """Another content of the same size at the same time."""
    path = root / "pkg" / "helper.py"
    with always_stored():
        put(root, "pkg/helper.py", FILES["pkg/helper.py"], is_old=False)
        status = path.stat()
        lint(root, cache)
        path.write_text(FILES["pkg/helper.py"].replace("bfloat16", "float32 "))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert lint(root, cache) == lint(root, None)


def test_a_warm_run_reads_only_what_it_reports(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with always_stored():
        results = lint(root, cache)
        reads: Counter[Path] = Counter()
        read = disk.read

        def counted(path: Path, *largest: int) -> bytes:
            reads[path] += 1
            return read(path, *largest)

        monkeypatch.setattr(disk, "read", counted)
        assert lint(root, cache) == results
    shown = {result.path for result in results if result.findings}
    own = {path for path in reads if path.is_relative_to(root) and path.name != ".gitignore"}
    assert {path for path in own if path.name != "exclude"} == shown


# Settings and the way of running


def test_settings_have_results_of_their_own(root: Path, cache: Path) -> None:
    others = (
        replace(SETTINGS, min_confidence=Confidence.HIGH),
        replace(SETTINGS, target={"torch": "2.3"}),
        replace(SETTINGS, target_gpu="T4"),
        replace(SETTINGS, helper_module="pkg.helper"),
        replace(SETTINGS, ignore=("MP101",)),
        replace(SETTINGS, per_file_ignores={"train.py": ("MP2",)}),
        replace(SETTINGS, exclude=(*SETTINGS.exclude, "conf")),
    )
    with always_stored():
        lint(root, cache)
        for settings in others:
            for _ in range(2):
                assert lint(root, cache, settings=settings) == lint(root, None, settings=settings)


def test_another_linter_has_results_of_its_own(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with always_stored() as linted:
        lint(root, cache)
        linted.clear()
        monkeypatch.setattr(store_key, "__version__", "0.0.0")
        lint(root, cache)
        assert len(linted) == LINTED


def test_a_part_of_the_project(root: Path, cache: Path) -> None:
    """Other files were asked for, and named: what was stored for all of them stays right."""
    names = ["train.py", "acc.yaml", "pkg/model.py"]

    def part(folder: Path | None) -> list[tuple[object, ...]]:
        paths = [root / name for name in names]
        job = Job(Project(root), SETTINGS, write=False, named=frozenset(paths))
        results = run(job, paths, cache_folder=folder)
        return [(result.path, result.findings, result.text) for result in results]

    with always_stored() as linted:
        whole = lint(root, cache)
        for content in (MODEL, MODEL.replace("zeros(3).numpy()", "zeros(3)"), MODEL):
            put(root, "pkg/model.py", content)
            assert part(cache) == part(None)
            assert part(cache) == part(None)
        assert lint(root, cache) == whole
        put(root, "ds.json", "{}\n")
        assert part(cache) == part(None)
        assert lint(root, cache) == lint(root, None)
        linted.clear()
        lint(root, cache)
        assert linted == NOTHING


def test_a_few_files_leave_the_results_of_all_as_they_are(root: Path, cache: Path) -> None:
    """A hook that checks one file writes no store of the whole project."""
    every = [*files([root], root)]

    def part(paths: list[Path]) -> bytes:
        job = Job(Project(root), SETTINGS, write=False, named=frozenset(paths))
        run(job, paths, cache_folder=cache)
        return stored(cache).read_bytes()

    with always_stored() as linted:
        lint(root, cache)
        linted.clear()
        before = stored(cache).read_bytes()
        assert part([root / "train.py"]) == before
        assert linted == NOTHING
        most = part(every[1:])
        assert most != before  # from now on, this is the run whose results are known
        linted.clear()
        assert part(every[1:]) == most
        assert linted == NOTHING


def test_fixes_are_those_of_a_run_without_a_store(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "precision_lint", "-j1", "--unsafe-fixes", "--min-confidence"]
    filler = "# a comment\n" * 100_000  # so that the run is long enough to be stored
    trees = []
    for name, options in (("warm", ["--cache-dir", str(tmp_path / "cache")]), ("cold", [])):
        root = build(tmp_path / name / "project")
        put(root, "filler.py", filler)
        options = options or ["--no-cache"]
        for more in (["--diff"], ["--diff"], [], ["--diff"], ["--fix"], ["--fix"], []):
            done = subprocess.run(
                [*command, "low", *options, *more], cwd=root, capture_output=True, check=False
            )
            trees.append(
                (name, more, done.stdout.replace(str(root).encode(), b""), done.returncode)
            )
        trees.append((name, [], b"".join(p.read_bytes() for p in sorted(root.rglob("*.py"))), 0))
    half = len(trees) // 2
    assert [row[1:] for row in trees[:half]] == [row[1:] for row in trees[half:]]
    assert (tmp_path / "cache").exists()


# What stands in the way


def test_what_is_damaged_is_no_store(root: Path, cache: Path) -> None:
    with always_stored():
        cold = lint(root, cache)
        whole = stored(cache).read_bytes()
        damaged = [
            b"", b"garbage", whole[:10], whole[:-1], whole[: len(whole) // 2],
            whole.replace(b"results", b"resultz"),
            *(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
              for at in range(0, len(whole), len(whole) // 16)),
        ]  # fmt: skip
        for content in damaged:
            stored(cache).write_bytes(content)
            assert lint(root, cache) == cold
            put(root, "ds.json", FILES["ds.json"])
            stored(cache).write_bytes(content)
            put(root, "ds.json", "{}\n")
            assert lint(root, cache) == lint(root, None)
            put(root, "ds.json", FILES["ds.json"])


def test_questions_about_names_are_not_read_again(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are most of all questions, and an edit changes no name."""
    names: Counter[str] = Counter()
    read = answers.asked

    def counted(line: str) -> Question:
        question = read(line)
        names[question[0]] += 1
        return question

    monkeypatch.setattr(answers, "asked", counted)
    assert again(root, cache, "vocab.py", FILES["vocab.py"] + "\n# more\n") == ["vocab.py"]
    assert names
    assert OF_NAMES.isdisjoint(names)


def test_a_file_that_is_named_has_the_result_of_the_whole_run(root: Path, cache: Path) -> None:
    put(root, "broken.py", "def f(:\n")  # no rule looks at it unless somebody names it
    project, every = Project(root), files([root], root)
    job = Job(project, SETTINGS, write=False)
    named = replace(job, named=frozenset([root / "pkg/model.py", root / "broken.py"]))
    with always_stored() as linted:
        whole = run(job, every, cache_folder=cache)
        for _ in range(2):
            linted.clear()
            found = run(named, sorted(named.named), cache_folder=cache)
            assert linted == ["broken.py"]
            cold = run(named, sorted(named.named))
            assert [each.findings for each in found] == [each.findings for each in cold]
            assert "MP904" in {one.code for each in found for one in each.findings}
            linted.clear()
            again = run(job, every, cache_folder=cache)
            assert [each.findings for each in again] == [each.findings for each in whole]
            assert "pkg/model.py" not in linted


def test_only_the_imports_of_the_edited_file_are_resolved(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolved: Counter[str] = Counter()
    imports_of = Imports._imports_of

    def counted(imports: Imports, path: Path) -> tuple[Path, ...]:
        resolved[path.name] += path not in imports._imported
        return imports_of(imports, path)

    monkeypatch.setattr(Imports, "_imports_of", counted)
    with always_stored():
        lint(root, cache)
        assert resolved["train.py"]
        for edit in ("# first\n", "# second\n"):
            put(root, "pkg/model.py", MODEL + edit)
            resolved.clear()
            lint(root, cache)
            assert {name for name, times in resolved.items() if times} == {"model.py"}
        put(root, "pkg/new.py", "import torch\n")
        resolved.clear()
        lint(root, cache)
        assert resolved["train.py"]


SECTIONS = ("results", "traces", "records", "imports")


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_of_something_else_is_none(section: str, root: Path, cache: Path) -> None:
    with always_stored():
        lint(root, cache)
        file = StoreFile(stored(cache))
        sections = {
            name: file.section(name) for name in ("results", "traces", "records", "imports")
        }
        for foreign in (None, 1, [], {}, [[], [], []], [[["a"]], {}, {"a": 1}], "text"):
            StoreFile(stored(cache)).write({**sections, section: foreign})
            put(root, "ds.json", "{}\n")
            assert lint(root, cache) == lint(root, None)
            StoreFile(stored(cache)).write({**sections, section: foreign})
            put(root, "ds.json", FILES["ds.json"])
            assert lint(root, cache) == lint(root, None)


def test_only_the_user_can_read_it(root: Path, cache: Path) -> None:
    with always_stored():
        lint(root, cache)
    assert stat.S_IMODE(stored(cache).stat().st_mode) == 0o600


def test_a_folder_that_cannot_be_made_is_no_cache(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    before = sorted(tmp_path.rglob("*"))
    with always_stored():
        assert lint(root, tmp_path / "file" / "below") == lint(root, None)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_full_disk_leaves_nothing(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with always_stored():
        expected = lint(root, None)
        monkeypatch.setattr(os, "fsync", full)
        assert lint(root, cache) == expected
    assert [*cache.iterdir()] == []


def test_room_is_made_for_new_results(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir()
    monkeypatch.setattr("precision_lint.engine.store._MOST_BYTES", 3000)
    foreign = cache / "notes.store"
    foreign.write_bytes(bytes(5000))
    for number in range(5):
        old = cache / f"{number:024x}.store"
        old.write_bytes(bytes(1000))
        os.utime(old, (number + 1, number + 1))
    file = StoreFile(cache / f"{9:024x}.store")
    file.write({"a": 1})
    assert file.section("a") == 1
    left = {path.name[23] for path in cache.iterdir() if path != foreign}
    assert left == {"9", "3", "4"}
    assert foreign.exists()
    with pytest.raises(Unreadable):
        file.section("b")


SCRIPT = """
import sys
from pathlib import Path
from tests.engine.stored_projects import always_stored, lint
with always_stored():
    print("started", flush=True)
    while True:
        lint(Path(sys.argv[1]), Path(sys.argv[2]))
        for name in ("plain.py", "vocab.py"):
            with (Path(sys.argv[1]) / name).open("a") as file:
                file.write("# more\\n")
"""


def writing(root: Path, cache: Path) -> subprocess.Popen[bytes]:
    """A process that lints, edits and stores for ever."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(root), str(cache)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"started\n"
    return process


def test_a_process_that_is_killed_leaves_no_wrong_answer(root: Path, cache: Path) -> None:
    for pause in (0.5, 0.8, 1.1):
        process = writing(root, cache)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with always_stored():
            assert lint(root, cache) == lint(root, None)
    assert len([*cache.glob("*.store")]) == 1


def test_two_runs_at_once(root: Path, cache: Path) -> None:
    processes = [writing(root, cache) for _ in range(2)]
    time.sleep(3)
    for process in processes:
        assert process.poll() is None
        process.kill()
        process.wait()
    with always_stored():
        assert lint(root, cache) == lint(root, None)
        assert lint(root, cache) == lint(root, None)
    assert len([*cache.glob("*.store")]) == 1


def test_a_short_run_uses_what_a_long_one_stored(root: Path, cache: Path) -> None:
    job = Job(Project(root), Settings(), write=False)
    run(job, [root / "train.py"], cache_folder=cache)
    assert not cache.exists()
    with always_stored():
        lint(root, cache, settings=Settings())
    before = stored(cache).read_bytes()
    results = run(
        Job(Project(root), Settings(), write=False), [*job.project.files], cache_folder=cache
    )
    assert stored(cache).read_bytes() == before
    assert json.dumps([str(result.path) for result in results])
