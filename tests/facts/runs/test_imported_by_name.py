"""Which modules are part of a program without a statement that imports them."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.engine.options import Options
from precision_lint.engine.session import Session
from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.facts.runs.interpreter.imported_by_name import program_of
from tests.cli.running import project

MODULES = {f"app/kinds/{name}.py": "" for name in "abcdefghij"}
PACKAGE = {"app/__init__.py": "", "app/kinds/__init__.py": "", "app/other.py": "", **MODULES}
ALL = {f"app/kinds/{name}" for name in "abcdefghij"}

LISTED = """\
import importlib, os

for name in os.listdir("app/kinds"):
    importlib.import_module(f"app.kinds.{name[:-3]}")
"""
COMPREHENSION = """\
import importlib, os

found = [importlib.import_module("app.kinds.%s" % name) for name in os.listdir("app/kinds")]
"""
ADDED = """\
from importlib import import_module

def start():
    for name in sorted(os.listdir("app/kinds")):
        module = "app.kinds." + name.removesuffix(".py")
        import_module(module)
"""
OWN = """\
import importlib

for name in names():
    importlib.import_module(f"{__name__}.{name}")
"""
RELATIVE = """\
import importlib

for name in names():
    importlib.import_module("." + name, package=__name__)
"""
WRITTEN = """\
import importlib

for name in ["a", "c"]:
    importlib.import_module("app.kinds." + name)
"""
PAIRS = """\
import importlib

KINDS = [("app.kinds", ["a", "b"]), ("app", ["other"])]

def start():
    every = KINDS
    for base, names in every:
        for name in names:
            if base:
                full = base + "." + name
            else:
                full = name
            importlib.import_module(full)
"""
ONE = """\
import importlib

def start(name):
    return importlib.import_module(f"app.kinds.{name}")
"""
LEFT = """\
import importlib

for name in names():
    importlib.import_module(name)
"""
ELSEWHERE = """\
import importlib

for name in names():
    importlib.import_module(f"library.kinds.{name}")
"""
UNKNOWN = """\
import importlib

for name in names():
    importlib.import_module("app.kinds." + name, *more)
    importlib.import_module(f"{base}.{name}")
"""
TAKEN = """\
import importlib

def load(name):
    importlib.import_module("app.kinds." + name)

for name in ["a", "b"]:
    load(name)
"""


def parts(tmp_path: Path, files: dict[str, str], start: str = "train.py") -> set[str]:
    root = project(tmp_path, files).resolve()
    asked = ProjectFacts(Session.open([root], Options(isolated=True)).project).recording()
    found = program_of(root / start, asked)
    return {path.relative_to(root).with_suffix("").as_posix() for path in found} - {start[:-3]}


@pytest.mark.parametrize("text", [LISTED, COMPREHENSION, ADDED])
def test_a_loop_imports_all_modules_of_a_folder(tmp_path: Path, text: str) -> None:
    assert parts(tmp_path, PACKAGE | {"train.py": text}) == ALL | {
        "app/__init__",
        "app/kinds/__init__",
    }


@pytest.mark.parametrize("text", [OWN, RELATIVE])
def test_a_package_imports_its_own_modules(tmp_path: Path, text: str) -> None:
    files = PACKAGE | {"app/kinds/__init__.py": text, "train.py": "import app.kinds\n"}
    files |= {"zzz/b.py": "", "b.py": ""}
    assert parts(tmp_path, files) == ALL | {"app/__init__", "app/kinds/__init__"}


def test_names_that_are_written_out(tmp_path: Path) -> None:
    (flat := tmp_path / "flat").mkdir()
    assert parts(flat, MODULES | {"train.py": WRITTEN}) == {"app/kinds/a", "app/kinds/c"}
    (pairs := tmp_path / "pairs").mkdir()
    files = MODULES | {"app/other.py": "", "app/kinds/other.py": "", "train.py": PAIRS}
    found = parts(pairs, files)
    assert {"app/kinds/a", "app/kinds/b", "app/other"} <= found
    assert not {"app/kinds/c", "app/kinds/d"} & found


@pytest.mark.parametrize("text", [ONE, LEFT, ELSEWHERE, TAKEN])
def test_one_of_many_modules_is_not_all_of_them(tmp_path: Path, text: str) -> None:
    assert parts(tmp_path, PACKAGE | {"train.py": text}) == set()


def test_what_is_known_of_one_call_says_nothing_of_another(tmp_path: Path) -> None:
    found = parts(tmp_path, PACKAGE | {"train.py": UNKNOWN, "tool/x.py": ""})
    assert "tool/x" not in found


def test_packages_around_a_module_are_imported_first(tmp_path: Path) -> None:
    files = {
        "train.py": "from app.deep.tool import run\n",
        "app/__init__.py": "",
        "app/deep/__init__.py": "from .engine import Engine\n",
        "app/deep/tool.py": "",
        "app/deep/engine.py": "",
        "app/deep/unused.py": "",
        "app/wide/__init__.py": "",
    }
    found = parts(tmp_path, files)
    assert found == {"app/__init__", "app/deep/__init__", "app/deep/engine", "app/deep/tool"}


def test_a_script_in_a_package_imports_nothing_of_that(tmp_path: Path) -> None:
    files = {
        "app/train.py": "import tool\n",
        "app/tool.py": "",
        "app/__init__.py": "from . import engine\n",
        "app/engine.py": "",
    }
    assert parts(tmp_path, files, "app/train.py") == {"app/tool"}


def test_a_folder_without_a_file_for_it_is_no_package_that_runs(tmp_path: Path) -> None:
    files = {
        "train.py": "from app.deep.tool import run\n",
        "app/__init__.py": "from . import engine\n",
        "app/engine.py": "",
        "app/deep/tool.py": "",
    }
    assert parts(tmp_path, files) == {"app/deep/tool"}


def test_classes_that_a_table_names_by_their_paths(tmp_path: Path) -> None:
    files = {
        "train.py": "from registry import model\nload(model['one'])\n",
        "registry.py": 'model = {\n    "one": "nets.one.One",\n    "two": "torch.optim.Adam",\n}\n',
        "nets/one.py": "from nets import deep\n",
        "nets/deep.py": "",
        "nets/three.py": "",
    }
    found = parts(tmp_path, files)
    assert {"nets/one", "nets/deep"} <= {name.removesuffix(".py") for name in found}
    assert not any("three" in name for name in found)
