"""How imports are sorted, as the settings of ruff and isort say."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.project.import_style import FIRST, LOCAL, STANDARD, THIRD, import_style


def write(root: Path, **files: str) -> Path:
    """Write files, `__` in a name for a dot, and return the path of a module of the project."""
    for name, content in files.items():
        (root / name.replace("__", ".")).write_text(content)
    path = root / "src" / "mypkg" / "sub" / "code.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in (path.parent, path.parent.parent):
        (folder / "__init__.py").write_text("")
    return path


def sections(root: Path, path: Path, *modules: str) -> list[str]:
    style = import_style(path, root)
    return [style.sections[style.section(module)] for module in modules]


def test_modules_of_the_project_are_found(tmp_path: Path) -> None:
    path = write(tmp_path, tools__py="")
    modules = ("os", "torch", "mypkg.zoo", "tools", "precision_lint.runtime")
    assert sections(tmp_path, path, *modules) == [STANDARD, THIRD, FIRST, FIRST, THIRD]
    assert import_style(path, tmp_path).section("zoo", level=1) == 4


@pytest.mark.parametrize(
    "files",
    [
        {"ruff__toml": "src = ['lib']\n[lint.isort]\nknown-local-folder = ['torch']\n"},
        {"pyproject__toml": "[tool.ruff]\nsrc = ['lib']\nisort.known-local-folder = ['torch']\n"},
        {"setup__cfg": "[isort]\nsrc_paths = lib\nknown_local_folder = torch, other\n"},
        {"__isort__cfg": "[settings]\nsrc_paths = lib\nknown_local_folder =\n    torch\n"},
        {"tox__ini": "[isort]\nsrc_paths = lib\nknown_local_folder = torch\n"},
        {
            "pyproject__toml": "[tool.ruff]\nline-length = 99\n"
            "[tool.isort]\nsrc_paths = ['lib']\nknown_local_folder = ['torch']\n"
        },
        {
            "ruff__toml": "extend = 'base.toml'\n",
            "base__toml": "lint.isort.known-local-folder=['torch']",
        },
    ],
    ids=lambda files: " ".join(files),
)
def test_known_modules(files: dict[str, str], tmp_path: Path) -> None:
    path = write(tmp_path, **files)
    assert sections(tmp_path, path, "torch.nn", "numpy") == [LOCAL, THIRD]


@pytest.mark.parametrize(
    ("files", "name", "value"),
    [
        ({"ruff__toml": "line-length = 100"}, "line_length", 100),
        ({"ruff__toml": "lint.isort.force-single-line = true"}, "force_single_line", True),
        (
            {"setup__cfg": "[isort]\nforce_sort_within_sections = True\n"},
            *("force_sort_within_sections", True),
        ),
        ({"setup__cfg": "[isort]\nlines_after_imports = 2\n"}, "lines_after_imports", 2),
        ({"setup__cfg": "[isort]\nmulti_line_output = 3\n"}, "line_length", 79),
        ({"__isort__cfg": "[settings]\nprofile = google\n"}, "force_single_line", True),
        ({"pyproject__toml": "[tool.isort]\nprofile = 'black'\n"}, "line_length", 88),
        ({"pyproject__toml": "[tool.black]\nline-length = 100\n"}, "line_length", 100),
        ({"pyproject__toml": "[tool.black]\nline_length = 100\n"}, "line_length", 100),
        ({"pyproject__toml": "not toml"}, "line_length", 88),
        ({"setup__cfg": "no section"}, "line_length", 88),
    ],
)
def test_settings(files: dict[str, str], name: str, value: object, tmp_path: Path) -> None:
    assert getattr(import_style(write(tmp_path, **files), tmp_path), name) == value


def test_ruff_counts_where_it_sorts_imports_and_isort_otherwise(tmp_path: Path) -> None:
    both = "[tool.ruff]\n%s\n[tool.isort]\nforce_single_line = true\n"
    path = write(tmp_path, pyproject__toml=both % "lint.select = ['E']")
    assert import_style(path, tmp_path).force_single_line
    write(tmp_path, pyproject__toml=both % "lint.select = ['E', 'I']")
    assert not import_style(path, tmp_path).force_single_line


def test_the_closest_settings_count(tmp_path: Path) -> None:
    path = write(tmp_path, ruff__toml="line-length = 100")
    (tmp_path / "src" / "ruff.toml").write_text("line-length = 60")
    assert import_style(path, tmp_path).line_length == 60
    assert import_style(tmp_path / "a.py", tmp_path).line_length == 100


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "ruff.toml")
    (tmp_path / "setup.cfg").symlink_to("/dev/zero")
    assert import_style(write(tmp_path), tmp_path).line_length == 88
