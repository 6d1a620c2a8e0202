"""A small project whose files depend on each other in many ways, and runs over it with a store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from precision_lint.engine import run as run_module
from precision_lint.engine.job import Job, Result
from precision_lint.engine.run import run
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Confidence
from precision_lint.project.discovery import files
from precision_lint.project.files import Project

HELPER = "import torch\n\n\ndef zeros(n):\n    return torch.zeros(n, dtype=torch.bfloat16)\n"
BY_PROJECT = "import torch\n\n\ndef rows(model):\n    return model.head.weight.cpu().numpy()\n"
TRAIN = """\
import argparse
import torch
from pkg import model

p = argparse.ArgumentParser()
p.add_argument("--dtype", default="bfloat16")
p.add_argument("--config")
args = p.parse_args()
scaler = torch.cuda.amp.GradScaler()
with torch.autocast("cuda", dtype=getattr(torch, args.dtype)):
    loss = model.build(args)(torch.ones(2))
scaler.scale(loss).backward()
print(loss.detach().cpu().numpy())
"""
MODEL = """\
import torch
from .helper import zeros


class Net(torch.nn.Module):
    def __init__(self, args):
        super().__init__()
        self.head = torch.nn.Linear(2, 2).to(getattr(torch, args.dtype))

    def forward(self, x):
        return self.head(x)


def build(args):
    print(zeros(3).numpy())
    return Net(args)
"""
EMBED = """\
import torch
from diffusers import AutoencoderKL, ModelMixin


class Vae(ModelMixin):
    def __init__(self, inner: AutoencoderKL):
        self.inner = inner

    def forward(self, x):
        return self.inner.decode(x).sample


class Embed:
    def __init__(self, dtype=None):
        self.model = torch.nn.Linear(2, 2).to(dtype)

    def rows(self, x):
        return self.model(x).numpy()


def images(vae: Vae, x):
    return vae(x).cpu().numpy()
"""
PAGE = """\
# Use

~~~python
import torch
from pkg.embed import Embed, Vae

vae = Vae.from_pretrained("org/vae", torch_dtype=torch.bfloat16)
embed = Embed(torch.bfloat16)
~~~
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/embed.py": EMBED,
    "README.md": PAGE,
    "pkg/helper.py": HELPER,
    "pkg/model.py": MODEL,
    "train.py": TRAIN,
    "vocab.py": BY_PROJECT,
    "evaluate.py": "import torch\nfrom pkg.model import build\n\n\ndef show(args, x):\n"
    "    return build(args)(x).cpu().numpy()\n",
    "plain.py": "x = 1\n",
    "run.sh": "source ./env.sh\n"
    "accelerate launch --config_file acc.yaml train.py --dtype bfloat16\n",
    "env.sh": "export ACCELERATE_MIXED_PRECISION=fp16\n",
    "acc.yaml": "compute_environment: LOCAL_MACHINE\nmixed_precision: bf16\n"
    "distributed_type: DEEPSPEED\ndeepspeed_config:\n  deepspeed_config_file: ds.json\n",
    "ds.json": '{"fp16": {"enabled": true}, "train_batch_size": 1}\n',
    "args.yaml": "output_dir: out\nper_device_train_batch_size: 2\nfp16: true\nbf16: true\n",
    "requirements.txt": "torch==2.5.0\n",
    "pyproject.toml": '[project]\nname = "p"\ndependencies = ["torch>=2.1"]\n',
    "conf/config.yaml": "defaults:\n  - training: base\n  - _self_\n",
    "conf/training/base.yaml": "precision: 16\nbf16: true\nfp16: true\n",
}
LINTED = len(FILES) - 2
"""Files that are linted: all but `requirements.txt` and `README.md`."""

