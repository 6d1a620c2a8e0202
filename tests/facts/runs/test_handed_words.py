"""Which launches get what variables of a script hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained, project, run

PROGRAM = """\
import argparse
from tool import Engine

parser = argparse.ArgumentParser()
parser.add_argument("--dtype")
parser.add_argument("--no-amp", action="store_true")
args = parser.parse_args()
Engine("m", dtype=args.dtype, amp=not args.no_amp)
"""


def _of_scripts(out: str) -> list[str]:
    """The rows of arguments that scripts give, and not the defaults of the program."""
    return [row for row in out.splitlines() if "(argument of" in row and ".sh:" in row]


@pytest.mark.parametrize(
    ("script", "rows"),
    [
        (
            'ARGS=(--seed 1)\nif [ -n "$1" ]; then\n  ARGS+=(--dtype fp16)\nfi\n'
            'python train.py "${ARGS[@]}"\n',
            ["fp16 (argument of Engine(dtype=), train.py:8)"],
        ),
        (
            'FLAG=""\nif [ "$2" = 1 ]; then\n  FLAG="--no-amp"\nfi\npython train.py $FLAG\n',
            ["false (argument of Engine(amp=), train.py:8)"],
        ),
        (
            'case "$1" in\n  a100) DTYPE=bf16 ;;\n  *) DTYPE=fp16 ;;\nesac\n'
            "python train.py --dtype $DTYPE\n",
            [
                "bf16 (argument of Engine(dtype=), train.py:8)",
                "fp16 (argument of Engine(dtype=), train.py:8)",
            ],
        ),
        (
            'if [ -n "$1" ]; then\n  DTYPE=bf16\nfi\nMORE="--seed 1 --dtype=$DTYPE"\n'
            "python train.py $MORE\n",
            ["bf16 (argument of Engine(dtype=), train.py:8)"],
        ),
        (
            'AMP_ARGS=(--seed 1)\nif [ -n "$1" ]; then\n  AMP_ARGS=(--no-amp)\nfi\n'
            'python train.py "${AMP_ARGS[@]}"\n',
            ["false (argument of Engine(amp=), train.py:8)"],
        ),
        ('AMP_ARGS=(--no-amp)\npython other.py "${AMP_ARGS[@]}"\n', []),
        ("if [ $1 ]; then DTYPE=bf16; fi\npython other.py --dtype $DTYPE\n", []),
        ("if [ $1 ]; then DTYPE=bf16; fi\npython train.py --seed 1\n", []),
    ],
)
def test_what_a_branch_gives(script: str, rows: list[str], tmp_path: Path) -> None:
    folder = project(tmp_path, {"run.sh": script, "train.py": PROGRAM})
    out = run("explain-config", cwd=folder).out
    for row in rows:
        assert row in out
    assert (not rows) == (not _of_scripts(out))


DECIDED = """\
DTYPE=${{1:-fp16}}
OTHER=$2
{}
python train.py $ARGS
"""
BRANCH = 'ARGS=""\nif [ "$DTYPE" = "fp16" ]; then\n  ARGS="--no-amp"\nfi'
CASE = "case $DTYPE in\n  fp16) ARGS=--no-amp ;;\n  *) ARGS= ;;\nesac"
SHORT = '[[ $DTYPE == fp16 ]] && ARGS="--no-amp --seed 1"'
INNER = "if [ -n $OTHER ]; then\n  if [ $DTYPE = fp16 ]; then ARGS+=' --no-amp'; fi\nfi"
SECOND = "if [ $OTHER = 1 ]; then\n  ARGS=\nelif [ $DTYPE = fp16 ]; then\n  ARGS=--no-amp\nfi"
VALUE = "if [ $DTYPE = fp16 ]; then KIND=float16; fi\nARGS=--dtype=$KIND"
OF_OTHER = "if [ $OTHER = fp16 ]; then\n  ARGS=--no-amp\nfi"
AFTER = "if [ $DTYPE = fp16 ]; then\n  echo half\nfi\nif [ $OTHER = 1 ]; then ARGS=--no-amp; fi"
NO_PRECISION = "if [ $DTYPE = fp16 ]; then\n  ARGS='--seed 1'\nfi"
FOLDER = "if [ $DTYPE = fp16 ]; then\n  OUT=half\nfi\nARGS=--out=$OUT"
PRINTED = "if [ $DTYPE = fp16 ]; then\n  echo ARGS=--no-amp\nfi"
LONGER = "if [ $DTYPES = fp16 ]; then\n  ARGS=--no-amp\nfi"
COMMENT = "# if [ $DTYPE = fp16 ]; then\nARGS=--seed"

GIVEN = "unknown until run time (argument of Engine("


@pytest.mark.parametrize("text", [BRANCH, CASE, SHORT, INNER, SECOND, VALUE])
def test_what_a_condition_on_a_variable_decides(text: str, tmp_path: Path) -> None:
    folder = project(tmp_path, {"run.sh": DECIDED.format(text), "train.py": PROGRAM})
    assert GIVEN in run("explain-config", cwd=folder).out


@pytest.mark.parametrize("text", [OF_OTHER, AFTER, NO_PRECISION, FOLDER, PRINTED, LONGER, COMMENT])
def test_what_a_condition_does_not_decide(text: str, tmp_path: Path) -> None:
    folder = project(tmp_path, {"run.sh": DECIDED.format(text), "train.py": PROGRAM})
    out = run("explain-config", cwd=folder).out
    assert GIVEN not in out
    assert "not understood: DTYPE=" in out or "not read in the project: DTYPE=" in out


SETTINGS = 'MODE="--dtype fp16"\nif [ -n "$1" ]; then MODE="--dtype bf16"; fi\n'
SOURCES = "source conf/settings.sh\npython train.py $MODE\n"
BY_NAME = ". conf/settings.sh || exit 1\npython train.py --seed 1 ${MODE}\n"
BY_VARIABLE = "config=default.sh\n. parse.sh\n. $config\npython train.py $MODE\n"
HAS_ROW = "fp16 (argument of Engine(dtype=), train.py:8)"


@pytest.mark.parametrize("text", [SOURCES, BY_NAME, BY_VARIABLE])
def test_scripts_that_source_a_file_hand_on_what_it_says(text: str, tmp_path: Path) -> None:
    files = {"run.sh": text, "conf/settings.sh": SETTINGS, "train.py": PROGRAM}
    assert HAS_ROW in explained(tmp_path, files)


@pytest.mark.parametrize(
    "files",
    [
        {"run.sh": "bash conf/settings.sh\npython train.py $MODE\n"},
        {"run.sh": "source conf/settings.sh\npython train.py $MODES\n"},
        {"run.sh": "source conf/settings.sh\npython other.py $MODE\n"},
        {"run.sh": "source conf/other.sh\npython train.py $MODE\n"},
        {
            "run.sh": ". $config\npython train.py $MODE\n",
            "conf/settings.sh": SETTINGS + "python more.py --seed 1\n",
        },
        {"one/two/run.sh": ". $config\npython train.py $MODE\n"},
    ],
)
def test_scripts_that_do_not_source_a_file(files: dict[str, str], tmp_path: Path) -> None:
    files = {"conf/settings.sh": SETTINGS, "train.py": PROGRAM} | files
    assert not _of_scripts(explained(tmp_path, files))


OF_TRAINER = """\
from transformers import HfArgumentParser, Trainer, TrainingArguments

