"""Files with the keys of a framework, in a project that loads files by itself as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

LOADS = "import sys\n\nimport yaml\n\nprint(yaml.safe_load(open(sys.argv[1])))\n"
OF_LLAMA_FACTORY = """\
model_name_or_path: m
stage: sft
finetuning_type: lora
dataset: d
output_dir: out
learning_rate: 1.0e-4
bf16: true
"""
UNNAMED = "by its keys: no file of the project names it, only a run that is started by hand gets it"


def explained(folder: Path, others: dict[str, str]) -> str:
    files = {"conf/a.yaml": OF_LLAMA_FACTORY, "tools/show.py": LOADS, **others}
    return run("explain-config", cwd=project(folder, files)).out


@pytest.mark.parametrize(
    "script",
    [
        "llamafactory-cli train conf/b.yaml\n",
        "llamafactory-cli train $1\n",
        'CLI=${CLI:-/opt/bin/llamafactory-cli}\n"$CLI" train "$1"\n',
        "lmf train $1\n",
    ],
)
def test_a_script_starts_the_tool(script: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"run.sh": script})
    assert f"conf/a.yaml: LLaMA-Factory, {UNNAMED}\n" in out


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"run.sh": "python tools/show.py other.yaml\n"},
        {"run.sh": "my-llamafactory-cli train $1\n"},
        {"run.sh": "llamafactory-cli-tools train $1\n"},
        {"run.sh": "lmf export $1\n"},
        {"run.sh": "lmf training\n"},
        {"tests/run.sh": "llamafactory-cli train $1\n"},
    ],
)
def test_nothing_starts_it(others: dict[str, str], tmp_path: Path) -> None:
    out = explained(tmp_path, others)
    assert "LLaMA-Factory" not in out
    assert "not understood: bf16: true" in out
