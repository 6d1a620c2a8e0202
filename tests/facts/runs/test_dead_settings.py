"""Settings that certainly nothing reads, and those that something may read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
import logging
import tool

class Base:
    def __init__(self, args):
        self.lr = args.lr

class Kept(Base):
    def __init__(self, args):
        super(Kept, self).__init__(args)

Late = Kept

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--use-amp", action="store_true", help="use_amp for speed")
    parser.add_argument("--lr")
    args = parser.parse_args()
    logging.info("options: %s", args)
    {}
    train(args.lr)

main()
"""
DEAD = "nothing reads it (option, train.py:17)  run.sh:1  --use-amp"


def with_option(line: str) -> dict[str, str]:
    return {"run.sh": "python train.py --use-amp\n", "train.py": PROGRAM.format(line)}


@pytest.mark.parametrize(
    "line",
    [
        "pass",
        "tool.run(args.lr)",
        "print(vars(tool))",
        "use_amp = True",
        "train(use_amp=1)",
        "# if args.use_amp:",
        "for name in sorted(vars(args)): print(name, getattr(args, name))",
        "for name, value in vars(args).items(): print(f'{name}: {value}')",
        "for name in vars(args).keys(): table[name] = f'{getattr(args, name)}'",
        "logging.info('; '.join([f'{name}={value}' for name, value in vars(args).items()]))",
        "Kept(args)",
        "Late(args)",
        "Process(target=main, args=(args,)).start()",
        "json.dump(vars(args), stream)",
        "torch.save({'args': args}, 'a.pt')",
        "torch.save({'step': 1}, os.path.join(args.output, 'a.pt'))",
        "given['use_amp'] = True; load(**given)",
        "train(['use_amp', 'lr'])",
    ],
)
def test_an_option_that_nothing_reads(line: str, tmp_path: Path) -> None:
    out = explained(tmp_path, with_option(line))
    assert DEAD in out
    assert "not understood" not in out


@pytest.mark.parametrize(
    "line",
    [
        "tool.run(args)",
        "helper(args)",
        "train(**vars(args))",
        "config = vars(args)",
        "for name in names: getattr(args, name)",
        "for name in names: print(getattr(args, name))",
        "config = args.__dict__",
        "print(args['use_amp'])",
        "print(getattr(args, 'use_amp', False))",
        "print(parser.get_default('use_amp'))",
        "print(vars(args)['use_amp'])",
        "train('--use-amp' in sys.argv)",
        "train('--use-amp' in words)",
        "torch.save({'args': args.__dict__}, 'a.pt'); train(torch.load('a.pt')['use_amp'])",
        "tool.Run(config=args)",
        "config = args; tool.run(config)",
        "config = copy.deepcopy(args); tool.run(config)",
        "def go(given): tool.run(given)\n    go(args)",
        "def go(given): getattr(given, name)\n    go(args)",
        "def go(self, given): self.kept = given; tool.run(self.kept)\n    go(box, args)",
        "tool.run((args, 1))",
        "Process(target=tool.run, args=(args,)).start()",
        "torch.multiprocessing.spawn(tool.run, args=(args,))",
        "functools.partial(tool.run, args)()",
        "for name, value in vars(args).items(): command.append(f'--{name}={value}')",
        "for name in vars(args): command += ['--' + name, str(getattr(args, name))]",
        "for name, value in vars(args).items(): os.environ[name] = str(value)",
        "match args:\n        case argparse.Namespace(use_amp=True): train()",
        "pass  # then\n    if args.use_amp: train()",
        "for name, value in vars(args).items(): setattr(tool, name, value)",
        "for name, value in vars(args).items(): print(name); tool.set(value)",
        "for name in vars(args): tool.set(getattr(args, name))",
        "values = [value for name, value in vars(args).items()]",
        "model = getattr(tool, f'{vars(args)[key]}')",
        "class Foreign(tool.Other):\n"
        "        def __init__(self, args): super().__init__(args)\n"
        "    Foreign(args)",
    ],
)
def test_an_option_that_something_may_read(line: str, tmp_path: Path) -> None:
    assert "nothing reads it" not in explained(tmp_path, with_option(line))


