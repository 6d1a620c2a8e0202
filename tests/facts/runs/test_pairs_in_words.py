"""Words of commands that give several settings by their names: `path=a,dtype=half`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained


@pytest.mark.parametrize(
    "script",
    [
        "lm_eval --model hf --model_args path=a/b,dtype=bfloat16 --tasks x\n",
        'python -m lm_eval --model_args path="a/b",length=8,dtype=auto,mode="x"\n',
        'lm_eval --model_args path="${MODEL}",dtype=float16\n',
        "measure vllm 'path=a,dtype=half,limits={size:1,top:2}' task\n",
        "python train.py --model-kwargs dtype=bf16\n",
        "python train.py --set=lr=1,amp=true\n",
        'MODEL_ARGS="path=$MODEL,dtype=bfloat16,size=1"\nmeasure vllm $MODEL_ARGS task\n',
    ],
)
def test_settings_in_a_word_are_listed(script: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"run.sh": script})
    assert out.count("not understood") == 1


@pytest.mark.parametrize(
    "script",
    [
        "python train.py --run_name lr=1,dtype=bf16\n",
        "python train.py --output_dir out/lr=1,dtype=bf16\n",
        "python train.py --resume_from lr=1,dtype=bf16\n",
        "lm_eval --model_args path=a/b,length=8 --tasks x\n",
        "lm_eval --model_args path=a/half,length=8\n",
        "lm_eval --model_args a/b --tasks dtype,x\n",
        "measure 'path=a,length=8' task\n",
        'python train.py --prompt "say dtype=bf16, and why"\n',
        "python train.py --model_args columns=3,dtype=int64\n",
        'NAME="lr=1,dtype=bf16"\npython train.py --run_name $NAME\n',
        "echo path=a,dtype=bf16\n",
        "cp lr=1,dtype=bf16.pt out.pt\n",
    ],
)
def test_names_and_other_settings_are_not(script: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"run.sh": script})
    assert "not understood" not in out