(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
Trainer(args=args).train()
"""
EITHER = """\
if [ "$1" = fp16 ]; then
  ARGS=" --fp16"
else
  ARGS=" --bf16"
fi
RUN="torchrun train.py"
CMD="$RUN $ARGS --output_dir o --learning_rate 1e-4 --per_device_train_batch_size 1"
$CMD
"""


def test_the_framework_of_a_launch_has_them_and_they_do_not_conflict(tmp_path: Path) -> None:
    out = run(
        "explain-config", cwd=project(tmp_path, {"run.sh": EITHER, "train.py": OF_TRAINER})
    ).out
    assert "Hugging Face Trainer" in out
    assert "run.sh:2" in out
    assert "run.sh:4" in out
    assert "not understood" not in out
    assert "MP7" not in out


WORDS = "--output_dir o --learning_rate 1e-4 --per_device_train_batch_size 1"
IF = 'if [ "$1" = half ]; then\n  ARGS=--fp16\nelif [ $2 ]; then\n  ARGS=--bf16\nfi\n'
MAYBE = "ARGS=--fp16\nif [ $2 ]; then\n  ARGS=--bf16\nfi\n"
OF_CASE = "case $1 in\n  a100|h100) ARGS=--bf16 ;;\n  *) ARGS=--fp16 ;;\nesac\n"
OF_LIST = '[ "$1" = half ] && ARGS=--fp16\n[ $2 ] || ARGS="$ARGS --bf16"\n'
ELSE = "if [ $1 ]; then X=1; elif [ $2 ]; then ARGS=--bf16; else\n  ARGS=--fp16\nfi\n"
NESTED = "if [ $1 ]; then\n  if [ $2 ]; then ARGS=--fp16; fi\nelse\n  ARGS=--bf16\nfi\n"


@pytest.mark.parametrize(
    ("script", "fp16", "bf16"),
    [
        (IF, '[ "$1" = half ]', "[ $2 ]"),
        (MAYBE, "not [ $2 ]", "[ $2 ]"),
        (OF_CASE, "$1 is not a100|h100", "$1 is a100|h100"),
        (OF_LIST, '[ "$1" = half ]', "not ([ $2 ])"),
        (ELSE, "neither [ $1 ] nor [ $2 ]", "[ $2 ]"),
        (NESTED, "[ $1 ] and [ $2 ]", "not [ $1 ]"),
    ],
)
def test_words_of_different_branches_are_alternatives(
    script: str, fp16: str, bf16: str, tmp_path: Path
) -> None:
    script += f"torchrun train.py $ARGS {WORDS}\n"
    folder = project(tmp_path, {"run.sh": script, "train.py": OF_TRAINER})
    parts = run("explain-config", cwd=folder).out.split("\n\n")
    half = [part for part in parts if "fp16 = true" in part]
    brain = [part for part in parts if "bf16 = true" in part]
    assert [part.split("\n")[0].split("only if ")[1] for part in half] == [fp16]
    assert [part.split("\n")[0].split("only if ")[1] for part in brain] == [bf16]


@pytest.mark.parametrize(
    "script",
    [
        f"if [ $1 ]; then\n  ARGS+=' --bf16'\n  torchrun train.py {WORDS} $ARGS\n"
        f"else\n  torchrun other.py {WORDS} $ARGS\nfi",
        f"ARGS=--bf16\nif [ $1 ]; then ARGS+=' --seed 1'; fi\ntorchrun train.py {WORDS} $ARGS",
        f"ARGS=$1\nARGS=--bf16\ntorchrun train.py {WORDS} $ARGS",
    ],
)
def test_words_that_need_no_condition(script: str, tmp_path: Path) -> None:
    files = {"run.sh": f"{script}\n", "train.py": OF_TRAINER, "other.py": OF_TRAINER}
    out = explained(tmp_path, files)
    assert "bf16 = true" in out
    assert "only if" not in out
    assert "other.py" not in out


@pytest.mark.parametrize("option", ["--bf17", "--loss-dtype bf16"])
def test_options_that_the_framework_does_not_have(tmp_path: Path, option: str) -> None:
    script = EITHER.replace("--bf16", option)
    out = run(
        "explain-config", cwd=project(tmp_path, {"run.sh": script, "train.py": OF_TRAINER})
    ).out
    assert f"{option}  run.sh" not in out


WRITTEN = """\
if [ "$1" = half ]; then
  FP16_ON=true
  KIND=fp16
else
  FP16_ON=false
  KIND=bf16
fi
cat > $2 <<EOF
{{"train_batch_size": 8, "zero_optimization": {{"stage": 2}}, "fp16": {{"enabled": {}}}}}
EOF
echo done
"""


def test_variables_in_a_file_that_the_script_writes(tmp_path: Path) -> None:
    text = WRITTEN.format("${FP16_ON}")
    out = explained(tmp_path, {"run.sh": text})
    assert 'run.sh:2: DeepSpeed, only if [ "$1" = half ]\n  compute  fp16.enabled = true' in out
    assert (
        'run.sh:5: DeepSpeed, only if not [ "$1" = half ]\n  compute  fp16.enabled = false' in out
    )
    assert "not understood: KIND=fp16 (run.sh:3)" in out


@pytest.mark.parametrize("value", ["true", "${FP16_ON_TOO}", "\\$FP16_ON"])
def test_other_values_in_a_file_that_the_script_writes(value: str, tmp_path: Path) -> None:
    text = WRITTEN.format(value)
    out = explained(tmp_path, {"run.sh": text})
    assert "(run.sh:2)" in out
    assert "only if" not in out


@pytest.mark.parametrize(
    ("declared", "shown"),
    [
        ('"--amp", action=argparse.BooleanOptionalAction', "false (argument of Engine(amp=)"),
        ('"--other"', "not understood"),
    ],
)
def test_an_option_that_switches_another_one_off(declared: str, shown: str, tmp_path: Path) -> None:
    program = PROGRAM.replace('"--no-amp", action="store_true"', declared)
    script = 'if [ -n "$1" ]; then\n  FLAG="--no-amp"\nfi\npython train.py $FLAG\n'
    files = {"run.sh": script, "train.py": program.replace("not args.no_amp", "args.amp")}
    assert shown in explained(tmp_path, files)


OFF = ["false (argument of Engine(amp=), train.py:8)"]


@pytest.mark.parametrize(
    ("script", "rows"),
    [
        (
            'cmd="python train.py"\ncmd="$cmd --seed 1"\nif [ "$1" = 1 ]; then\n'
            '  cmd="$cmd --no-amp"\nfi\n$cmd >> log 2>&1\n',
            OFF,
        ),
        (
            'CMD="python train.py --seed $SEED"\n[ -n "$1" ] && CMD+=" --no-amp"\neval "$CMD"\n',
            OFF,
        ),
        (
            'RUN="torchrun train.py"\nCMD="$RUN --seed 1"\nif [ $1 ]; then\n'
            '  CMD="${CMD} --no-amp"\nfi\n$CMD\n',
            OFF,
        ),
        (
            'go() {\n  local cmd="python train.py"\n  if [ $1 ]; then\n    cmd="$cmd --no-amp"\n'
            "  fi\n  $cmd\n}\ngo 1\ngo 2\n",
            OFF,
        ),
        (
            'cmd="python other.py"\nif [ $1 ]; then\n  cmd="$cmd --no-amp"\nfi\n$cmd\n'
            'cmd="python train.py"\n$cmd\n',
            [],
        ),
        (
            'cmd="python train.py"\n$cmd\ncmd="python other.py"\nif [ $1 ]; then\n'
            '  cmd="$cmd --no-amp"\nfi\n$cmd\n',
            [],
        ),
        (
            'cmd="python train.py"\nmore="echo"\nif [ $1 ]; then\n  more="$more --no-amp"\nfi\n'
            "$cmd\n",
            [],
        ),
        (
            'if [ $1 ]; then\n  cmd="python train.py"\n  $cmd\nelse\n  cmd="$cmd --no-amp"\nfi\n',
            [],
        ),
    ],
)
def test_words_that_a_branch_adds_to_a_command(
    script: str, rows: list[str], tmp_path: Path
) -> None:
    out = explained(tmp_path, {"run.sh": script, "train.py": PROGRAM})
    found = _of_scripts(out)
    assert len(found) == len(rows)
    assert all(row in one for row, one in zip(rows, found, strict=True))
    assert ("only if" in out) is bool(rows)
    assert ("not understood: --no-amp" in out) is (not rows)