SCRIPT = "precision=bf16\n{}\npython train.py --lr 1 > log.txt\n"
NAMED = "nothing reads it: it is printed, or a part of the names of outputs"


def with_script(lines: str) -> dict[str, str]:
    return {"run.sh": SCRIPT.format(lines), "train.py": PROGRAM.format("pass")}


@pytest.mark.parametrize(
    "lines",
    [
        'echo "running in $precision"',
        'log_dir=logs/run-${precision}-1\nmkdir -p "$log_dir"\necho x > $log_dir/a.txt',
        "python train.py --run_name base_$precision",
        "python train.py 2>&1 | tee train_${precision}.log",
        'printf "%s\\n" "$precision" | tee -a summary.txt',
    ],
)
def test_variables_that_only_name_outputs(lines: str, tmp_path: Path) -> None:
    assert NAMED in explained(tmp_path, with_script(lines))


@pytest.mark.parametrize(
    "lines",
    [
        'if [ "$precision" = bf16 ]; then echo yes; fi',
        "case $precision in bf16) echo yes;; esac",
        "export precision\necho $precision",
        "python other.py $precision",
        "python train.py --config configs/$precision.yaml",
        "python train.py --model_path models/$precision",
        'echo "python train.py --dtype $precision" | bash',
        "log_args=--x=$precision\npython other.py $log_args",
        "source env_$precision.sh",
        "echo nothing",
        "set -a\necho $precision",
    ],
)
def test_variables_that_something_may_get(lines: str, tmp_path: Path) -> None:
    assert NAMED not in explained(tmp_path, with_script(lines))


NEVER_USED = "nothing reads it: the script never uses the variable"


@pytest.mark.parametrize(
    "lines",
    [
        "",
        'if [ "$PR" = fp16 ]; then echo yes; fi',
        "# python train.py --dtype $precision",
        "precision=fp16",
        'echo "$precisions" ${other_precision}',
    ],
)
def test_variables_that_a_script_never_uses(lines: str, tmp_path: Path) -> None:
    files = with_script(lines) | {"all.sh": "bash run.sh\n"}
    assert NEVER_USED in explained(tmp_path, files)


@pytest.mark.parametrize(
    ("lines", "others"),
    [
        ("echo $precision", {}),
        ("export precision", {}),
        ("set -a", {}),
        ("source other.sh", {}),
        (". ./other.sh", {}),
        ('eval "$COMMAND"', {}),
        ("precision=fp16 python other.py", {}),
        ("declare -x precision", {}),
        ("echo ${!name}", {}),
        ("cat <<EOF\n$precision\nEOF", {}),
        ("name=precision", {}),
        ("echo ${precision:-half}", {}),
        ("", {"other.sh": "source run.sh\n"}),
        ("", {"run.sh": "precision=bf16\n"}),  # others may source it
        ("", {"run.sh": "precision=bf16\necho done\n"}),
        ("", {"read.py": "import os\nprint(os.environ['precision'])\n"}),
    ],
)
def test_variables_that_may_be_used(lines: str, others: dict[str, str], tmp_path: Path) -> None:
    assert NEVER_USED not in explained(tmp_path, with_script(lines) | others)


@pytest.mark.parametrize(
    "line",
    [
        "precisions=(fp32 tf32 bf16)",
        'precision="${1#--precision=}"',
        "precision=$(echo $1 | cut -f2 -d=)",
        'ARGS=""\nif [ $1 ]; then\n  ARGS+=" \\\n    --use-amp \\\n    "\nfi',
    ],
)
def test_settings_of_scripts_that_are_listed(line: str, tmp_path: Path) -> None:
    files = {"run.sh": line + "\necho done\n"}
    assert "not understood: " in explained(tmp_path, files)


@pytest.mark.parametrize(
    "line",
    [
        "precisions=(1 2 3 many)",
        "precisions=()",
        "names=(fp32x b)",
        "fp32_time=$(grep x log.txt)",
        "fp16_size=$(du -h model)",
        "python train.py --fp8-recipe conf/a.json",
        'name="${1#--name=}"',
        "rate=$(echo $1 | cut -f2 -d=)",
    ],
)
def test_lines_of_scripts_that_are_no_settings(line: str, tmp_path: Path) -> None:
    files = {"run.sh": line + "\necho done\n", "other.sh": "precision=bf16\n"}
    out = explained(tmp_path, files)
    assert "(other.sh:1)" in out
    assert "(run.sh:" not in out


