"""Modules that no program of a project comes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.project.files import Project

MODULE = "models/vit.py"
PROGRAM = "from models.unet import UNet\n\nif __name__ == '__main__':\n    UNet().train()\n"


def is_unreached(tmp_path: Path, more: dict[str, str]) -> bool:
    files = {MODULE: "class ViT:\n    pass\n", "models/unet.py": "class UNet:\n    pass\n"}
    for name, content in (files | more).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return ProjectFacts(Project(tmp_path)).is_unreached(tmp_path / MODULE)


def test_a_module_that_no_program_imports(tmp_path: Path) -> None:
    assert is_unreached(tmp_path, {"train.py": PROGRAM})


@pytest.mark.parametrize(
    "more",
    [
        {},  # there is no program
        {"train.py": "from models.vit import ViT\n\nif __name__ == '__main__':\n    ViT()\n"},
        {"train.py": PROGRAM, "run.py": "import models.vit\n\nmodels.vit.ViT()\n"},
        {
            "train.py": "from models import ViT\n\nif __name__ == '__main__':\n    ViT()\n",
            "models/__init__.py": "from models.vit import ViT\n",
        },
        {"train.py": PROGRAM, MODULE: "class ViT:\n    pass\n\n\nfor each in (1, 2):\n    ViT()\n"},
        {"train.py": PROGRAM, MODULE: "@app.function(gpu='T4')\ndef main():\n    pass\n"},
        {"train.py": PROGRAM, MODULE: '"""Run it: `modal run models/vit.py`."""\n'},
        {"train.py": PROGRAM, "setup.py": "from setuptools import setup\n\nsetup(name='models')\n"},
        {"train.py": PROGRAM, "pyproject.toml": "[project]\nname = 'models'\n"},
        {"train.py": PROGRAM, "config.yaml": "model:\n  name: vit\n"},
        {"train.py": PROGRAM, "README.md": "`from models.vit import ViT`\n"},
        {"train.py": PROGRAM, "show.ipynb": '{"cells": ["from models.vit import ViT"]}'},
        {"train.py": PROGRAM + "\nNAMES = ['vit']\n"},
        {"train.py": PROGRAM + "\nimport importlib\nimportlib.import_module(NAME)\n"},
        {
            "train.py": PROGRAM,
            "tools/load.py": "def load(path):\n    return [*iter_modules(path)]\n",
        },
    ],
)
def test_a_module_that_something_may_come_to(more: dict[str, str], tmp_path: Path) -> None:
    assert not is_unreached(tmp_path, more)


SETUP = {"setup.py": "from setuptools import setup\n\nsetup(name='models')\n", "train.py": PROGRAM}


@pytest.mark.parametrize(
    "page",
    [
        "# Vision\n\n```sh\npip install -e .\npython train.py\n```\n",
        "# Vision models\n\nInstall torch, then `pip install -r requirements.txt`.\n",
    ],
)
def test_a_project_that_is_packaged_for_itself(page: str, tmp_path: Path) -> None:
    assert is_unreached(tmp_path, {**SETUP, "README.md": page})


@pytest.mark.parametrize(
    "page",
    [
        "```python\nfrom models import UNet\n```\n",
        "```python\nimport models.unet as unet\n```\n",
        "```sh\npip install models\n```\n",
        "```sh\nuv add 'models[gpu]'\n```\n",
        "```sh\npip install git+https://example.org/lab/models.git\n```\n",
    ],
)
def test_a_project_that_is_packaged_for_others(page: str, tmp_path: Path) -> None:
    assert not is_unreached(tmp_path, {**SETUP, "docs/usage.md": page})


def test_the_name_of_a_folder_is_no_pattern(tmp_path: Path) -> None:
    files = {**SETUP, "README.md": "pip install -e .\n", "c++ (old/vit.py": ""}
    assert is_unreached(tmp_path, files)
    facts = ProjectFacts(Project(tmp_path))
    assert facts.is_unreached(tmp_path / "c++ (old" / "vit.py")


def test_a_package_below_src(tmp_path: Path) -> None:
    files = {"pyproject.toml": "[project]\nname = 'lab-vision'\n", "train.py": PROGRAM}
    module = "src/lab_vision/vit.py"
    for name, content in {**files, "README.md": "pip install lab-vision\n", module: ""}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    facts = ProjectFacts(Project(tmp_path))
    assert not facts.is_unreached(tmp_path / module)


def test_settings_of_tools_package_nothing(tmp_path: Path) -> None:
    settings = {"pyproject.toml": "[tool.ruff]\nline-length = 88\n"}
    assert is_unreached(tmp_path, {"train.py": PROGRAM, **settings})


def test_code_that_imports_modules_of_a_library_by_name_does_not_count(tmp_path: Path) -> None:
    load = "def load(name):\n    return importlib.import_module(f'torchvision.{name}')\n"
    assert is_unreached(tmp_path, {"train.py": PROGRAM, "tools/load.py": load})
