"""Keys of files that the project loads and that certainly nothing reads, and those that may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

FILE = """\
model:
  name: small
  kind_dtype: float16
training:
  lr: 0.1
  use_fp16: true
"""
HEAD = """\
import json
import logging
import yaml
import tool
from omegaconf import OmegaConf
from types import SimpleNamespace

def load(path):
    with open(path) as stream:
        return yaml.safe_load(stream)

CONFIG = load("configs/a.yaml")
"""
UNREAD = "nothing reads it (loaded, train.py:12)"


def told(tmp_path: Path, code: str, **files: str) -> str:
    named = {name.replace("__", "/").replace("_py", ".py"): text for name, text in files.items()}
    return explained(tmp_path, {"configs/a.yaml": FILE, "train.py": HEAD + code} | named)


@pytest.mark.parametrize(
    "code",
    [
        'print(CONFIG["model"]["name"])\n',
        'print(CONFIG)\nlogging.info("%s", CONFIG)\njson.dump(CONFIG, open("b.json", "w"))\n',
        'tool.run(CONFIG["training"]["lr"], dtype=CONFIG.get("model", {}).get("name"))\n',
        'for part in ("name", "size"):\n    tool.run(CONFIG["model"].get(part))\n',
        "given = OmegaConf.create(CONFIG)\ntool.run(given.training.lr)\n",
        'parts = {"config": CONFIG, "seed": 1}\ntool.run(parts["config"]["model"]["name"])\n',
        'given = SimpleNamespace(**CONFIG)\ntool.run(given.model["name"])\n',
        'def build(config):\n    return tool.run(config["name"])\nbuild(CONFIG["model"])\n',
        'def build(name, kind_dtype=None):\n    return name\nbuild(name=CONFIG["model"]["name"])\n',
        'def parts():\n    return CONFIG["model"], 1\none, _ = parts()\ntool.run(one["name"])\n',
        "class Net:\n    def __init__(self, config):\n        self.config = config\n\n"
        '    def run(self):\n        return self.config["training"]["lr"]\nNet(CONFIG).run()\n',
        'if "kind_dtype" in CONFIG["model"] and CONFIG["training"] is not None:\n    pass\n',
        'CONFIG["model"]["kind_dtype"] = "float32"\n',
        'other = load("configs/b.yaml")\ntool.run(other["model"]["kind_dtype"], **other)\n',
    ],
)
def test_keys_that_nothing_reads(code: str, tmp_path: Path) -> None:
    out = told(tmp_path, code)
    assert f"{UNREAD}  configs/a.yaml:3  kind_dtype: float16" in out
    assert f"{UNREAD}  configs/a.yaml:6  use_fp16: true" in out
    assert "not understood" not in out


@pytest.mark.parametrize(
    "code",
    [
        'tool.run(CONFIG["model"])\n',
        "tool.run(**CONFIG)\n",
        "tool.run(config=CONFIG)\n",
        'for name, value in CONFIG["model"].items():\n    tool.run(name, value)\n',
        "for name in names:\n    tool.run(CONFIG[first][name])\n",
        'tool.run([CONFIG["model"]])\n',
        "def flat(table):\n    for name in table:\n        yield table[name]\nflat(CONFIG)\n",
        "args = tool.parse()\nfor name, value in CONFIG.items():\n    setattr(args, name, value)\n",
        "args = tool.parse()\nvars(args).update(CONFIG)\n",
        "class Net(tool.Base):\n    def __init__(self):\n        self.config = CONFIG\n",
        "class Net:\n    def __init__(self, one):\n        super().__init__(one)\nNet(CONFIG)\n",
        'kwargs = {"config": CONFIG}\ntool.run(**kwargs)\n',
        'kwargs = dict(config=CONFIG)\ntool.run(kwargs["config"]["model"])\n',
        'text = json.dumps(CONFIG["model"])\ntool.run(text)\n',
        "def build(config):\n    return tool.run(**locals())\nbuild(CONFIG)\n",
        "tool.each(load, names)\n",
        "OmegaConf.merge(CONFIG, {}).model.kind_dtype\n",
        'tool.run(getattr(OmegaConf.create(CONFIG).model, "kind_dtype"))\n',
        "builders = {}\nbuilders[1](CONFIG)\n",
        'merged = {}\nmerged.update(CONFIG["model"])\ntool.run(merged)\n',
        'tool.fit(**load("configs/" + tool.name))\n',
        'with open(tool.path) as stream:\n    tool.run(yaml.safe_load(stream)["model"])\n',
        "class Net:\n    config = CONFIG\ntool.run(Net.config)\n",
        "class Base(tool.Base):\n    pass\n\nclass Net(Base):\n    def __init__(self):\n"
        "        self.config = CONFIG\n",
        "state = CONFIG\ndef run():\n    global state\n    tool.run(state)\n",
        "import copy\ncopied = copy.deepcopy(CONFIG)\ntool.run(*[copied])\n",
        "make = tool.make\ndef run():\n    make(CONFIG)\n",
        'import wandb\nwandb.init(config=CONFIG)\ntool.run(wandb.config["model"])\n',
        "def build(c): pass\ndef other(c): use(c.model.kind_dtype)\nbuild = other\nbuild(CONFIG)\n",
        "def build(c): pass\nif fast:\n    from other import build\nbuild(CONFIG)\n",
        "def build(c): pass\nfrom other import *\nbuild(CONFIG)\n",
        "class Net:\n    def __init__(self, c): pass\nclass Wide:\n    def __init__(self, c):\n"
        "        self.kind_dtype = c.model.kind_dtype\nNet = Wide\nNet(CONFIG)\n",
        "def whole(run):\n    def inner(c): return run(c, c.model.kind_dtype)\n    return inner\n"
        "@whole\ndef build(c): pass\nbuild(CONFIG)\n",
        "class Meta(type):\n    def __call__(cls, c): return tool.run(c)\n"
        "class Net(metaclass=Meta):\n    def __init__(self, c): pass\nNet(CONFIG)\n",
        "class Base:\n    def __new__(cls, c): return tool.run(c)\n"
        "class Net(Base):\n    def __init__(self, c): pass\nNet(CONFIG)\n",
    ],
)
def test_keys_that_something_may_read(code: str, tmp_path: Path) -> None:
    out = told(tmp_path, code)
    assert "nothing reads it" not in out.replace(f"{UNREAD}  configs/a.yaml:6", "")


@pytest.mark.parametrize(
    "code",
    [
        "from train import CONFIG\nimport tool\ntool.run(CONFIG)\n",
        "from train import *\nimport tool\ntool.run(CONFIG)\n",
        "import train\nimport tool\ntool.run(train.CONFIG)\n",
        "import pyrallis\nimport tool\n",
        "from hydra_zen import store\nimport tool\n",
        "import pack.train\nimport tool\ntool.run(pack.train.CONFIG)\n",
        "import tool\ntool.module('train').CONFIG['model']['kind_dtype']\n"
        "tool.run(tool.module('train').CONFIG)\n",
        "from ruamel.yaml import YAML\nimport tool\nparser = YAML()\n"
        "tool.run(parser.load(open(tool.path)))\n",
        "import oyaml\nimport tool\ntool.run(oyaml.load(tool.path))\n",
        "import tool\ntool.Engine('configs/a.yaml')\n",
        "import tool\nfrom pathlib import Path\ntool.start(config=Path('configs') / 'a.yaml')\n",
        "from tool import load_config\nload_config('configs/a.yaml')\n",
        "import tool\nimport yaml\ntool.run(yaml.load(open(tool.path)))\n",
    ],
)
def test_other_modules_that_may_read_them(code: str, tmp_path: Path) -> None:
    assert "nothing reads it" not in told(tmp_path, "print(CONFIG)\n", other_py=code)


@pytest.mark.parametrize(
    "code",
    [
        'from train import CONFIG\nimport tool\ntool.run(CONFIG["model"]["name"])\n',
        "import tool\nimport json\ntool.run(json.load(open(tool.path)))\n",
        'import tool\nimport yaml\ntool.run(yaml.load(open("configs/b.yaml")))\n',
        'import tool\nfrom train import load\ntool.run(load("configs/b.yaml"))\n',
    ],
)
def test_other_modules_that_do_not(code: str, tmp_path: Path) -> None:
    assert UNREAD in told(tmp_path, "print(CONFIG)\n", other_py=code)


HERE = """\
python - <<'EOF'
import yaml
config = yaml.safe_load(open("configs/a.yaml"))
print(config["model"]["kind_dtype"], config["training"]["use_fp16"])
EOF
"""


@pytest.mark.parametrize(
    "files",
    [
        {"run.sh": "vendor --config configs/a.yaml\n"},
        {"run.sh": 'torchrun "$PROGRAM" --config configs/a.yaml\n'},
        {"configs/b.yaml": "other: ${model.kind_dtype}\nmore: ${training.use_fp16}\n"},
        {"b.sh": HERE},
    ],
)
def test_what_else_may_read_them(files: dict[str, str], tmp_path: Path) -> None:
    whole = {"configs/a.yaml": FILE, "train.py": HEAD + "print(CONFIG)\n"} | files
    assert "nothing reads it" not in explained(tmp_path, whole)


GIVEN = """\
import argparse
import yaml

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    args = parser.parse_args()
    config = yaml.safe_load(open(args.config))
    print(config["model"]["name"])