SECTION = """\
model:
  class_path: {}
  init_args:
    inner:
      seed: 1
      weights_dtype: half
other:
  fp16_level: half
"""
GIVEN = "weights_dtype: half (a.yaml:6); given to far.away.Net, which is not in the project"


@pytest.mark.parametrize(
    "text",
    [
        SECTION,
        SECTION.replace("class_path", "_target_"),
        SECTION.replace("class_path", "target").replace("init_args", "params"),
    ],
)
def test_the_class_of_a_library_that_gets_a_section(text: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"a.yaml": text.format("far.away.Net")})
    assert GIVEN in out
    assert "fp16_level: half (a.yaml:8); given" not in out


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (SECTION.format("near.net.Net"), {"near/net.py": "class Net:\n    pass\n"}),
        (SECTION.format("Net"), {}),
        (SECTION.replace("class_path", "path").format("far.away.Net"), {}),
        (SECTION.format("'far away/Net'"), {}),
    ],
)
def test_no_class_of_a_library(text: str, files: dict[str, str], tmp_path: Path) -> None:
    assert "which is not in the project" not in explained(tmp_path, files | {"a.yaml": text})


PRINTED = "`echo` prints it, and starts nothing"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("echo python train.py --lr 1 \\\n  --use-amp", "--use-amp"),
        ("echo torchrun train.py --dtype bf16 --use-amp", "--dtype bf16"),
        ('echo "run python train.py --dtype bf16 first"', "--dtype bf16"),
        ('echo "usage: python train.py --dtype $DTYPE"', "--dtype $DTYPE"),
    ],
)
def test_a_command_that_is_only_printed(line: str, text: str, tmp_path: Path) -> None:
    files = {"run.sh": f"{line}\n", "train.py": PROGRAM.format("pass")}
    rows = explained(tmp_path, files).splitlines()
    assert any(text in row and PRINTED in row for row in rows)


@pytest.mark.parametrize("rest", ["| bash", "| tee a.txt", "> jobs.sh", ">> jobs.txt"])
def test_a_command_that_is_printed_for_something_else(rest: str, tmp_path: Path) -> None:
    files = {"run.sh": f"echo python train.py --use-amp {rest}\n"}
    out = explained(tmp_path, files)
    assert "`echo` prints it; who gets that is not followed" in out


@pytest.mark.parametrize(
    "lines",
    ['echo "training with --bf16"', "echo done --use-amp", 'COMMAND="python a.py"\necho $COMMAND'],
)
def test_what_prints_no_command(lines: str, tmp_path: Path) -> None:
    files = {"run.sh": f"{lines}\n", "other.sh": "precision=bf16\n"}
    assert "prints it" not in explained(tmp_path, files)


HERE = """\
{} <<'EOF'
from transformers import BitsAndBytesConfig
other = tool.load(dtype="half")
given = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_use_double_quant=True)
EOF
"""


@pytest.mark.parametrize(
    "command", ["python", "python3 -u", "srun python -", "python3.11 - a.json", "x=1 python"]
)
def test_python_in_a_here_document(command: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"run.sh": HERE.format(command)})
    assert "run.sh:4: bitsandbytes" in out
    assert re.search(r"bnb_4bit_use_double_quant = true +run.sh:4", out)
    assert 'half (argument of load(dtype=), run.sh:3)  run.sh:3  dtype="half"' in out


@pytest.mark.parametrize(
    "command", ["python train.py", "python -c 'print(1)'", "cat", "echo python", "python -m tool"]
)
def test_here_documents_that_no_python_runs(command: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"run.sh": HERE.format(command)})
    assert "bitsandbytes" not in out
    assert "load_in_4bit=True" in out