EDITS: dict[str, tuple[str, ...]] = {
    "pkg/helper.py": (
        HELPER,
        HELPER + "\n# a comment\n",
        HELPER.replace("bfloat16", "float32"),
        HELPER.replace("zeros(n):", "zeros(n, dtype=None):"),
        "def zeros(:\n",
    ),
    "pkg/model.py": (
        MODEL,
        MODEL.replace("zeros(3).numpy()", "zeros(3).float().numpy()"),
        MODEL.replace("from .helper", "from helper"),
        MODEL.replace("numpy()", "numpy()  # noqa: MP101"),
        MODEL.replace("getattr(torch, args.dtype)", "torch.bfloat16"),
    ),
    "pkg/embed.py": (
        EMBED,
        EMBED.replace("numpy()", "float().numpy()"),
        EMBED + PAGE.join(['\n\n"""\n>>> ', '"""\n']),
    ),
    "README.md": (
        PAGE,
        PAGE + "More words.\n",
        PAGE.replace("bfloat16", "float16"),
        PAGE.replace("Embed(", "Vae("),
        PAGE.replace("pkg.embed", "other.embed"),
        PAGE.replace("~~~python", "~~~"),
    ),
    "docs/use.rst": (PAGE.replace("~~~python", ".. code-block:: python\n"), ""),
    "pkg/pyproject.toml": ("",),
    "train.py": (
        TRAIN,
        TRAIN.replace('default="bfloat16"', 'default="float32"'),
        TRAIN.replace("getattr(torch, args.dtype)", "torch.bfloat16"),
        TRAIN.replace("args.dtype", "args.precision"),
        TRAIN.replace("from pkg import model", "import model"),
    ),
    "vocab.py": (BY_PROJECT, BY_PROJECT + "\nprint(rows)\n", "import train\n" + BY_PROJECT),
    "plain.py": ("x = 1\n", "import vocab\n", "import torch\nx = torch.bfloat16\n"),
    "run.sh": (
        FILES["run.sh"],
        "python train.py --dtype float16 --config args.yaml\n",
        "export PRECISION=bf16\npython -m train --dtype bfloat16\n",
        "deepspeed train.py --deepspeed ds.json --bf16\n",
    ),
    "env.sh": (FILES["env.sh"], "export ACCELERATE_MIXED_PRECISION=bf16\n", "\n"),
    "acc.yaml": (
        FILES["acc.yaml"],
        FILES["acc.yaml"].replace("bf16", "fp16"),
        FILES["acc.yaml"].replace("ds.json", "other.json"),
        "mixed_precision: 'no\n",
    ),
    "ds.json": (
        FILES["ds.json"],
        '{"bf16": {"enabled": true}, "train_batch_size": 1}\n',
        '{"fp16": {"enabled": true}, "bf16": {"enabled": true}}\n',
    ),
    "other.json": ('{"fp16": {"enabled": true}, "train_batch_size": 1}\n',),
    "args.yaml": (
        FILES["args.yaml"],
        "output_dir: out\nper_device_train_batch_size: 2\nbf16: true\n",
        FILES["args.yaml"] + "# precision-lint: ignore-file\n",
    ),
    "requirements.txt": ("torch==2.5.0\n", "torch==2.1.0\n", "torch\n"),
    "pyproject.toml": (
        FILES["pyproject.toml"],
        FILES["pyproject.toml"].replace("2.1", "2.6"),
    ),
    "conf/training/base.yaml": (FILES["conf/training/base.yaml"], "lr: 1\n", "precision: bf16\n"),
    "conf/config.yaml": (FILES["conf/config.yaml"], "defaults:\n  - training: other\n"),
    "conf/training/other.yaml": ("bf16: true\nfp16: true\nprecision: 16\n",),
    ".gitignore": ("conf/\n", "ds.json\n", ""),
    "helper.py": (HELPER, HELPER.replace("bfloat16", "float16")),
    "model.py": ("import torch\n\n\ndef build(args):\n    return torch.nn.Linear(2, 2).half()\n",),
    "tests/test_model.py": ("import torch\nfrom pkg.helper import zeros\n\nzeros(2).numpy()\n",),
    "src/model.py": (MODEL,),
    "book.ipynb": (
        '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null,'
        ' "source": ["from pkg.helper import zeros\\n", "zeros(2).numpy()"]}],'
        ' "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n',
    ),
}
"""For each file, what may be written to it."""

_times = count(1_000_000_000)


def put(root: Path, name: str, content: str, *, is_old: bool = True) -> None:
    """Write a file; an old one was written at another time than all others, long ago."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    if is_old:
        age(path)


def age(path: Path) -> None:
    """Give a file a time of its own, long ago."""
    at = next(_times)
    os.utime(path, (at, at))


def build(root: Path) -> Path:
    for name, content in FILES.items():
        put(root, name, content)
    return root


SETTINGS = Settings(min_confidence=Confidence.LOW, preview=True)


@contextmanager
def always_stored() -> Iterator[list[str]]:
    """Short runs are stored, too. The names of the files that this process lints are collected."""
    linted: list[str] = []

    def spy(job: Job, path: Path) -> Result:
        linted.append(path.relative_to(job.project.root).as_posix())
        return lint_one(job, path)

    lint_one = run_module.lint
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_module, "lint", spy)
        patch.setattr(run_module, "_is_worth_a_pool", lambda paths: True)
        yield linted


def lint(
    root: Path, cache: Path | None, jobs: int = 1, settings: Settings = SETTINGS
) -> list[Result]:
    """The results of a run, without what says how they came about."""
    job = Job(Project(root, settings.exclude), settings, write=False)
    results = run(job, files([root], root), jobs, cache_folder=cache)
    return [Result(one.path, one.findings, one.notes, one.fixed, one.text) for one in results]
