"""Files that a script gives to a framework by the default of an argument or a variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

SETTINGS = """\
model_name_or_path: m
stage: sft
finetuning_type: lora
dataset: d
output_dir: out
learning_rate: 1.0e-4
bf16: true
"""
ROOT = 'ROOT=$(cd "$(dirname "$0")/.." && pwd)\n'


def explained(folder: Path, script: str) -> str:
    files = {"scripts/run.sh": script, "conf/a.yaml": SETTINGS, "tool.py": "import yaml\n"}
    return run("explain-config", cwd=project(folder, files)).out


@pytest.mark.parametrize(
    "script",
    [
        ROOT + 'CONFIG=${1:-"$ROOT/conf/a.yaml"}\nllamafactory-cli train "$CONFIG"\n',
        ROOT + 'llamafactory-cli train "${CONFIG:-$ROOT/conf/a.yaml}"\n',
        ROOT + "CONF=$ROOT/conf\n: ${CONFIG:=$CONF/a.yaml}\nllamafactory-cli train $CONFIG\n",
        ROOT
        + 'TOOL=${TOOL:-/opt/bin/llamafactory-cli}\n"$TOOL" train "${1:-"$ROOT/conf/a.yaml"}"\n',
    ],
)
def test_the_default(script: str, tmp_path: Path) -> None:
    out = explained(tmp_path, script)
    assert "LLaMA-Factory, started as llamafactory-cli train\n" in out
    assert "bf16 = true  conf/a.yaml:7" in out


@pytest.mark.parametrize(
    "script",
    [
        ROOT + "CONFIG=b.yaml\nllamafactory-cli train ${CONFIG:-$ROOT/conf/a.yaml}\n",
        ROOT + "read CONFIG\nllamafactory-cli train ${CONFIG:-$ROOT/conf/a.yaml}\n",
        ROOT + "llamafactory-cli train ${CONFIG:-$(pick $ROOT/conf/a.yaml)}\n",
        ROOT + "llamafactory-cli train ${CONFIG:-'$ROOT/conf/a.yaml'}\n",
    ],
)
def test_no_default(script: str, tmp_path: Path) -> None:
    out = explained(tmp_path, script)
    assert "other settings come from conf/a.yaml" not in out
