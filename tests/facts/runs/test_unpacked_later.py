"""Tables that a call hands on, whose entries are parameters of functions of the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

MAIN = """\
import argparse
import torch
import yaml
from loading import load
from sampling import Sampler

parser = argparse.ArgumentParser()
parser.add_argument("--config", default="conf.yaml")
args = parser.parse_args()
config = yaml.safe_load(open(args.config))
if config["kind_dtype"] == "half":
    dtype = torch.float16
else:
    dtype = torch.float32
net = load(config["net"])
table = dict(y=config["label"], block_dtype=dtype)
sample = Sampler(config).loop if config["slow"] else Sampler(config).fast
print({call})
"""
SAMPLING = """\
class Sampler:
    def __init__(self, config):
        self.steps = config["steps"]

    def loop(self, net, net_kwargs=None):
        return net(self.steps, **net_kwargs)

    def fast(self, net, net_kwargs=None):
        return self.loop(net, net_kwargs)
"""
LOADING = """\
import importlib

def load(path):
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)()
"""
NETS = """\
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x, y, block_dtype=torch.float32):
        with torch.autocast("cuda", dtype=block_dtype):
            return self.layers(x, y)
"""
CONFIG = "net: nets.blocks.Net\nkind_dtype: half\nlabel: 3\nslow: true\nsteps: 4\n"
FILES = {
    "main.py": MAIN.format(call="sample(net, net_kwargs=table)"),
    "sampling.py": SAMPLING,
    "loading.py": LOADING,
    "nets/blocks.py": NETS,
    "conf.yaml": CONFIG,
}
REGION = "float16 (autocast, nets/blocks.py:6)"


def test_a_region_in_a_class_that_the_settings_name(tmp_path: Path) -> None:
    assert REGION in explained(tmp_path, FILES)


def test_a_region_in_a_class_that_the_program_imports(tmp_path: Path) -> None:
    main = FILES["main.py"].replace("import yaml\n", "import yaml\nfrom nets.blocks import Net\n")
    files = FILES | {"main.py": main, "conf.yaml": CONFIG.replace("nets.blocks.Net", "Net")}
    assert REGION in explained(tmp_path, files)


MANY = "".join(
    f"\nclass Net{number}(nn.Module):\n    def forward(self, x, y, block_dtype):\n        pass\n"
    for number in range(5)
)


@pytest.mark.parametrize(
    "files",
    [
        {"sampling.py": SAMPLING.replace("**net_kwargs", "net_kwargs")},
        {"main.py": MAIN.format(call="sample(net, other_kwargs=table)")},
        {"main.py": MAIN.format(call="sample(net, net_kwargs=dict(y=1, block_dtype=dtype, z=2))")},
        {"main.py": FILES["main.py"].replace("y=config[\"label\"], ", "")},
        {"nets/blocks.py": NETS.replace("x, y, block", "x, label, block")},
        {"nets/blocks.py": NETS + MANY},
        {"conf.yaml": CONFIG.replace("nets.blocks.Net", "Net")},
        {
            "main.py": FILES["main.py"]
            .replace("import yaml\n", "import yaml\nimport library\n")
            .replace("print(sample(", "print(library.sample("),
        },
    ],
)  # fmt: skip
def test_a_table_that_may_go_elsewhere(files: dict[str, str], tmp_path: Path) -> None:
    assert "autocast" not in explained(tmp_path, FILES | files)
