"""What helps a project to start: a baseline that shrinks, color, versions with the right names."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import BAD, CLEAN, CONFIG, SCALER, project, run


def test_what_no_longer_occurs_is_said_and_removed(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "b.py": BAD, "c.py": SCALER})
    run("--write-baseline", "known.json", cwd=tmp_path)
    (tmp_path / "a.py").write_text(CLEAN)
    (tmp_path / "c.py").unlink()
    stale = "known.json: contains 2 findings of code that has changed"
    assert stale in run("--baseline", "known.json", cwd=tmp_path).err
    only_b = run("--baseline", "known.json", "b.py", cwd=tmp_path)
    assert "contains 1 finding of" in only_b.err  # `c.py` is gone; of `a.py` nothing is known
    assert "contains" not in run("--baseline", "known.json", "--select", "MP801", cwd=tmp_path).err
    pruned = run("--baseline", "known.json", "--prune-baseline", cwd=tmp_path)
    assert (pruned.code, "removed 2 findings" in pruned.err) == (0, True)
    rows = json.loads((tmp_path / "known.json").read_text())["findings"]
    assert [row["path"] for row in rows] == ["b.py"]
    assert run("--baseline", "known.json", cwd=tmp_path).err == ""


def test_new_findings_are_not_taken_into_a_pruned_baseline(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    run("--write-baseline", "known.json", cwd=tmp_path)
    (tmp_path / "a.py").write_text(BAD + "other = scores.numpy()\n")
    before = (tmp_path / "known.json").read_bytes()
    ran = run("--baseline", "known.json", "--prune-baseline", cwd=tmp_path)
    assert ran.code == 1
    assert (tmp_path / "known.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "like"),
    [
        (["--target", "tork=2.4"], "torch"),
        (["--target", "Transformer=4.5"], "transformers"),
        (["--target", "qqqq=1"], None),
    ],
)
def test_a_library_that_no_rule_asks_about(
    arguments: list[str], like: str | None, tmp_path: Path
) -> None:
    ran = run(*arguments, cwd=project(tmp_path, {"a.py": BAD}))
    assert (ran.code, ran.out) == (2, "")
    assert "no rule depends on the version of" in ran.err
    assert (f"Did you mean `{like}`?" if like else "Known ones: ") in ran.err


def test_a_library_in_a_configuration(tmp_path: Path) -> None:
    toml = '[tool.precision-lint.target]\ntork = "2.4"\n'
    ran = run(cwd=project(tmp_path, {"a.py": BAD, "pyproject.toml": toml}))
    assert ran.code == 2
    assert "Did you mean `torch`?" in ran.err


def test_color(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    assert "\x1b[" in run("--color", "always", cwd=tmp_path).out
    assert "\x1b[" not in run("--color", "never", cwd=tmp_path).out
    assert "\x1b[" not in run(cwd=tmp_path).out


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this interpreter knows the syntax")
def test_syntax_of_a_newer_python_names_it(tmp_path: Path) -> None:
    project(
        tmp_path,
        {"a.py": "import torch\nclass A[T]:\n    x: T[\n", "b.py": "print 'x'\n"},
    )
    ran = run("a.py", "b.py", "--output-format", "concise", cwd=tmp_path)
    newer, older = ran.out.splitlines()[:2]
    assert "this syntax needs Python 3.12" in newer
    assert "this syntax needs" not in older


def test_as_a_module_nothing_of_the_working_folder_is_imported(tmp_path: Path) -> None:
    hostile = dict.fromkeys(
        ["click.py", "libcst.py", "yaml.py", "json.py"], "open('executed', 'w')\n"
    )
    project(tmp_path, {**hostile, "a.py": BAD})
    done = subprocess.run(
        [sys.executable, "-m", "precision_lint", "--output-format", "concise", "a.py"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert b"a.py:4:9: MP101" in done.stdout
    assert not (tmp_path / "executed").exists()


def test_every_finding_is_ignored_with_a_reason(tmp_path: Path) -> None:
    more = "f(scores.numpy(), scores.cpu().numpy())\nlong = (\n    scores\n    .numpy()\n)\n"
    two = f"{BAD}f = print\n{more}"
    script = "accelerate launch --mixed_precision fp16 t.py \\\n  --bf16\n"
    files = {"a.py": two, "b.py": SCALER, "c.yaml": CONFIG, "run.sh": script, "d.py": CLEAN}
    project(tmp_path, files)
    before = {name: (tmp_path / name).read_text() for name in files}
    ran = run("--add-ignore", "float32 there", cwd=tmp_path)
    assert ran.code == 0, ran.out
    assert "note: ignored" in ran.err
    after = {name: (tmp_path / name).read_text() for name in files}
    comment = "# precision-lint: ignore[MP101] float32 there\n"
    assert f"{comment}array = scores.numpy()  # for the plot\n" in after["a.py"]
    assert f"scores.cpu().numpy())  {comment}" in after["a.py"]
    assert after["a.py"].count(comment) == 3
    assert after["d.py"] == before["d.py"]
    for name in files:
        rows = (row.split("  # precision-lint")[0] for row in after[name].splitlines())
        kept = [row for row in rows if not row.startswith("# precision-lint")]
        assert kept == before[name].splitlines()
    again = run(cwd=tmp_path)
    assert (again.code, again.err) == (0, "")
    assert run("--add-ignore", "again", cwd=tmp_path).err == ""


def test_a_comment_makes_no_row_too_long_for_the_formatter(tmp_path: Path) -> None:
    rows = "    both = f(scores.numpy(), scores.cpu().numpy())\n    x = scores.numpy()\n"
    branch = "if True:\n" + rows + "    y = 1, \\\n        scores.detach().cpu().numpy()\n"
    settings = "[tool.ruff]\nline-length = 70\n"
    project(tmp_path, {"a.py": BAD + branch, "pyproject.toml": settings})
    assert run("--add-ignore", "float32 here", cwd=tmp_path).code == 0
    text = (tmp_path / "a.py").read_text()
    comment = "# precision-lint: ignore[MP101] float32 here"
    assert f"    {comment}\n    both = f(scores.numpy(), scores.cpu().numpy())\n" in text
    assert f"    x = scores.numpy()  {comment}\n" in text
    assert f"        scores.detach().cpu().numpy()  {comment}\n" in text  # not after a backslash
    assert run(cwd=tmp_path).code == 0


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines", "a # b", "\x1b[1m"])
def test_a_reason_is_text(reason: str, tmp_path: Path) -> None:
    ran = run("--add-ignore", reason, cwd=project(tmp_path, {"a.py": BAD}))
    assert ran.code == 2
    assert "the reason must be text" in ran.err
    assert (tmp_path / "a.py").read_text() == BAD


def test_where_no_comment_may_stand_the_finding_is_left(tmp_path: Path) -> None:
    both = '{"zero_optimization": {}, "fp16": {"enabled": true}, "bf16": {"enabled": true}}\n'
    project(tmp_path, {"ds.json": both, "a.py": BAD})
    ran = run("--add-ignore", "why", "--output-format", "concise", cwd=tmp_path)
    assert (ran.code, ran.out.count("MP702"), ran.out.count("MP101")) == (1, 1, 0)
    assert (tmp_path / "ds.json").read_text() == both
    left = "note: ds.json: no comment can ignore 1 finding in this format; use per-file-ignores or"
    assert left in ran.err


def test_a_finding_in_a_string_is_left_with_a_note(tmp_path: Path) -> None:
    content = BAD[: BAD.index("array")] + 'text = f"""\n{scores.numpy()}\n"""\n'
    ran = run("--add-ignore", "why", cwd=project(tmp_path, {"a.py": content}))
    assert ran.code == 1
    assert "a.py: no comment can ignore 1 finding at its place; use per-file-ignores or" in ran.err
    assert (tmp_path / "a.py").read_text() == content


def test_many_findings_of_one_rule_are_counted(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD + "x = scores.numpy()\n" * 20, "b.py": SCALER})
    ran = run(cwd=tmp_path)
    assert ran.out.count("MP101 [*]") == 10
    assert "and 11 more of MP101 numpy-on-bfloat16: --all shows them\n" in ran.out
    assert re.search(r"Found 2[12] ", ran.out)
    assert run("--all", cwd=tmp_path).out.count("MP101 [*]") == 21
    assert run("--output-format", "concise", cwd=tmp_path).out.count("MP101 [*]") == 21


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--prune-baseline"], "--prune-baseline needs --baseline"),
        (["--add-ignore", "why", "--fix"], "--add-ignore cannot be combined with --fix"),
        (["--add-ignore", "why", "--unsafe-fixes"], "--add-ignore cannot be combined with --fix"),
        (["--diff", "--write-baseline", "b.json"], "--diff writes nothing"),
        (["--diff", "--baseline", "b.json", "--prune-baseline"], "--diff writes nothing"),
        (["--fix", "--since", "HEAD"], "--since only chooses what is reported"),
        (["--watch", "--fix"], "--watch cannot be combined with"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], why: str, tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "b.json": '{"version": 1, "findings": []}\n'})
    ran = run(*options, cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert why in ran.err
    assert (tmp_path / "a.py").read_text() == BAD


def test_a_diff_of_suppressions_says_so(tmp_path: Path) -> None:
    ran = run("--add-ignore", "why", "--diff", cwd=project(tmp_path, {"a.py": BAD}))
    assert "note: would ignore 1 finding in 1 file" in ran.err
    assert (tmp_path / "a.py").read_text() == BAD