PIPED = """\
python - <<'EOF'
import torch
from transformers import AutoModel
kind = tool.kind()
{}
EOF
"""
IN_PROGRAM = "a program that the script pipes into Python has it"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('model = AutoModel.from_pretrained("m", torch_dtype="auto")', "auto (weights of model"),
        ('model = AutoModel.from_pretrained("m", dtype=torch.half)', "half (weights of model"),
        ("model.to(dtype=torch.bfloat16)", "bfloat16 (argument of to(dtype=)"),
        ("engine = tool.Engine(fp16=True)", "true (argument of Engine(fp16=)"),
        ("engine = tool.Engine(1, dtype='bf16')", "bf16 (argument of Engine(dtype=)"),
    ],
)
def test_what_a_piped_program_gives_to_a_call(line: str, expected: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"run.sh": PIPED.format(line)})
    assert f"{expected}, run.sh:5)  run.sh:5  " in out
    assert "not understood" not in out


@pytest.mark.parametrize(
    "line",
    [
        "kind_dtype = 'half'",
        "model = AutoModel.from_pretrained('m', torch_dtype=TABLE['half'])",
        "print('a', dtype='half')",
        "parser.add_argument('--kind', dtype='half')",
        "logging.info('a', precision='half')",
        "dtype = tool.kind() or 'half'",
        "table = dict(dtype='half')",
        "class Settings:\n    dtype: str = 'half'",
        "def build(a, dtype='half'):\n    pass",
        "names = ['a',\n  (lambda dtype='half': 1)]",
    ],
)
def test_what_a_piped_program_keeps_is_no_argument(line: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"run.sh": PIPED.format(line), "b.sh": "precision=bf16\n"})
    assert "(b.sh:1); no program is seen to get it" in out
    assert "argument of" not in out
    assert "weights of" not in out
    listed = [row for row in out.splitlines() if "(run.sh:" in row]
    assert all(row.endswith(IN_PROGRAM) for row in listed)


def test_a_program_that_the_shell_fills_in_is_listed(tmp_path: Path) -> None:
    text = HERE.format("python -").replace("'EOF'", "EOF").replace("half", "$DTYPE")
    out = explained(tmp_path, {"run.sh": text})
    assert "not understood: load_in_4bit=True (run.sh:4)" in out
    assert "not understood: bnb_4bit_use_double_quant=True (run.sh:4)" in out


@pytest.mark.parametrize("name", ["job.pbs", "job.lsf", "job.qsub", "job.zsh", "job.slurm"])
def test_scripts_of_schedulers(name: str, tmp_path: Path) -> None:
    text = "singularity exec $image bash << EOF > out\npython train.py --use-amp\nEOF\n"
    out = explained(tmp_path, {name: text, "train.py": PROGRAM.format("pass")})
    assert f"nothing reads it (option, train.py:17)  {name}:2  --use-amp" in out


AT_HOME = """\
import argparse
import copy
import functools
import large

class Box:
    pass

def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--use-amp", action="store_true")
    parser.add_argument("--lr")
    args = parser.parse_args()
    return args

def train(args, model):
    model.fit(args.lr)

def other(given):
    large.start(given)

def main(args):
    model = large.Model()
    {}
    train(args, model)

if __name__ == "__main__":
    args = parse_args()
    main(args)
"""
LARGE = (
    "def start(settings):\n    for name in dir(settings):\n        use(getattr(settings, name))\n"
    "def save(settings):\n    start(settings)\n"
)
UNREAD_AT_HOME = "nothing reads it (option, train.py:11)"


