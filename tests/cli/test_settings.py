"""Configuration files: which one is read, what it may hold, what is said of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import BAD, FIXED, SCALER, codes, project, run

TABLE = '[tool.precision-lint]\nignore = ["MP101"]\n'


def lint(root: Path, *arguments: str | Path, cwd: Path | None = None) -> list[str]:
    return codes(run(*arguments, "--output-format", "concise", cwd=cwd or root))


def test_pyproject(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "pyproject.toml": TABLE})
    assert lint(tmp_path) == []
    assert lint(tmp_path, "--isolated") == ["MP101"]


@pytest.mark.parametrize(
    "table",
    [
        '[tool."precision-lint"]\nignore = ["MP101"]\n',
        '[tool]\nprecision-lint = {ignore = ["MP101"]}\n',
        '[tool.precision-lint]\n"ignore" = ["MP101"]\n',
    ],
)
def test_pyproject_however_it_is_written(table: str, tmp_path: Path) -> None:
    assert lint(project(tmp_path, {"a.py": BAD, "pyproject.toml": table})) == []


def test_the_closest_file_is_read(tmp_path: Path) -> None:
    project(
        tmp_path,
        {"pyproject.toml": TABLE, "sub/pyproject.toml": "[project]\n", "sub/deep/a.py": BAD},
    )
    assert lint(tmp_path, cwd=tmp_path / "sub/deep") == []
    project(tmp_path, {"sub/.precision-lint.toml": 'ignore = ["MP2"]'})
    assert lint(tmp_path, cwd=tmp_path / "sub/deep") == ["MP101"]
    assert lint(tmp_path, "sub/deep/a.py") == ["MP101"]
    assert lint(tmp_path) == []


def test_a_dependency_is_no_table(tmp_path: Path) -> None:
    project(
        tmp_path,
        {
            "pyproject.toml": TABLE,
            "sub/pyproject.toml": '[dependency-groups]\ndev = ["precision-lint"]\n',
            "sub/a.py": BAD,
        },
    )
    assert lint(tmp_path, cwd=tmp_path / "sub") == []


def test_precision_lint_toml_comes_before_pyproject(tmp_path: Path) -> None:
    files = {"a.py": BAD, "pyproject.toml": TABLE, ".precision-lint.toml": 'ignore = ["MP2"]'}
    assert lint(project(tmp_path, files)) == ["MP101"]


def test_config_is_read_instead(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "pyproject.toml": TABLE, "other.toml": 'ignore = ["MP2"]'})
    assert lint(tmp_path, "--config", "other.toml") == ["MP101"]
    project(tmp_path, {"conf/pyproject.toml": TABLE.replace("MP101", "MP2")})
    assert lint(tmp_path, "--config", "conf/pyproject.toml") == ["MP101"]


def test_the_command_line_wins(tmp_path: Path) -> None:
    table = 'select = ["MP2"]\nmin-confidence = "high"\nforce-exclude = true\nexclude = ["b.py"]'
    project(tmp_path, {"a.py": BAD, "b.py": BAD, ".precision-lint.toml": table})
    assert lint(tmp_path, "a.py") == []
    assert lint(tmp_path, "a.py", "--select", "MP1") == ["MP101"]
    assert lint(tmp_path, "b.py", "--select", "MP1") == []


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('selekt = ["MP101"]', "unknown key `selekt`. Did you mean `select`?"),
        ('extend_exclude = ["a"]', "unknown key `extend_exclude`. Did you mean `extend-exclude`?"),
        ("target-touch = '2.0'", "unknown key `target-touch`. Did you mean `target-torch`?"),
        ("zzz = 1", "unknown key `zzz`. Known keys: "),
        ("config-file = 'x'", "unknown key `config-file`"),
        ("[tool.precision-lint]\nignore = []", "only a pyproject.toml has `[tool.precision-lint]`"),
        ('select = "MP101"', "`select` must be a list of strings"),
        ("select = [101]", "`select` must be a list of strings"),
        ('select = ["MP10l"]', "no rule is called `MP10l`. Did you mean `MP10"),
        ('min-confidence = "sure"', "`min-confidence` must be one of low, medium, high"),
        ("min-confidence = 1", "`min-confidence` must be a string"),
        ('min-severity = "fatal"', "`min-severity` must be one of info, warning, error"),
        ('output-format = "xml"', "`output-format` must be one of full, concise, json"),
        ("output-format = 1", "`output-format` must be a string"),
        ("baseline = 1", "`baseline` must be a string"),
        ('fix = "yes"', "`fix` must be true or false"),
        ("jobs = 0", "`jobs` must be a positive number"),
        ("jobs = true", "`jobs` must be a positive number"),
        ('per-file-ignores = ["a"]', "`per-file-ignores` must be a table"),
        ('per-file-ignores = {a = "MP101"}', "`per-file-ignores` must be a list of strings"),
        ('per-file-ignores = {a = ["MP000"]}', "no rule is called `MP000`"),
        ("target = {torch = 2.0}", 'the version of torch must be a string, such as "2.6"'),
        ('target = "torch"', "`target` must be a table of versions"),
        ('target-torch = "latest"', "`latest` is not a version of torch"),
        ('target-gpu = "v101"', "no GPU is called `v101`. Did you mean `V100`?"),
        ('target-gpu = "abacus"', "no GPU is called `abacus`. Known GPUs: "),
        ("target-gpu = 100", "`target-gpu` must be a string"),
        ("exclude = ", "Invalid value"),
        ("exclude = " + "[" * 20_000, ""),
        ('exclude = ["\udcff"]', ""),
    ],
)
def test_a_mistake_names_the_file_and_the_key(toml: str, message: str, tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    (tmp_path / ".precision-lint.toml").write_text(toml, "utf-8", "surrogateescape")
    ran = run(cwd=tmp_path)
    assert (ran.code, ran.stdout) == (2, b"")
    assert f"error: {tmp_path}/.precision-lint.toml: " in ran.err
    assert message in ran.err


@pytest.mark.parametrize("toml", ["tool = 1", "[tool]\nprecision-lint = 1", "precision-lint ="])
def test_a_pyproject_that_is_not_one(toml: str, tmp_path: Path) -> None:
    ran = run(cwd=project(tmp_path, {"a.py": BAD, "pyproject.toml": toml + " # precision-lint"}))
    assert ran.code == (1 if toml == "tool = 1" else 2)
    assert "Traceback" not in ran.err


def test_another_broken_pyproject_is_not_ours(tmp_path: Path) -> None:
    assert lint(project(tmp_path, {"a.py": BAD, "pyproject.toml": "[tool"})) == ["MP101"]


def test_options_as_keys(tmp_path: Path) -> None:
    table = 'fix = true\noutput-format = "concise"\nexit-non-zero-on-fix = true\njobs = 1\n'
    ran = run(cwd=project(tmp_path, {"a.py": BAD, ".precision-lint.toml": table}))
    assert ran.code == 1
    assert (tmp_path / "a.py").read_text() == FIXED


def test_exit_zero_and_statistics_as_keys(tmp_path: Path) -> None:
    table = "exit-zero = true\nstatistics = true\n"
    ran = run(cwd=project(tmp_path, {"a.py": BAD, ".precision-lint.toml": table}))
    assert ran.code == 0
    assert "numpy-on-bfloat16" in ran.out
    assert "a.py" not in ran.out


def test_a_baseline_as_a_key_stands_beside_the_file(tmp_path: Path) -> None:
    table = 'baseline = "known.json"'
    project(tmp_path, {"sub/a.py": BAD, ".precision-lint.toml": table})
    assert run("--write-baseline", "known.json", cwd=tmp_path).code == 0
    assert run(cwd=tmp_path / "sub").code == 0


def test_targets(tmp_path: Path) -> None:
    table = 'target-torch = "2.1"\ntarget = {triton = "3.0", torch = "2.2"}\n'
    project(tmp_path, {"a.py": SCALER, ".precision-lint.toml": table})
    shown = run("--show-settings", cwd=tmp_path).out
    assert "target: {'torch': '2.2', 'triton': '3.0'}" in shown
    shown = run(
        "--show-settings", "--target-torch", "2.6", "--target", "peft=0.1", cwd=tmp_path
    ).out
    assert "target: {'torch': '2.6', 'triton': '3.0', 'peft': '0.1'}" in shown


def test_the_target_gpu(tmp_path: Path) -> None:
    launch = "#SBATCH --gres=gpu:h100:8\naccelerate launch --mixed_precision fp8 train.py\n"
    project(tmp_path, {"train.sh": launch})
    assert lint(tmp_path) == []
    assert lint(tmp_path, "--target-gpu", "A100") == ["MP708"]
    project(tmp_path, {".precision-lint.toml": 'target-gpu = "NVIDIA A100-SXM4-80GB"'})
    assert lint(tmp_path) == ["MP708"]
    assert lint(tmp_path, "--target-gpu", "L4") == []
    assert "target-gpu: L4" in run("--show-settings", "--target-gpu", "L4", cwd=tmp_path).out
    assert "becomes fp16 on NVIDIA A100 (`target-gpu`)" in run(cwd=tmp_path).out


def test_show_settings(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "pyproject.toml": TABLE})
    ran = run("--show-settings", "--select", "MP1,MP201", cwd=tmp_path)
    assert ran.code == 0
    assert f"project root: {tmp_path}" in ran.out
    assert f"configuration: {tmp_path}/pyproject.toml" in ran.out
    assert "select: MP1, MP201" in ran.out
    assert "min-confidence: medium" in ran.out
    assert "MP101" not in ran.out.rpartition("rules: ")[2]


def test_show_files(tmp_path: Path) -> None:
    project(tmp_path, {"b.py": BAD, "a/c.yaml": "a: 1", "README.md": "#", "build/d.py": BAD})
    ran = run("--show-files", cwd=tmp_path)
    assert ran.code == 0
    assert ran.out.splitlines() == [f"{tmp_path}/a/c.yaml", f"{tmp_path}/b.py"]


def test_the_cache_options_are_accepted(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    assert lint(tmp_path, "--no-cache", "--cache-dir", tmp_path / "cache", "-j", "3") == ["MP101"]


@pytest.mark.parametrize("folder", ["..", "sub/../..", "/tmp/elsewhere", "link/cache", "a\\u0000"])
def test_a_configuration_cannot_place_the_cache_outside_the_project(
    folder: str, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    project(root, {"a.py": BAD, "pyproject.toml": f'[tool.precision-lint]\ncache-dir = "{folder}"'})
    (root / "link").symlink_to(tmp_path)
    for arguments in ([], ["explain-config", "."]):
        ran = run(*arguments, cwd=root)
        assert (ran.code, ran.stdout) == (2, b"")
        assert f"{root}/pyproject.toml: `cache-dir` must be a folder inside the project" in ran.err
        assert "--cache-dir" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["project"]


LARGE = "# enough to be worth a cache\n" * 50_000


def test_a_configuration_places_the_cache_inside_the_project(tmp_path: Path) -> None:
    table = 'cache-dir = "../.cache"'
    project(tmp_path, {"sub/a.py": LARGE, "b.py": "x = 1", "sub/.precision-lint.toml": table})
    assert lint(tmp_path, "sub") == []
    assert len(list((tmp_path / ".cache").iterdir())) == 1


def test_the_command_line_places_the_cache_anywhere(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    project(root, {"a.py": LARGE, "b.py": "x = 1"})
    assert lint(root, ".", "--cache-dir", "../cache") == []
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_a_user_without_a_home_has_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    project(tmp_path, {"a.py": BAD, "large.py": LARGE})
    assert lint(tmp_path) == ["MP101"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".git", "a.py", "large.py"]
