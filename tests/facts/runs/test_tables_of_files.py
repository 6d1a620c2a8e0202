"""Tables of files into which a program puts its settings, and that a framework gets elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

TOOLS = """\
def prepare(custom_cfgs, raw):
    ds_cfgs = raw.copy()
    ds_cfgs["fp16"]["enabled"] = custom_cfgs.half_switch
    return ds_cfgs

def prepare_other(custom_cfgs):
    if custom_cfgs.half_switch:
        return start("half")
"""
BASE = """\
import copy
import deepspeed

class Base:
    def make(self, model):
        return self.engine(model, {given})

    def engine(self, model, ds_cfgs):
        engine, *_ = deepspeed.initialize(model=model, {argument}=ds_cfgs)
        return engine
"""
PROGRAM = """\
import json
import sys
import yaml
from base import Base
from tools import prepare

class Trainer(Base):
    def __init__(self, cfgs, ds_cfgs):
        self.cfgs = cfgs
        self.ds_cfgs = prepare(cfgs, {kept})

def main():
    cfgs = yaml.safe_load(open("a.yaml"))
    trainer = Trainer(cfgs, json.load(open("ds.json")))
    trainer.make(print(cfgs["seed"], cfgs["epochs"]))

if __name__ == "__main__":
    main()
"""
FILE = "seed: 1\nepochs: 2\nhalf_switch: false\n"
SAID = "false (argument of deepspeed.initialize(config={fp16.enabled}), base.py:9)"


def said(
    folder: Path,
    *,
    given: str = "ds_cfgs=self.ds_cfgs",
    argument: str = "config",
    tools: str = TOOLS,
) -> str:
    files = {
        "a.yaml": FILE,
        "ds.json": '{"fp16": {"enabled": true}}',
        "tools.py": tools,
        "base.py": BASE.format(given=given, argument=argument),
        "train.py": PROGRAM.format(kept="ds_cfgs"),
    }
    return explained(folder, files)


def test_a_switch_that_is_put_into_it(tmp_path: Path) -> None:
    out = said(tmp_path)
    assert SAID in out
    assert "a.yaml:3  half_switch: false" in out


def test_a_copy_of_it(tmp_path: Path) -> None:
    assert SAID in said(tmp_path, given="ds_cfgs=copy.deepcopy(self.ds_cfgs)")


@pytest.mark.parametrize(
    ("given", "argument", "tools"),
    [
        ("ds_cfgs=self.other", "config", TOOLS),
        ("ds_cfgs=self.ds_cfgs", "extra", TOOLS),
        ("ds_cfgs=build(self.ds_cfgs)", "config", TOOLS),
        ("ds_cfgs=self.ds_cfgs", "config", TOOLS.replace('"fp16"', '"comms"')),
        ("ds_cfgs=self.ds_cfgs", "config", TOOLS.replace("return ds_cfgs", "return raw")),
        ("ds_cfgs=self.ds_cfgs", "config", TOOLS.replace('return start("half")', "pass").replace(
            'ds_cfgs["fp16"]["enabled"] = custom_cfgs.half_switch', "keep(custom_cfgs.half_switch)"
        )),
    ],
)  # fmt: skip
def test_what_does_not_get_there(given: str, argument: str, tools: str, tmp_path: Path) -> None:
    out = said(tmp_path, given=given, argument=argument, tools=tools)
    assert "deepspeed.initialize(config=" not in out
