"""Files that commands give to tools, and models whose files say nothing by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

FILE = "model: m\ndtype: bfloat16\nseed: 1\nmax_steps: 3\nlr: 0.1\n"
PROGRAM = """\
import sys
import yaml
from transformers import AutoModel

def main():
    settings = yaml.safe_load(open(sys.argv[1]))
    print(settings["seed"], settings["lr"], settings["max_steps"])
    AutoModel.from_pretrained(settings["model"], torch_dtype=settings["dtype"])

if __name__ == "__main__":
    main()
"""
GIVEN = "not understood: dtype: bfloat16 (a.yaml:2); given to `{}`, which is not in the project"


def explained(tmp_path: Path, files: dict[str, str]) -> str:
    return run("explain-config", cwd=project(tmp_path, {"a.yaml": FILE, **files})).out


@pytest.mark.parametrize(
    ("name", "text", "tool"),
    [
        ("run.sh", "vllm serve --config a.yaml\n", "vllm serve"),
        ("run.sh", "serving-tool a.yaml --port 3\n", "serving-tool"),
        ("README.md", "```bash\nvllm serve --config=a.yaml\n```\n", "vllm serve"),
    ],
)
def test_a_file_for_a_tool(name: str, text: str, tool: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {name: text, "train.py": PROGRAM})
    assert GIVEN.format(tool) in out
    assert "train.py" not in out


@pytest.mark.parametrize(
    "text",
    [
        "yq .dtype a.yaml\n",
        "vllm serve --config b.yaml\n",
        "vllm serve --config a.yaml\npython train.py a.yaml\n",
        "python $ROOT/train.py a.yaml\n",
        "cp a.yaml b.yaml\n",
        "./tool a.yaml\n",
    ],
)
def test_a_file_for_a_program_of_the_project(text: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"run.sh": text, "train.py": PROGRAM})
    assert "bfloat16 (weights, train.py:8)" in out


MODEL = """\
{
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 16,
  "vocab_size": 3, "num_hidden_layers": 2,
  "torch_dtype": "bfloat16"
}
"""
BARE = 'not understood: "torch_dtype": "bfloat16" (model/small.json:4); no weights are beside'


@pytest.mark.parametrize(
    "weights", ["model.safetensors", "pytorch_model.bin", "model.safetensors.index.json", "a.gguf"]
)
def test_the_dtype_of_weights_beside_a_model(weights: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"model/small.json": MODEL, f"model/{weights}": "{}"})
    assert "dtype = bfloat16  model/small.json:4" in out


@pytest.mark.parametrize("other", ["tokenizer.json", "README.md", "model.py"])
def test_a_model_without_weights(other: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"model/small.json": MODEL, f"model/{other}": "{}"})
    assert BARE in out
    assert "dtype = bfloat16" not in out


def test_a_copy_of_what_was_saved_with_weights(tmp_path: Path) -> None:
    assert "dtype = bfloat16  model/config.json:4" in explained(
        tmp_path, {"model/config.json": MODEL}
    )


def test_a_command_whose_last_words_stand_before_it(tmp_path: Path) -> None:
    script = 'MORE="--name x"\ntorchrun --nproc 2 tool.py a.yaml $MORE\nserve-it a.yaml $MORE\n'
    out = explained(tmp_path, {"run.sh": script, "train.py": PROGRAM})
    assert GIVEN.format("serve-it") in out
