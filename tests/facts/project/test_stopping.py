"""Programs that stop at an import of what the project does not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.project.files import Project

MAIN = "\n\nif __name__ == '__main__':\n    main()\n"
TRAIN = f"from models.vit import ViT\n{MAIN}"
UNET = "class UNet:\n    pass\n"

STOPPING = [
    ("a missing module of a package", {"train.py": TRAIN, "models/__init__.py": ""}),
    (
        "of a folder from which another module is imported",
        {"train.py": f"from models.unet import UNet\n{TRAIN}"},
    ),
    (
        "of a folder from which a program beside it imports another module",
        {"train.py": TRAIN, "evaluate.py": f"from models.unet import UNet\n{MAIN}"},
    ),
    ("`import` of a missing module", {"train.py": "import models.unet\nimport models.vit" + MAIN}),
    (
        "a missing name of a module next to it",
        {"train.py": "from trainer import fit" + MAIN, "trainer.py": "def run():\n    pass\n"},
    ),
    (
        "a missing name of a package",
        {"train.py": "from models import ViT" + MAIN, "models/__init__.py": "import torch\n"},
    ),
    (
        "a relative import",
        {
            "train.py": "from models.unet import UNet" + MAIN,
            "models/unet.py": "from .blocks import Block\n",
        },
    ),
    (
        "by others",
        {
            "train.py": "from models import unet" + MAIN,
            "models/__init__.py": "",
            "models/unet.py": "from models import layers\n",
            "models/layers.py": "from .norm import Norm\n",
        },
    ),
    (
        "in the package around a module",
        {
            "train.py": "from models.unet import UNet" + MAIN,
            "models/__init__.py": "from models.vit import ViT\n",
        },
    ),
    (
        "where it looks in folders of the project",
        {
            "train.py": "import sys\nsys.path.append('./models')\nimport models.unet\n" + TRAIN,
        },
    ),
    (
        "another program puts modules into `sys.modules`",
        {
            "train.py": TRAIN,
            "models/__init__.py": "",
            "shim.py": "import sys\nsys.modules['occ'] = sys\n",
        },
    ),
]
RUNNING = [
    ("the module is there", {"train.py": TRAIN, "models/vit.py": "class ViT:\n    pass\n"}),
    (
        "another folder has it",
        {"train.py": f"import models.unet\n{TRAIN}", "lib/models/vit.py": ""},
    ),
    ("a file alone", {"excerpt/train.py": "from .vit import ViT\n"}),
    ("nothing shows that the folder is the package", {"train.py": TRAIN}),
    (
        "a program in another folder imports what is there",
        {"train.py": TRAIN, "tools/evaluate.py": f"from models.unet import UNet\n{MAIN}"},
    ),
    (
        "what imports another module of it is a test",
        {"train.py": TRAIN, "test_unet.py": "from models.unet import UNet\n"},
    ),
    (
        "under try",
        {
            "train.py": "try:\n    from models.vit import ViT\nexcept ImportError:\n    pass\n"
            + MAIN,
            "models/__init__.py": "",
        },
    ),
    (
        "under a condition",
        {
            "train.py": "if TYPE_CHECKING:\n    from models.vit import ViT\n" + MAIN,
            "models/__init__.py": "",
        },
    ),
    (
        "in a function",
        {
            "train.py": "def f():\n    from models.vit import ViT\n" + MAIN,
            "models/__init__.py": "",
        },
    ),
    (
        "in a text",
        {"train.py": f'"""\n{TRAIN}"""\n{MAIN}', "models/__init__.py": ""},
    ),
    (
        "after the program has ended",
        {"train.py": f"raise SystemExit\n{TRAIN}", "models/__init__.py": ""},
    ),
    ("compiled", {"train.py": TRAIN, "models/__init__.py": "", "models/vit.pyx": ""}),
    ("typed", {"train.py": TRAIN, "models/__init__.py": "", "models/vit.pyi": ""}),
    (
        "generated",
        {"train.py": "from models.data_pb2 import Row" + MAIN, "models/__init__.py": ""},
    ),
    (
        "a version",
        {"train.py": "from models._version import version" + MAIN, "models/__init__.py": ""},
    ),
    ("ignored", {"train.py": TRAIN, "models/__init__.py": "", ".gitignore": "vit.py\n"}),
    (
        "in an ignored folder",
        {"train.py": TRAIN, "models/__init__.py": "", ".gitignore": "models/"},
    ),
    (
        "a submodule",
        {
            "train.py": TRAIN,
            "models/__init__.py": "",
            ".gitmodules": '[submodule "vit"]\n\tpath = models/vit\n',
        },
    ),
    (
        "where it looks in a folder that is not there",
        {
            "train.py": f"import sys\nsys.path.append('../vit')\nimport models.unet\n{TRAIN}",
        },
    ),
    (
        "a script sets the folders",
        {
            "train.py": f"import models.unet\n{TRAIN}",
            "run.sh": "PYTHONPATH=/opt/vit python train.py\n",
        },
    ),
    (
        "a page says where to get it",
        {"train.py": TRAIN, "models/__init__.py": "", "README.md": "Copy `vit.py` to it.\n"},
    ),
    (
        "a name that a star may give",
        {"train.py": "from tools import a" + MAIN, "tools.py": "from torch import *"},
    ),
    (
        "a name that a function makes",
        {"train.py": "from tools import a" + MAIN, "tools.py": "globals().update(NAMES)\n"},
    ),
    (
        "a name that `__getattr__` gives",
        {"train.py": "from tools import a" + MAIN, "tools.py": "def __getattr__(x):\n    ...\n"},
    ),
    (
        "a name that others assign",
        {
            "train.py": "import torch\nimport setup_all\nfrom tools import a" + MAIN,
            "setup_all.py": "import torch, tools\ntools.a = torch\n",
            "tools.py": "b = 1\n",
        },
    ),
    (
        "a module that is put into `sys.modules`",
        {
            "train.py": f"import sys\nsys.modules['models.vit'] = sys\n{TRAIN}",
            "models/__init__.py": "",
        },
    ),
    (
        "a library, for a script of another folder",
        {
            "scripts/train.py": "from datasets import load_dataset" + MAIN,
            "datasets/__init__.py": "",
        },
    ),
    (
        "a library, for a module of a package",
        {
            "data/load.py": "from datasets import load_dataset\n",
            "data/datasets.py": "import torch\n",
            "train.py": "from data.load import load_dataset" + MAIN,
        },
    ),
    (
        "a library that the project requires",
        {
            "train.py": "import datasets.voc\nfrom datasets.utils import logging" + MAIN,
            "datasets/voc.py": "",
            "requirements.txt": "datasets==2.14\n",
        },
    ),
    (
        "a module that is imported lazily",
        {
            "train.py": "def f():\n    from models import unet\n" + MAIN,
            "models/__init__.py": "",
            "models/unet.py": "import torch\n",
        },
    ),
]


def _stop(files: dict[str, str], root: Path, name: str = "train.py") -> str | None:
    for path, content in {"models/unet.py": UNET, **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    stop = ProjectFacts(Project(root)).stop(next(root.rglob(name)))
    return None if stop is None else stop.related.message


@pytest.mark.parametrize(
    "files", [case[1] for case in STOPPING], ids=[case[0] for case in STOPPING]
)
def test_programs_that_stop(files: dict[str, str], tmp_path: Path) -> None:
    assert _stop(files, tmp_path)


@pytest.mark.parametrize("files", [case[1] for case in RUNNING], ids=[case[0] for case in RUNNING])
def test_programs_that_may_run(files: dict[str, str], tmp_path: Path) -> None:
    assert _stop(files, tmp_path) is None


MODEL = {"lib/model.py": UNET, "models/__init__.py": ""}
LEADING = f"from lib.model import UNet\n{TRAIN}"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"run.py": LEADING}, True),
        ({"run.py": LEADING, "other.py": LEADING}, True),
        ({"run.py": LEADING, "other.py": f"import lib.model{MAIN}"}, False),
        ({"run.py": LEADING, "lib/model.py": UNET + MAIN}, False),
        ({"run.py": LEADING, "show.ipynb": '{"cells": ["from lib.model import UNet"]}'}, False),
        ({"run.py": LEADING, "pyproject.toml": "[project]\nname = 'lib'\n"}, False),
        ({"run.py": LEADING, "tests/test_model.py": "import lib.model\n"}, True),
    ],
)
def test_modules_to_which_only_such_programs_lead(
    more: dict[str, str], expected: bool, tmp_path: Path
) -> None:
    assert (_stop({**MODEL, **more}, tmp_path, "lib/model.py") is not None) is expected


def test_a_file_runs_up_to_the_import(tmp_path: Path) -> None:
    source = f"import torch\n\n{TRAIN}"
    said = _stop({"train.py": source, **MODEL}, tmp_path)
    assert said == "no run comes here: the project has no module `models.vit`"
    stop = ProjectFacts(Project(tmp_path)).stop(tmp_path / "train.py")
    assert stop is not None
    assert source[: stop.end].endswith("import ViT")