main()
"""


def test_a_file_that_a_command_gives(tmp_path: Path) -> None:
    files = {"configs/a.yaml": FILE, "train.py": GIVEN}
    assert "nothing reads it" not in explained(tmp_path, files)  # nothing says that it is loaded
    out = explained(tmp_path, files | {"run.sh": "python train.py --config configs/a.yaml\n"})
    assert "nothing reads it (loaded, train.py:8)  configs/a.yaml:3  kind_dtype: float16" in out


KEEPING = """\
import argparse
import tool
import yaml

class Net:
    def __init__(self, config):
        self.config = config

def main(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    args = parser.parse_args()
    {}

main()
"""


@pytest.mark.parametrize(
    ("line", "is_unread"),
    [
        ("Net(yaml.safe_load(open(args.config)))", True),
        ("tool.say(args.config)\n    Net(yaml.safe_load(open(args.config)))", True),
        ("args.config = yaml.safe_load(open(args.config))", False),
        ("args.config = yaml.safe_load(open(args.config))\n    tool.run(args.config)", False),
        ("args = tool.of(args)\n    tool.run(Net(yaml.safe_load(open(args.path))).config)", False),
        ("words.config = yaml.safe_load(open(args.config))\n    tool.run(words.config)", False),
        ("net = Net(yaml.safe_load(open(args.config)))\n    tool.run(net.config)", False),
    ],
)
def test_the_name_of_a_file_is_not_what_is_loaded(
    line: str, is_unread: bool, tmp_path: Path
) -> None:
    files = {"configs/a.yaml": FILE, "train.py": KEEPING.format(line)}
    files["run.sh"] = "python train.py --config configs/a.yaml\n"
    out = explained(tmp_path, files)
    assert ("nothing reads it (loaded, train.py:" in out) is is_unread


HYDRA = """\
import hydra
import tool
from omegaconf import OmegaConf

@hydra.main(config_path="conf", config_name="base", version_base=None)
def main(cfg):
    print(OmegaConf.to_yaml(cfg))
    {}

main()
"""
GROUPS = {"conf/base.yaml": "defaults:\n  - parts: one\n", "conf/parts/one.yaml": FILE}


@pytest.mark.parametrize(
    ("line", "is_unread"),
    [
        ("tool.run(cfg.parts.model.name)", True),
        ("tool.run(OmegaConf.to_container(cfg.parts, resolve=True)['training']['lr'])", True),
        ("tool.run(cfg.other)", True),
        ("tool.run(cfg)", False),
        ("tool.run(cfg.parts.model)", False),
        ("hydra.utils.instantiate(cfg.parts)", False),
        ("tool.run(cfg.parts.model.kind_dtype)", False),
        ("tool.run(OmegaConf.select(cfg, 'parts.model.kind_dtype'))", False),
    ],
)
def test_files_that_hydra_composes(line: str, is_unread: bool, tmp_path: Path) -> None:
    out = explained(tmp_path, GROUPS | {"train.py": HYDRA.format(line)})
    assert ("nothing reads it (loaded, train.py:5)  conf/parts/one.yaml:3" in out) is is_unread


def test_a_group_that_goes_elsewhere(tmp_path: Path) -> None:
    files = GROUPS | {"train.py": HYDRA.format("tool.run(cfg.teacher.model)")}
    files["conf/base.yaml"] = "defaults:\n  - parts@teacher: one\n"
    assert "nothing reads it" not in explained(tmp_path, files)


SHAPE = "trainer:\n  precision: 16-mixed\n  max_epochs: 3\n  accelerator: gpu\n  devices: 1\n"


@pytest.mark.parametrize(
    ("line", "is_unread"),
    [
        ("tool.run(cfg.parts.trainer.max_epochs)", True),
        ("tool.run(cfg.other.trainer)", True),
        ("tool.run(**cfg.parts.trainer)", False),
        ("tool.run(cfg.parts.trainer)", False),
        ("tool.run(cfg.parts)", False),
        ("tool.run(cfg)", False),
    ],
)
def test_the_keys_of_a_framework_that_nothing_reads(
    line: str, is_unread: bool, tmp_path: Path
) -> None:
    files = GROUPS | {"conf/parts/one.yaml": SHAPE, "train.py": HYDRA.format(line)}
    out = explained(tmp_path, files)
    assert ("nothing reads it (loaded, train.py:5)  conf/parts/one.yaml:2" in out) is is_unread
    assert not (is_unread and "Lightning" in out)


NO_LOADER = "use_fp16: true (configs/a.yaml:6); no code of the project loads YAML files"


@pytest.mark.parametrize(
    ("code", "is_said"),
    [
        ("use_fp16 = True\n", True),
        ("import json\nuse_fp16 = json.load(open('a.json'))\n", True),
        ("import yaml\nuse_fp16 = yaml.safe_load(text)\n", False),
        ("import yaml\nyaml.safe_load(open('b.yaml'))\nuse_fp16 = True\n", False),
        ("import hydra\n@hydra.main()\ndef main(cfg):\n    cfg.use_fp16\n", False),
        ("from jsonargparse import CLI\nuse_fp16 = True\n", False),
        ("from tool import load_yaml\nuse_fp16 = load_yaml('a')\n", False),
        ("from omegaconf import OmegaConf\nuse_fp16 = OmegaConf.load('a')\n", False),
        ("import tool\nuse_fp16 = tool.load(path, sub_path='model')\n", False),
        ("from tool import Settings\nuse_fp16 = Settings.from_file(path)\n", False),
        ("from tool import parse\nuse_fp16 = parse(args.path)\n", False),
        ("import tool\nuse_fp16 = tool.read_settings()\n", False),
        ("import tool\nuse_fp16 = tool.Engine(config=args.config_path)\n", False),
        ("import tool\nuse_fp16 = tool.Engine('configs/a.yaml')\n", False),
        ("from tool import *\nuse_fp16 = load(path)\n", False),
        ("use_fp16 = make().load(path)\n", False),
        ("import torch\nuse_fp16 = torch.load(path)['use_fp16']\n", True),
        ("import tool\nuse_fp16 = tool.Engine(config=args.config)\n", True),
        ("import argparse\nuse_fp16 = argparse.ArgumentParser().parse_args(words)\n", True),
        ("import other\nuse_fp16 = other.load(path)\n", True),
        ("import tool\nmodel = tool.Net()\nuse_fp16 = model.load_state_dict(state)\n", True),
        ("def load(path):\n    return open(path)\nuse_fp16 = load(path)\n", True),
        (
            "class Own:\n    def load(self, path):\n        pass\nuse_fp16 = Own().load(path)\n",
            True,
        ),
    ],
)
def test_a_format_that_no_code_loads(code: str, is_said: bool, tmp_path: Path) -> None:
    other = "def load(path):\n    return open(path).read()\n"
    out = explained(tmp_path, {"configs/a.yaml": FILE, "train.py": code, "other.py": other})
    assert (NO_LOADER in out) is is_said


OF_CLASS = """\
import sys
import yaml
from nets import Derived

if __name__ == "__main__":
    with open(sys.argv[1]) as stream:
        config = yaml.safe_load(stream)
    print(config["width"], config["steps"], config["kind"], config["amp"])
    net = Derived(config)
"""
NETS = """\
import tool

class Base:
    def __init__(self, config):
        self.width = config["width"]

class Middle(Base):
    def __init__(self, config):
        super().__init__(config)

class Derived({}):
    pass
"""


@pytest.mark.parametrize(
    ("base", "is_unread"), [("Base", True), ("Middle", True), ("tool.Base", False)]
)
def test_a_file_that_nothing_names_and_the_class_above_that_gets_it(
    base: str, is_unread: bool, tmp_path: Path
) -> None:
    text = "width: 8\nsteps: 3\nkind: small\namp: true\ndtype: float16\n"
    files = {"train.py": OF_CLASS, "nets.py": NETS.format(base), "conf/a.yaml": text}
    out = explained(tmp_path, files)
    assert ("nothing reads it (loaded, train.py:7)  conf/a.yaml:5" in out) is is_unread


def test_not_if_the_file_may_be_loaded_otherwise(tmp_path: Path) -> None:
    text = "width: 8\nsteps: 3\nkind: small\namp: true\ndtype: float16\n"
    code = OF_CLASS.replace("if __name__", "import own\nown.load(sys.argv[1])\nif __name__")
    files = {"train.py": code, "nets.py": NETS.format("Base"), "conf/a.yaml": text}
    assert "nothing reads it" not in explained(tmp_path, files)


SAME_NAME = """\
import yaml
import other

def show(config):
    print(config["steps"])

if __name__ == "__main__":
    config = yaml.safe_load(open("a.yaml"))
    show(config)
"""


def test_a_function_of_the_file_and_one_of_another_module_with_its_name(tmp_path: Path) -> None:
    other = "import tool\n\ndef show(config):\n    tool.start(config)\n"
    files = {"train.py": SAME_NAME, "other.py": other, "a.yaml": "steps: 3\ndtype: float16\n"}
    assert "nothing reads it (loaded, train.py:8)  a.yaml:2" in explained(tmp_path, files)


def test_an_imported_function_and_one_of_another_module_with_its_name(tmp_path: Path) -> None:
    first = SAME_NAME.replace('def show(config):\n    print(config["steps"])\n', "")
    first = first.replace("import other\n", "import other\nfrom own import show\n")
    files = {
        "train.py": first,
        "own.py": "def show(config):\n    print(config['steps'])\n",
        "other.py": "import tool\n\ndef show(config):\n    tool.start(config)\n",
        "a.yaml": "steps: 3\ndtype: float16\n",
    }
    assert "nothing reads it (loaded, train.py" in explained(tmp_path, files)


def test_either_of_two_imports_may_be_the_function(tmp_path: Path) -> None:
    first = SAME_NAME.replace('def show(config):\n    print(config["steps"])\n', "")
    imports = "try:\n    from other import show\nexcept ImportError:\n    from own import show\n"
    files = {
        "train.py": first.replace("import other\n", imports),
        "own.py": "def show(config):\n    print(config['steps'])\n",
        "other.py": "import tool\n\ndef show(config):\n    tool.start(config)\n",
        "a.yaml": "steps: 3\ndtype: float16\n",
    }
    assert "nothing reads it" not in explained(tmp_path, files)


@pytest.mark.parametrize("name", ["wide.py", "test.py"])
def test_what_is_saved_may_be_loaded_in_another_format(name: str, tmp_path: Path) -> None:
    code = 'json.dump(CONFIG, open("b.json", "w"))\n'
    reading = 'import json\nc = json.load(open("b.json"))\nuse(c["model"]["{}"])\n'
    for key, is_unread in (("name", True), ("kind_dtype", False)):
        files = {"configs/a.yaml": FILE, "train.py": HEAD + code, name: reading.format(key)}
        out = explained(tmp_path, files)
        assert (f"{UNREAD}  configs/a.yaml:3" in out) is is_unread
        assert f"{UNREAD}  configs/a.yaml:6" in out


def test_functions_that_only_libraries_wrap(tmp_path: Path) -> None:
    code = 'import torch\n@torch.no_grad()\ndef build(c): use(c["training"])\nbuild(CONFIG)\n'
    assert f"{UNREAD}  configs/a.yaml:3" in told(tmp_path, code)