@pytest.mark.parametrize(
    ("line", "is_unread"),
    [
        ("pass", True),
        ("large.start(args.lr)", True),
        ("train(args=args, model=model)", True),
        ("print(f'{args}')", True),
        ("large.start(args)", False),
        ("other(args)", False),
        ("box = Box(); box.args = args", False),
        ("model.options = {'args': args}", False),
        ("kept = args; large.start(kept)", False),
        ("kept = copy.copy(args); large.start(kept)", False),
        ("large.start(functools.partial(train, args))", False),
        ("large.train(args)", False),
        ("large.start(vars(args))", False),
        ("large.start(settings := args)", False),
        ("large.start(parse_args())", False),
        ("large.start(args.use_amp)", False),
        ("large.start(parse_args)", False),
        ("large.save(args)", False),
    ],
)
def test_options_that_do_not_leave_the_program(line: str, is_unread: bool, tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": AT_HOME.format(line), "large.py": LARGE})
    assert (UNREAD_AT_HOME in out) is is_unread


@pytest.mark.parametrize(
    "line", ["import train", "from train import args", "from __main__ import args", "sys.argv"]
)
def test_not_if_another_module_may_have_them(line: str, tmp_path: Path) -> None:
    files = {"train.py": AT_HOME.format("pass"), "large.py": f"{line}\n{LARGE}"}
    assert UNREAD_AT_HOME not in explained(tmp_path, files)


@pytest.mark.parametrize(
    "parsing",
    [
        "args = parser.parse_args(namespace=large.C)",
        "args = parser.parse_args(None, large.C)",
        "large.args = parser.parse_args()",
        "large.args, rest = parser.parse_known_args()",
    ],
)
def test_not_if_an_object_gets_them(parsing: str, tmp_path: Path) -> None:
    code = AT_HOME.format("pass").replace("args = parser.parse_args()", parsing)
    files = {"train.py": code, "large.py": f"{LARGE}    use(args.use_amp)\n"}
    assert UNREAD_AT_HOME not in explained(tmp_path, files)


SAVING = [
    "json.dump(vars(args), stream)",
    "torch.save({'args': args}, 'a.pt')",
    "state = {}; state['args'] = args",
    "yaml.safe_dump(args.__dict__, stream)",
]
LOADING = "args = load('a.pt')\nif args['use_amp']:\n    run()\n"


@pytest.mark.parametrize("line", SAVING)
def test_what_is_saved_may_be_read_elsewhere(line: str, tmp_path: Path) -> None:
    files = {"train.py": AT_HOME.format(line), "large.py": "def start(steps):\n    pass\n"}
    declaring = f"parser.add_argument('--use-amp')\n{LOADING}"
    assert UNREAD_AT_HOME in explained(tmp_path, files | {"test.py": declaring})
    assert UNREAD_AT_HOME not in explained(tmp_path, files | {"test.py": LOADING})
    assert UNREAD_AT_HOME not in explained(tmp_path, files | {"large.py": LOADING})


def test_trackers_give_options_again(tmp_path: Path) -> None:
    files = {"large.py": LARGE + "use(wandb.config.use_amp)\n"}
    for line, is_unread in (("pass", True), ("wandb.init(config=args)", False)):
        out = explained(tmp_path, files | {"train.py": AT_HOME.format(line)})
        assert (UNREAD_AT_HOME in out) is is_unread


@pytest.mark.parametrize(
    ("names", "word", "attribute"),
    [
        ('"--half-precision", "--use-amp"', "--use-amp", "half_precision"),
        ('"-fp16", "--use-amp"', "-fp16", "use_amp"),
        ('"-fp16"', "-fp16", "fp16"),
    ],
)
def test_an_option_with_several_names(
    names: str, word: str, attribute: str, tmp_path: Path
) -> None:
    code = AT_HOME.replace('"--use-amp"', names)
    for line, is_unread in (("pass", True), (f"print(args.{attribute})", False)):
        files = {"run.sh": f"python train.py {word}\n", "train.py": code.replace("{}", line)}
        assert (UNREAD_AT_HOME in explained(tmp_path, files)) is is_unread


RETURNING = """\
import argparse
import tool

def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--use-amp", action="store_true")
    parser.add_argument("--lr")
    return parser.parse_args()

def train(config):
    print(config.lr)

{}
"""


def with_function(line: str) -> dict[str, str]:
    return {"run.sh": "python train.py --use-amp\n", "train.py": RETURNING.format(line)}


@pytest.mark.parametrize(
    "line", ["args = options()\ntrain(args)", "given = options()\ntrain(given)\nprint(given.lr)"]
)
def test_a_function_that_returns_what_the_parser_makes(line: str, tmp_path: Path) -> None:
    out = explained(tmp_path, with_function(line))
    assert "nothing reads it (option, train.py:6)" in out


@pytest.mark.parametrize(
    "line",
    [
        "tool.run(options())",
        "given = options()\ntool.run(given)",
        "tool.given = options()\ntool.run()",
        "tool.run(**vars(options()))",
        "given = vars(options())\ntool.run(given)",
        "given = options() or tool.default()\ntool.run(given)",
    ],
)
def test_and_hands_it_to_somebody(line: str, tmp_path: Path) -> None:
    assert "nothing reads it" not in explained(tmp_path, with_function(line))
