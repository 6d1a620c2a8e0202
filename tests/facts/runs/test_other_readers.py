"""Settings that choose a class of a registry which is not the one that reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

TRAIN = """\
import yaml
from transformers import TrainingArguments
from loops.table import LOOPS
import loops.own
import loops.library

config = yaml.safe_load(open("conf.yaml"))
args = TrainingArguments(**config["arguments"])
loop = LOOPS[config["kind"]](model, args)
loop.train()
"""
OWN = """\
from transformers import TrainingArguments
from .base import Base
from .table import LOOPS

@LOOPS.register("plain")
class PlainLoop(Base):
    def __init__(self, model, args: TrainingArguments):
        self.args = args
"""
LIBRARY = """\
from transformers import Trainer
from .table import LOOPS

@LOOPS.register("library")
class LibraryLoop(Trainer):
    pass
"""
FILES = {
    "train.py": TRAIN,
    "loops/__init__.py": "",
    "loops/table.py": "from .tools import Registry\nLOOPS = Registry()\n",
    "loops/base.py": "class Base:\n    pass\n",
    "loops/own.py": OWN,
    "loops/library.py": LIBRARY,
    "conf.yaml": "kind: plain\narguments:\n  output_dir: out\n  bf16: true\n  eval_steps: 2\n",
    "run.sh": "python train.py\n",
}
UNREAD = "Hugging Face Trainer, started as train.py, for a program that is not seen to make what"


def test_a_loop_of_the_project(tmp_path: Path) -> None:
    out = explained(tmp_path, FILES)
    assert UNREAD in out
    assert "bf16 = true  conf.yaml:4" in out


def test_a_word_of_the_command_chooses_it(tmp_path: Path) -> None:
    train = TRAIN.replace('config["kind"]', "sys.argv[1]").replace(
        "import yaml", "import sys, yaml"
    )
    files = {
        "train.py": train,
        "conf.yaml": FILES["conf.yaml"].partition("\n")[2],
        "run.sh": "python train.py plain\n",
    }
    assert UNREAD in explained(tmp_path, FILES | files)


@pytest.mark.parametrize(
    "files",
    [
        {"conf.yaml": FILES["conf.yaml"].replace("plain", "library")},
        {"conf.yaml": FILES["conf.yaml"].replace("plain", "another")},
        {"conf.yaml": FILES["conf.yaml"] + "other: library\n"},
        {"loops/base.py": "from transformers import Trainer\nclass Base(Trainer):\n    pass\n"},
        {"loops/base.py": "from own_tools import Loop\nclass Base(Loop):\n    pass\n"},
        {
            "loops/own.py": OWN.replace("self.args = args", "self.inner = Accelerator()").replace(
                "from .base", "from accelerate import Accelerator\nfrom .base"
            )
        },
        {"loops/library.py": LIBRARY.replace("(Trainer)", "")},
        {"loops/library.py": LIBRARY.replace("LOOPS.register", "OTHERS.register")},
    ],
)
def test_what_may_read_them(files: dict[str, str], tmp_path: Path) -> None:
    assert "not seen to make" not in explained(tmp_path, FILES | files)
