"""New imports keep sorted blocks sorted: ruff itself and its settings are the judge."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from precision_lint.fixers.imports import import_name
from precision_lint.model.finding import apply_edits
from precision_lint.project.import_style import ImportStyle, import_style
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText

_BESIDE = Path(sys.executable).with_name("ruff")
RUFF = str(_BESIDE) if _BESIDE.exists() else shutil.which("ruff")
needs_ruff = pytest.mark.skipif(RUFF is None, reason="ruff is not installed")

IMPORTS = (
    "import os",
    "import sys, re",
    "import numpy as np",
    "import torch",
    "import torch.nn as nn",
    "import torch.nn.functional as F",
    "import Levenshtein",
    "import mypkg",
    "from collections import OrderedDict, defaultdict",
    "from pathlib import Path",
    "from einops import rearrange  # shapes",
    "from PIL import Image",
    "from precision_lint.runtime import grad_scaler",
    "from precision_lint.runtime import mask_value, resolve_dtype",
    "from torch import nn",
    "from torch.utils.data import (\n    DataLoader,\n    Dataset,\n)",
    "from torchvision2 import a1, a10, a2",
    "from torchvision10 import b",
    "from mypkg.data import Batch",
    "from mypkg.precision import mask_value",
    "from mypkg.zoo import *",
    "from . import sibling",
    "from .. import parent",
    "from .data import load",
)
HEADS = (
    "",
    '"""A docstring."""\n\n',
    "#!/usr/bin/env python\n# A license.\n\n",
    "from __future__ import annotations\n\n",
    '"""Docs."""\n\nfrom __future__ import annotations\n\n',
    "# A comment of the first import.\n",
)
TAILS = (
    "\n\ndef f(x):\n    return use(x)\n",
    "\nuse(x)\n",
    "\nif True:\n    import json\n\nuse(x)\n",
    '\nos.environ["A"] = "1"\nimport transformers\nfrom mypkg import late\n\nuse(x)\n',
    "\ntry:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None\n\nuse(x)\n",
    "\n\ndef f(x):\n    import torch\n\n    return use(x)\n",
)
STYLES = {
    "defaults": "",
    "mixed": "[lint.isort]\nforce-sort-within-sections = true\n",
    "one per line": "[lint.isort]\nforce-single-line = true\n",
    "from first": "[lint.isort]\nfrom-first = true\n",
    "lines between types": "[lint.isort]\nlines-between-types = 1\n",
    "no sections": "[lint.isort]\nno-sections = true\n",
    "known": '[lint.isort]\nknown-first-party = ["torch*", "einops"]\n',
    "known by itself": '[lint.isort]\nknown-first-party = ["precision_lint.runtime"]\n',
    "own sections": '[lint.isort]\nsection-order = ["future", "standard-library", "nets", '
    '"third-party", "first-party", "local-folder"]\n[lint.isort.sections]\nnets = ["torch"]\n',
    "default section": '[lint.isort]\ndefault-section = "first-party"\n',
    "no lines": '[lint.isort]\nno-lines-before = ["third-party", "first-party"]\n',
    "one line less": '[lint.isort]\nno-lines-before = ["local-folder"]\n',
    "by length": "[lint.isort]\nlength-sort = true\n",
    "plain order": "[lint.isort]\norder-by-type = false\ncase-sensitive = true\n",
    "to top": '[lint.isort]\nforce-to-top = ["torch", "mypkg.precision"]\n',
    "combined": "[lint.isort]\ncombine-as-imports = true\n",
    "short lines": "line-length = 48\n[lint.isort]\nsplit-on-trailing-comma = false\n",
}


def programs(seed: int, count: int) -> Iterator[str]:
    dice = random.Random(seed)
    for _ in range(count):
        chosen = dice.sample(IMPORTS, dice.randrange(len(IMPORTS) // 2))
        yield dice.choice(HEADS) + "".join(f"{each}\n" for each in chosen) + dice.choice(TAILS)


def ruff(folder: Path, *arguments: str) -> str:
    assert RUFF is not None
    command = [RUFF, "check", "--no-cache", "--select", "I", "--quiet", *arguments, "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


def added(source: str, path: Path, style: ImportStyle, module: str) -> str:
    file = parse_python(SourceText(path, source))
    _, edits = import_name(file, module, "to_numpy", source.index("use(x)"), style)
    return apply_edits(source, edits)


@needs_ruff
@pytest.mark.parametrize("settings", STYLES.values(), ids=STYLES)
def test_what_ruff_sorted_stays_sorted(settings: str, tmp_path: Path) -> None:
    (tmp_path / "ruff.toml").write_text(settings)
    (tmp_path / "mypkg").mkdir()
    for name in ("__init__", "data", "precision", "zoo"):
        (tmp_path / "mypkg" / f"{name}.py").write_text("")
    paths = [tmp_path / f"case{number}.py" for number in range(150)]
    for path, source in zip(paths, programs(len(settings), len(paths)), strict=True):
        path.write_text(source)
    ruff(tmp_path, "--fix")
    before = {path: path.read_text() for path in paths}
    style = import_style(paths[0], tmp_path)
    for module in ("precision_lint.runtime", "mypkg.precision"):
        for path, source in before.items():
            path.write_text(added(source, path, style, module))
        assert ruff(tmp_path, "--diff") == ""
        for path in paths:
            changed = path.read_text()
            assert added(changed, path, style, module) == changed  # it is imported now


def test_names_on_lines_of_their_own(tmp_path: Path) -> None:
    settings = tmp_path / "pyproject.toml"
    path = tmp_path / "case.py"
    source = (
        "import torch\nfrom mypkg.data import (\n    load,\n)\n"
        "from precision_lint.runtime import (\n    mask_value,\n)\n\nuse(x)\n"
    )
    settings.write_text('[tool.isort]\nprofile = "black"\nforce_grid_wrap = 1\n')
    style = import_style(path, tmp_path)
    new = "from mypkg.precision import (\n    to_numpy,\n)\nfrom precision_lint"
    assert added(source, path, style, "mypkg.precision") == source.replace(
        "from precision_lint", new
    )
    names = source.replace("    mask_value,\n", "    mask_value,\n    to_numpy,\n")
    assert added(source, path, style, "precision_lint.runtime") == names
    one = "from mypkg.precision import mask_value\n\nuse(x)\n"
    both = "from mypkg.precision import (\n    mask_value,\n    to_numpy,\n)\n\nuse(x)\n"
    assert added(one, path, style, "mypkg.precision") == both
    settings.write_text("[tool.isort]\nforce_grid_wrap = 1\n")  # a grid, not a line for each name
    style = import_style(path, tmp_path)
    assert "import to_numpy\n" in added(source, path, style, "mypkg.precision")
