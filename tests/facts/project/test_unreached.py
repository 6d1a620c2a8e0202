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


def test_settings_of_tools_package_nothing(tmp_path: Path) -> None:
    settings = {"pyproject.toml": "[tool.ruff]\nline-length = 88\n"}
    assert is_unreached(tmp_path, {"train.py": PROGRAM, **settings})


def test_code_that_imports_modules_of_a_library_by_name_does_not_count(tmp_path: Path) -> None:
    load = "def load(name):\n    return importlib.import_module(f'torchvision.{name}')\n"
    assert is_unreached(tmp_path, {"train.py": PROGRAM, "tools/load.py": load})
