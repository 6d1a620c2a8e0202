"""Which program reads a file that no launch names, and which one only looks as if it did."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

KEYS = "epochs: 3\nlr: 0.1\ndata: d\nmodel: m\nseed: 1\n"
MORE = "".join(f"key{number}: 1\n" for number in range(12))
FILE = KEYS + "kind_dtype: float16\n"
READS = "print(config.epochs, config.lr, config.data, config.model, config.seed)\n"
ALL = "".join(f"print(config.key{number})\n" for number in range(12))
ENGINE = """\
torch.autocast("cuda")
Engine(dtype=config.kind_dtype)
if __name__ == "__main__":
    main()
"""
LOADS = "config = yaml.safe_load(open(sys.argv[1]))\n"
TABLE = """\
import yaml

def read_rows(path):
    return [line.split() for line in open(path)]

def read_settings(path):
    return yaml.safe_load(open(path))

class Table:
    def __init__(self, path):
        self.rows = yaml.safe_load(open(path))
"""
ROWS = "from table import read_rows\nread_rows(config.data)\n"
SETTINGS = "from table import read_settings\nconfig = read_settings(sys.argv[1])\n"
MADE = "import table\nconfig = table.Table(sys.argv[1]).rows\n"
HANDED_ON = "import table\nconfig = start(reader=table.read_settings)\n"
LIBRARY = "from pydantic_settings import BaseSettings\n"

UNKNOWN = "not understood: kind_dtype: float16 (conf/a.yaml"


def test_a_program_that_mentions_all_keys_and_loads_no_file_is_no_reader(tmp_path: Path) -> None:
    text = MORE + "kind_dtype: float16\n"
    files = {"conf/a.yaml": text, "example.py": ALL + ENGINE}
    (alone := tmp_path / "alone").mkdir()
    assert UNKNOWN in explained(alone, files)
    (library := tmp_path / "library").mkdir()
    assert "read by example.py" in explained(
        library, files | {"example.py": LIBRARY + ALL + ENGINE}
    )
    (both := tmp_path / "both").mkdir()
    out = explained(both, files | {"train.py": LOADS + ALL.replace("key5", "key4") + ENGINE})
    assert "read by train.py" in out
    assert "example.py" not in out


@pytest.mark.parametrize(
    ("starts", "is_reader"),
    [(ROWS, False), (SETTINGS, True), (MADE, True), (HANDED_ON, True), (ROWS + LOADS, True)],
)
def test_a_function_that_loads_counts_where_it_is_used(
    starts: str, is_reader: bool, tmp_path: Path
) -> None:
    files = {"conf/a.yaml": FILE, "table.py": TABLE, "train.py": starts + READS + ENGINE}
    assert ("read by train.py" in explained(tmp_path, files)) is is_reader


def test_a_program_that_names_another_file_with_such_an_end_is_no_reader(tmp_path: Path) -> None:
    other = LOADS + 'DEFAULT = "conf/batch_a.yaml"\n' + READS + ENGINE
    named = LOADS + 'DEFAULT = "conf/a.yaml"\n' + READS + ENGINE
    out = explained(tmp_path, {"conf/a.yaml": FILE, "other.py": other, "train.py": named})
    assert "read by train.py" in out
    assert "other.py" not in out


PROGRAM = LOADS + READS + ENGINE


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "python two.py conf/a.yaml\n"),
        ("README.md", "Train:\n```bash\npython two.py --config=conf/a.yaml\n```\n"),
        ("run.sh", "python other.py\n# python3 two.py -c conf/a.yaml\n"),
        ("README.md", "```bash\n# optional\n# torchrun two.py -c conf/a.yaml\n```\n"),
    ],
)
def test_the_program_that_a_command_gives_the_file_to(name: str, text: str, tmp_path: Path) -> None:
    files = dict.fromkeys(("one.py", "two.py"), PROGRAM) | {"conf/a.yaml": FILE}
    assert UNKNOWN in explained(tmp_path, files)
    out = explained(tmp_path, files | {name: text})
    assert "two.py" in out
    assert "one.py" not in out


def test_a_file_beside_one_that_a_program_takes_by_default(tmp_path: Path) -> None:
    taking = 'parser.add_argument("--config", default="conf/a.yaml")\n' + PROGRAM
    fixed = "config = yaml.safe_load(open('conf/a.yaml'))\n" + READS + ENGINE
    files = {"conf/a.yaml": FILE, "conf/b.yaml": FILE.replace("16", "32"), "one.py": PROGRAM}
    (first := tmp_path / "first").mkdir()
    assert "one.py" not in explained(first, files | {"two.py": taking})
    (second := tmp_path / "second").mkdir()
    assert "conf/b.yaml: PyTorch, read by one.py" in explained(second, files | {"two.py": fixed})


TAKES_FIRST = """\
if [[ $1 == *.yaml ]]; then
    config=$1
else
    config="conf/a.yaml"
fi
python two.py --config $config
"""


@pytest.mark.parametrize(
    "script",
    [
        TAKES_FIRST,
        'CONFIG=conf/a.yaml\n[ $1 ] && CONFIG=$1\npython two.py --config "$CONFIG"\n',
        "python two.py --config ${1:-conf/a.yaml}\n",
    ],
)
def test_the_file_that_a_script_gives_without_a_word(script: str, tmp_path: Path) -> None:
    files = dict.fromkeys(("one.py", "two.py"), PROGRAM) | {"conf/a.yaml": FILE}
    out = explained(tmp_path, files | {"run.sh": script})
    assert "read by two.py" in out or "started as two.py" in out
    assert "one.py" not in out


def test_a_variable_with_the_name_of_a_file_that_goes_nowhere(tmp_path: Path) -> None:
    files = dict.fromkeys(("one.py", "two.py"), PROGRAM) | {"conf/a.yaml": FILE}
    script = TAKES_FIRST.replace("--config $config", "--config $configs")
    assert UNKNOWN in explained(tmp_path, files | {"run.sh": script})


def test_each_program_that_gets_a_file_is_shown(tmp_path: Path) -> None:
    more = PROGRAM.replace("Engine(dtype=", "Model(torch_dtype=")
    files = {"conf/a.yaml": FILE, "one.py": PROGRAM, "two.py": more, "three.py": PROGRAM}
    commands = (f"```bash\npython {name}.py -c conf/a.yaml\n```\n" for name in ("one", "two"))
    page = "Then\n".join(commands)
    out = explained(tmp_path, files | {"README.md": page})
    assert "conf/a.yaml: PyTorch, read by one.py" in out
    assert "conf/a.yaml: PyTorch, read by two.py" in out
    assert "three.py" not in out


def test_a_program_that_opens_a_file_by_default_reads_it_as_well(tmp_path: Path) -> None:
    default = 'parser.add_argument("--config", default="conf/a.yaml")\n' + PROGRAM
    files = {"conf/a.yaml": FILE, "one.py": PROGRAM, "two.py": default}
    out = explained(
        tmp_path, files | {"run.sh": "for i in 1; do\npython one.py -c conf/a.yaml\ndone"}
    )
    assert "read by two.py" in out


def test_of_programs_that_mention_the_keys_one_is_perhaps_the_reader(tmp_path: Path) -> None:
    files = {"conf/small.yaml": FILE, "train_small.py": PROGRAM, "train_large.py": PROGRAM}
    out = explained(tmp_path, files)
    assert "conf/small.yaml: PyTorch, perhaps read by train_small.py" in out
    (alone := tmp_path / "alone").mkdir()
    out = explained(alone, {"conf/small.yaml": FILE, "train_small.py": PROGRAM})
    assert "conf/small.yaml: PyTorch, read by train_small.py" in out


def test_of_files_alike_the_one_with_the_nearest_name_decides(tmp_path: Path) -> None:
    page = "```bash\npython one.py -c conf/a_one.yaml\npython two.py -c conf/a_two_base.yaml\n```\n"
    names = ("a_one", "a_two_base", "a_two_large")
    files = {f"conf/{name}.yaml": FILE.replace("1\n", f"{len(name)}\n") for name in names}
    files |= dict.fromkeys(("one.py", "two.py"), PROGRAM) | {"README.md": page}
    out = explained(tmp_path, files)
    assert "conf/a_one.yaml: PyTorch, read by one.py" in out
    assert "conf/a_two_base.yaml: PyTorch, read by two.py" in out
    assert "conf/a_two_large.yaml: PyTorch, read by two.py; no file of the project names it" in out


WRITES = """\
parser.add_argument("--config")
with open("args.yaml", "w") as file:
    file.write(text)
"""
SAID = (
    "--epochs 3 --lr 0.1 --data d --model m --seed 1 --rank 2 --size 3 --depth 4 --kind-dtype half"
)


@pytest.mark.parametrize("words", ["--output runs --seed 4", SAID])
def test_the_program_whose_run_has_written_the_file(words: str, tmp_path: Path) -> None:
    commands = f"python two.py {words}\npython one.py --seed 4\n"
    page = f"[settings](runs/a/args.yaml)\n```bash\n{commands}```\n"
    text = FILE.replace("float16", "half") + "rank: 2\nsize: 3\ndepth: 4\n"
    files = {"runs/a/args.yaml": text} | dict.fromkeys(("one.py", "two.py"), WRITES + PROGRAM)
    (without := tmp_path / "without").mkdir()
    assert "read by one.py" in explained(without, files)
    (shown := tmp_path / "shown").mkdir()
    out = explained(shown, files | {"README.md": page})
    assert "read by two.py" in out
    assert "read by one.py" not in out


def test_a_file_that_a_command_names_was_not_written_by_another_one(tmp_path: Path) -> None:
    page = f"```bash\npython two.py {SAID}\npython score.py --config conf/args.yaml\n```\n"
    text = FILE.replace("float16", "half") + "rank: 2\nsize: 3\ndepth: 4\n"
    score = "import yaml\nprint(yaml.safe_load(open(sys.argv[2]))['epochs'])\n"
    files = {"conf/args.yaml": text, "two.py": PROGRAM, "README.md": page}
    out = explained(tmp_path, files | {"score.py": score})
    assert "read by two.py" not in out
    assert "neither score.py nor what it imports mentions it" in out


@pytest.mark.parametrize(
    ("word", "is_given"),
    [("conf/a_${KIND}.yaml", False), ("conf/task_${KIND}.yaml", True), ("$KIND.yaml", False)],
)
def test_a_command_whose_path_has_unknown_parts(word: str, is_given: bool, tmp_path: Path) -> None:
    files = {"conf/task_one.yaml": FILE, "run.sh": f"KIND=$1\npython two.py -c {word}\n"}
    out = explained(tmp_path, files | dict.fromkeys(("one.py", "two.py"), PROGRAM))
    assert ("read by one.py" not in out and "read by two.py" in out) is is_given


def test_a_file_that_others_include(tmp_path: Path) -> None:
    text = MORE + "kind_dtype: float16\nother: 1\n"
    files = {
        "conf/base/half.yaml": text,
        "conf/middle.yaml": "include: [base/half.yaml]\nepochs: 1\n",
        "conf/last.yaml": "include: [middle.yaml]\nlr: 1\n",
        "train.py": LOADS + "print(config.key1)\nEngine(dtype=config.kind_dtype)\n",
    }
    (alone := tmp_path / "alone").mkdir()
    assert "not understood: kind_dtype" in explained(alone, files)
    (given := tmp_path / "given").mkdir()
    out = explained(given, files | {"run.sh": "python train.py conf/last.yaml\n"})
    assert "conf/base/half.yaml: PyTorch, read by train.py" in out


def test_a_file_that_is_included_beside_one_with_a_reader(tmp_path: Path) -> None:
    files = {
        "conf/base/half.yaml": MORE + "kind_dtype: float16\nother: 1\n",
        "conf/base/run.yaml": KEYS + "other_dtype: float16\n",
        "conf/whole.yaml": "include: [base/half.yaml, base/run.yaml]\nepochs: 1\n",
        "train.py": LOADS + READS + "print(config.other_dtype)\n" + ENGINE,
    }
    (alone := tmp_path / "alone").mkdir()
    without = {name: text.replace(", base/run.yaml", "") for name, text in files.items()}
    assert "not understood: kind_dtype" in explained(alone, without)
    (beside := tmp_path / "beside").mkdir()
    out = explained(beside, files)
    assert "conf/base/half.yaml: PyTorch, read by train.py" in out


def test_a_name_that_several_folders_have_is_that_of_the_own_one(tmp_path: Path) -> None:
    program = 'NAME = "settings.yaml"\nparser.read_config(NAME)\n' + READS + ENGINE
    files = {"a/conf/settings.yaml": FILE, "a/scripts/run.py": program, "b/scripts/run.py": program}
    out = explained(tmp_path, files)
    assert "read by a/scripts/run.py" in out
    assert "b/scripts" not in out


def test_a_name_that_many_folders_have_is_that_of_none(tmp_path: Path) -> None:
    usage = (
        'print("usage: score.py -c a.yaml")\n'
        + LOADS
        + READS.replace(", config.model, config.seed", "")
    )
    files = {"tools/score.py": usage + ENGINE, "recipes/one/a.yaml": FILE}
    (only := tmp_path / "only").mkdir()
    assert "read by tools/score.py" in explained(only, files)
    (several := tmp_path / "several").mkdir()
    others = {"recipes/two/a.yaml": "lr: 1\n", "train.py": LOADS + ENGINE}
    assert "not understood: kind_dtype" in explained(several, files | others)


def test_a_program_of_another_folder_with_programs_is_no_reader(tmp_path: Path) -> None:
    files = {"speed/conf/a.yaml": FILE, "loss/run.py": PROGRAM}
    (alone := tmp_path / "alone").mkdir()
    assert "read by loss/run.py" in explained(alone, files)
    (both := tmp_path / "both").mkdir()
    out = explained(both, files | {"speed/run.py": 'if __name__ == "__main__":\n    main()\n'})
    assert "not understood: kind_dtype: float16 (speed/conf/a.yaml" in out


def test_of_programs_in_several_folders_none_is_named(tmp_path: Path) -> None:
    files = {"conf/a.yaml": FILE, "src/one.py": PROGRAM, "tools/two.py": PROGRAM}
    (several := tmp_path / "several").mkdir()
    assert UNKNOWN in explained(several, files)
    importing = "import src.one\n" + PROGRAM
    (imported := tmp_path / "imported").mkdir()
    out = explained(imported, files | {"tools/two.py": importing})
    assert "read by src/one.py" in out
    (alike := tmp_path / "alike").mkdir()
    named = {name.replace("src/one", "src/a"): text for name, text in files.items()}
    named["conf/tuned_a.yaml"] = named.pop("conf/a.yaml")
    named["src/tuned.py"] = named.pop("src/a.py")
    assert "read by src/tuned.py" in explained(alike, named)


def test_the_settings_are_those_of_the_program_that_another_one_imports(tmp_path: Path) -> None:
    shows = (
        "from train import config\nimport argparse\n"
        'argparse.ArgumentParser().add_argument("--config", default="conf/a.yaml")\n'
        'if __name__ == "__main__":\n    print(config.epochs, config.lr, config.data)\n'
    )
    out = explained(tmp_path, {"conf/a.yaml": FILE, "train.py": PROGRAM, "show.py": shows})
    assert "read by train.py" in out
    assert "show.py" not in out


HYDRA = """\
import hydra

@hydra.main(config_path="conf", config_name="{name}")
def main(config):
    print(config.epochs, config.lr, config.data, config.model, config.seed)
    Engine(dtype=config.kind_dtype)
    instantiate(config.net)
"""


def test_the_program_that_composes_the_files_of_a_folder(tmp_path: Path) -> None:
    ended = HYDRA + 'torch.autocast("cuda")\nif __name__ == "__main__":\n    main()\n'
    files = {
        "one.py": ended.format(name="a"),
        "two.py": ended.format(name="b"),
        "conf/b.yaml": FILE,
    }
    (named := tmp_path / "named").mkdir()
    assert "read by two.py" in explained(named, files)
    part = {"conf/net/x.yaml": "_target_: pkg.Net\nhalf_dtype: float16\n"}
    (section := tmp_path / "section").mkdir()
    out = explained(section, part | {"one.py": ended.format(name="a"), "conf/a.yaml": "x: 1\n"})
    assert "float16 (argument of Net(half_dtype=), one.py:7)  conf/net/x.yaml:2" in out


def test_what_composes_the_files_of_a_folder_reads_them_before_others(tmp_path: Path) -> None:
    ended = HYDRA + 'torch.autocast("cuda")\nif __name__ == "__main__":\n    main()\n'
    files = {"one.py": ended.format(name="a"), "conf/more/b.yaml": FILE, "eval.py": PROGRAM}
    files |= {"conf/a.yaml": "x: 1\n", "conf/b.yaml": "x: 1\n"}
    (one := tmp_path / "one").mkdir()
    assert "read by one.py" in explained(one, files)
    (two := tmp_path / "two").mkdir()
    out = explained(two, files | {"two.py": ended.format(name="b").replace("config.seed", "0")})
    assert "read by one.py" in out
    assert "eval.py" not in out


STARTS = """\
CMD: "python -m torch.distributed.launch --nproc_per_node=8 {}"
HPARAMS: [
  {{lr: 0.1, kind_dtype: float16}},
]
"""
OPTIONS = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--kind-dtype")
args = parser.parse_args()
Engine(dtype=args.kind_dtype)
"""


def test_the_program_that_a_file_starts(tmp_path: Path) -> None:
    files = {"conf/a.yaml": STARTS.format("train.py"), "train.py": OPTIONS}
    (own := tmp_path / "own").mkdir()
    out = explained(own, files)
    assert "read by train.py" in out
    assert "float16 (argument of Engine(dtype=), train.py:5)" in out
    (gone := tmp_path / "gone").mkdir()
    assert "read by" not in explained(gone, files | {"conf/a.yaml": STARTS.format("other.py")})


MERGES = """\
{}
config = get_cfg()
config.merge_from_file(arguments.config)
print(config.epochs)
"""


@pytest.mark.parametrize(
    ("imports", "is_reader"),
    [("from detectron2.config import get_cfg", True), ("from own import get_cfg", False)],
)
def test_what_no_code_reads_is_read_by_the_library_whose_settings_are_extended(
    imports: str, is_reader: bool, tmp_path: Path
) -> None:
    text = FILE + "".join(f"key{number}: 1\n" for number in range(20))
    files = {"conf/a.yaml": text, "train.py": MERGES.format(imports) + ENGINE, "eval.py": LOADS}
    assert ("read by train.py" in explained(tmp_path, files)) is is_reader


def test_the_only_program_that_loads_such_files_need_not_mention_all_keys(tmp_path: Path) -> None:
    reads = READS.replace(", config.model, config.seed", "")
    files = {"conf/a.yaml": FILE, "train.py": LOADS + reads + ENGINE}
    (only := tmp_path / "only").mkdir()
    assert "read by train.py" in explained(only, files)
    (other := tmp_path / "other").mkdir()
    assert UNKNOWN in explained(other, files | {"eval.py": LOADS + ENGINE})


def test_a_module_that_parses_for_others_is_no_program_of_its_folder(tmp_path: Path) -> None:
    parsing = "import argparse\nargs = argparse.ArgumentParser().parse_args()\n"
    files = {
        "src/conf/a.yaml": FILE,
        "src/conf/parser.py": parsing,
        "src/tasks/train.py": "from src.conf.parser import args\n" + PROGRAM,
    }
    (imported := tmp_path / "imported").mkdir()
    assert "read by src/tasks/train.py" in explained(imported, files)
    (alone := tmp_path / "alone").mkdir()
    assert "kind_dtype: float16 (src/conf/a.yaml:6); no" in explained(
        alone, files | {"src/tasks/train.py": PROGRAM}
    )


def test_of_very_many_programs_none_is_named_without_a_witness(tmp_path: Path) -> None:
    files = {"conf/a.yaml": FILE, "train.py": PROGRAM}
    unseen = PROGRAM.replace("open(sys.argv[1])", "open(pick(sys.argv))")
    tool = "import yaml\nmain(yaml.load(__main__))\n"
    others = {f"tool{number}.py": tool for number in range(40)}
    (beside := tmp_path / "beside").mkdir()
    assert UNKNOWN in explained(beside, files | {"train.py": unseen} | others)
    (alike := tmp_path / "alike").mkdir()
    named = {"conf/half.yaml": FILE, "half.py": PROGRAM}
    assert "read by half.py" in explained(alike, named | others)
    (elsewhere := tmp_path / "elsewhere").mkdir()
    inside = {f"half/{name}": text for name, text in files.items()}
    tools = {f"tools/{name}": text for name, text in others.items()}
    assert "read by half/train.py" in explained(elsewhere, inside | tools)


@pytest.mark.parametrize(
    ("folder", "is_record"),
    [("outputs/one", True), ("./outputs/one/", True), ("outputs/two", False), ("one", False)],
)
def test_a_file_in_the_folder_that_its_run_writes_to_is_a_record(
    folder: str, is_record: bool, tmp_path: Path
) -> None:
    text = f"{FILE}output_dir: {folder}\n"
    files = {"outputs/one/config.yaml": text, "train.py": LOADS + READS + ENGINE}
    out = explained(tmp_path, files)
    assert ("read by train.py" not in out) is is_record
    reason = "it is in the folder that it names for its output; no program is seen to read it"
    row = f"not understood: kind_dtype: float16 (outputs/one/config.yaml:6); {reason}"
    assert (row in out) is is_record


SUMMARY = (
    '{"epochs": 3, "lr": 0.1, "data": "d", "model": "m", "seed": 1, "kind_dtype": "float16", '
    '"best_val_loss": 4.3389959, "scale": 1.2345678}'
)
READ_BACK = f'{LOADS.replace("yaml.safe_", "json.")}print("conf/a.json")\n{READS}{ENGINE}'


def test_outcomes_that_a_program_writes_and_reads_back_are_a_record(tmp_path: Path) -> None:
    (reads := tmp_path / "reads").mkdir()
    files = {"conf/a.json": SUMMARY, "train.py": READ_BACK}
    assert "read by train.py" in explained(reads, files)
    (writes := tmp_path / "writes").mkdir()
    files["train.py"] += "json.dump(config, open(path))\n"
    assert "a.json" not in explained(writes, files)


MODULE = """\
import torch

def run(config):
    with torch.autocast("cuda", dtype=torch.{}, enabled=config.use_amp):
        pass
"""
STARTING = """\
import importlib

def main():
    importlib.import_module(f"apps.{config.app}.run").run(config)
"""


def test_places_in_modules_that_the_file_does_not_choose_are_not_reached(tmp_path: Path) -> None:
    files = {
        "train.py": LOADS + READS + STARTING + ENGINE,
        "apps/big/run.py": MODULE.format("float16"),
        "apps/small/run.py": MODULE.format("bfloat16"),
        "a.yaml": KEYS + "app: small\nuse_amp: true\n",
    }
    out = explained(tmp_path, files)
    assert "bfloat16 (autocast, apps/small/run.py:4)" in out
    assert "apps/big" not in out


TRAINS = """\
import argparse
import yaml
from tool import clean
from {library} import {kind}

def options():
    first = argparse.ArgumentParser()
    first.add_argument("--config")
    given = yaml.safe_load(open(first.parse_args().config))
    for key in ("data",):
        given[key] = Path(given[key])
    parser = argparse.ArgumentParser()
    parser.set_defaults(**clean(given))
    return parser.parse_args()

def main():
    args = options()
    print(args.data, args.model, args.seed, args.learning_rate, args.save_steps)
    print(args.lr_scheduler_type, args.num_train_epochs)
    {kind}(bf16=args.bf16)

if __name__ == "__main__":
    main()
"""
TRAINED = (
    "data: d\nmodel: m\nseed: 1\nlearning_rate: 0.1\nnum_train_epochs: 1\nsave_steps: 1\n"
    "lr_scheduler_type: cosine\nbf16: true\n"
)


@pytest.mark.parametrize(
    ("library", "kind", "framework"),
    [
        ("trl", "SFTConfig", "a.yaml: TRL, by its keys"),
        ("transformers", "TrainingArguments", "a.yaml: Hugging Face Trainer, by its keys"),
    ],
)
def test_a_file_with_the_keys_of_a_trainer_is_for_what_its_program_calls(
    library: str, kind: str, framework: str, tmp_path: Path
) -> None:
    program = TRAINS.format(library=library, kind=kind)
    assert framework in explained(tmp_path, {"a.yaml": TRAINED, "train.py": program})


def test_a_program_of_its_own_refutes_the_trainer_of_another_one(tmp_path: Path) -> None:
    own = TRAINS.format(library="tool", kind="Engine")
    other = "from transformers import TrainingArguments\nTrainingArguments(output_dir='x')\n"
    out = explained(tmp_path, {"a.yaml": TRAINED, "train.py": own, "other.py": other})
    assert "a.yaml: Hugging Face Trainer" not in out
    assert "(argument of Engine(bf16=), train.py" in out


SMALL = "kind_dtype: float16\n"
MANY = """\
import sys
import yaml

DEFAULT = "conf/a.yaml"
config = yaml.safe_load(open(DEFAULT))
print(config["other"], config["another"], config["third"], config["fourth"], config["fifth"])
Engine(dtype=config["kind_dtype"])
if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("text", [SMALL, "stages:\n- name: one\n  kind_dtype: float16\n"])
def test_a_program_that_names_a_small_file_and_reads_its_precision(
    text: str, tmp_path: Path
) -> None:
    (own := tmp_path / "own").mkdir()
    assert "read by train.py" in explained(own, {"conf/a.yaml": text, "train.py": MANY})
    for number, change in enumerate([('"conf/a', '"conf/b'), ("kind_dtype", "kind_type")]):
        (other := tmp_path / str(number)).mkdir()
        files = {"conf/a.yaml": text, "train.py": MANY.replace(*change)}
        assert "read by train.py" not in explained(other, files)


LIBRARY_OF_ALL = (
    "import yaml\n" + READS + "def build(config):\n    Engine(dtype=config.kind_dtype)\n"
)
USES_ALL = (
    "import sys\nfrom everything import build\n"
    + LOADS
    + "print({})\n"
    + ENGINE.replace("Engine(dtype=config.kind_dtype)\n", "")
)


@pytest.mark.parametrize("name", ["preprocess", "convert_weights", "llama_preprocess", "download"])
def test_a_program_for_data_imports_what_mentions_the_keys(name: str, tmp_path: Path) -> None:
    files = {
        "everything.py": LIBRARY_OF_ALL,
        f"{name}.py": USES_ALL.format("config.other"),
        "run.py": USES_ALL.format("config.other"),
        "a.yaml": FILE,
    }
    assert f"{name}.py" not in explained(tmp_path, files)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("preprocess", "config.kind_dtype"),
        ("preprocessor", "config.other"),
        ("train", "config.other"),
        ("reconvert", "config.other"),
    ],
)
def test_programs_that_are_not_only_for_data(name: str, line: str, tmp_path: Path) -> None:
    files = {
        "everything.py": LIBRARY_OF_ALL,
        f"{name}.py": USES_ALL.format(line),
        "a.yaml": FILE,
    }
    out = explained(tmp_path, files)
    assert f"read by {name}.py" in out or "(argument of Engine(dtype=)" in out


COMPOSING = (
    'import hydra\n@hydra.main(config_path="conf", config_name="{}")\ndef main(config):\n    '
    + READS
    + "    Engine(dtype=config.kind_dtype)\nif __name__ == '__main__':\n    main()\n"
)


@pytest.mark.parametrize(
    ("programs", "name", "reader"),
    [
        (("train_agent", "eval_agent"), "a", "train_agent"),
        (("train_agent", "eval_agent"), "a_eval", "eval_agent"),
        (("train_agent", "show"), "a", "train_agent"),
        (("show",), "a", "show"),
    ],
)
def test_the_program_that_trains_composes_the_folder(
    programs: tuple[str, ...], name: str, reader: str, tmp_path: Path
) -> None:
    files = {f"{program}.py": COMPOSING.format("base") for program in programs}
    out = explained(tmp_path, files | {f"conf/{name}.yaml": FILE, "conf/base.yaml": "lr: 1\n"})
    assert f"read by {reader}.py" in out or f"{reader}.py:" in out


@pytest.mark.parametrize(
    ("programs", "name"),
    [
        (("train_one", "train_two"), "a"),
        (("show", "play"), "a"),
        (("train_one", "train_two"), "a_eval"),
        (("eval_one", "eval_two"), "a"),
    ],
)
def test_none_of_several_programs_that_compose_the_folder(
    programs: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    files = {f"{program}.py": COMPOSING.format("base") for program in programs}
    out = explained(tmp_path, files | {f"conf/{name}.yaml": FILE, "conf/base.yaml": "lr: 1\n"})
    assert "read by" not in out


VIEW = ALL + READS.replace("print", LOADS + "print", 1) + ENGINE
GIVEN = "python fit.py --config conf/a.yaml\n"
SHOWN = "python view.py --config out/a/settings.yaml\n"


@pytest.mark.parametrize(
    ("commands", "is_read"),
    [
        (GIVEN + SHOWN, False),
        (GIVEN, True),
        (SHOWN, True),
        (GIVEN + SHOWN + "python view.py --config conf/c.yaml\n", True),
        (GIVEN + "python view.py --name a\n", True),
    ],
)
def test_a_program_that_gets_what_another_one_has_written(
    commands: str, is_read: bool, tmp_path: Path
) -> None:
    files = {
        "conf/a.yaml": "name: a\n",
        "conf/b.yaml": FILE,
        "conf/c.yaml": "name: c\n",
        "view.py": VIEW,
        "fit.py": "import sys\nif __name__ == '__main__':\n    main(sys.argv)\n",
        "run.sh": commands,
    }
    assert ("read by view.py" in explained(tmp_path, files)) is is_read


PARSES = """\
import torch
import argparse
import yaml

def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    config = yaml.safe_load(open(parser.parse_args().config))
    print(config["epochs"], config["lr"], config["data"], config["model"], config["seed"])
    print(config["kind_dtype"])
    return config

config = parse()
"""
USES = """\
import torch
from {} import config
from tool import Engine

{}
    Engine(dtype=config["kind_dtype"])
"""


@pytest.mark.parametrize(
    ("module", "start", "reader"),
    [
        ("options", "if __name__ == '__main__':", "main.py"),
        ("elsewhere", "if __name__ == '__main__':", "options.py"),
        ("options", "def start():", "options.py"),
    ],
)
def test_what_parses_the_command_line_for_a_program_is_a_part_of_it(
    module: str, start: str, reader: str, tmp_path: Path
) -> None:
    files = {"conf/a.yaml": FILE, "options.py": PARSES, "main.py": USES.format(module, start)}
    out = explained(tmp_path, files)
    is_main = "(argument of Engine(dtype=), main.py" in out
    assert is_main is (reader == "main.py")


TAUGHT = """\
from alignment import H4ArgumentParser, ModelArguments, {kind}
from transformers import AutoModel

def main():
    parser = H4ArgumentParser((ModelArguments, {kind}))
    first, second = parser.parse()
    {code}

if __name__ == "__main__":
    main()
"""


def test_a_program_that_is_named_like_the_file_beside_is_for_that_one(tmp_path: Path) -> None:
    recipe = TRAINED + "torch_dtype: bfloat16\n"
    load = 'AutoModel.from_pretrained("m", torch_dtype=first.torch_dtype)'
    files = {
        "run_sft.py": TAUGHT.format(kind="SFTConfig", code=load),
        "run_dpo.py": TAUGHT.format(kind="DPOConfig", code="print(first.torch_dtype)"),
        "recipes/config_sft.yaml": recipe,
        "recipes/config_dpo.yaml": recipe,
        "run.sh": "python run_dpo.py recipes/config_dpo.yaml\n",
    }
    out = explained(tmp_path, files)
    assert "recipes/config_sft.yaml: PyTorch, perhaps read by run_sft.py" in out
    assert "(weights of AutoModel, run_sft.py:7)" in out.replace(
        "(weights, ", "(weights of AutoModel, "
    )
    assert "torch_dtype: bfloat16 (recipes/config_dpo.yaml:9); read in run_dpo.py, line 7" in out


def test_the_default_file_of_a_program_is_shown_beside_files_that_it_may_open(
    tmp_path: Path,
) -> None:
    code = """\
import argparse
import yaml
from accelerate import Accelerator

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="configs/first.yaml")
    args = parser.parse_args()
    with open(args.config) as file:
        config = yaml.safe_load(file)
    Accelerator(mixed_precision=config["mixed_precision"], cpu=config["cpu"])
    print(config["model"], config["steps"], config["rate"])

if __name__ == "__main__":
    main()
"""
    settings = "model: m\nsteps: 1\nrate: 0.1\ncpu: false\nmixed_precision: bf16\n"
    names = ("configs/first.yaml", "configs/second.yaml")
    files = {"train.py": code, **dict.fromkeys(names, settings)}
    out = explained(tmp_path, files, "--output-format", "json")
    for name in names:
        assert f"/{name}" in out


OPENED = "trainer:\n  kind_dtype: bfloat16\n  lr: 0.1\n"
OPENING = """\
import yaml

def settings():
    return yaml.safe_load(open("configs/a.yaml"))

def others():
    return yaml.safe_load(open("configs/b.yaml"))
"""
NAMING = """\
import yaml
config = yaml.safe_load(open("configs/a.yaml"))
print(config["trainer"]["lr"], config["model"])
if __name__ == "__main__":
    pass
"""
CALLING = """\
import tool
import utils

def main():
    config = {}
    tool.Engine(dtype=config["trainer"]["kind_dtype"])

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("call", "changed", "is_read"),
    [
        ("utils.settings()", {}, True),
        ("tool.same(utils.settings())", {}, True),
        ("utils.others()", {}, False),
        ("tool.load()", {}, False),
        ("utils.settings", {}, False),
        ("utils.settings()", {"utils.py": OPENING.replace("configs/a", "configs/c")}, False),
    ],
)
def test_a_program_that_calls_what_opens_a_file(
    call: str, changed: dict[str, str], is_read: bool, tmp_path: Path
) -> None:
    files = {"configs/a.yaml": OPENED, "look.py": NAMING, "utils.py": OPENING}
    files |= {"train.py": CALLING.format(call)} | changed
    out = explained(tmp_path, files)
    assert ("read by train.py" in out) is is_read
    assert ("(argument of Engine(dtype=), train.py:6)" in out) is is_read


NAMED = 'with open("config.yaml") as stream:\n    config = yaml.safe_load(stream)\n'


@pytest.mark.parametrize(
    "loads",
    [
        'config = yaml.safe_load(open("config.yaml", "r"))\n',
        'config = yaml.safe_load(open("config.yaml").read())\n',
        'NAME = "config.yaml"\nconfig = yaml.safe_load(open(NAME))\n',
        'config = OmegaConf.load("config.yaml")\n',
        NAMED,
    ],
)
def test_a_copy_of_the_file_that_a_program_opens_is_read_by_none(
    loads: str, tmp_path: Path
) -> None:
    words = (
        "import argparse, yaml\n"
        "from omegaconf import OmegaConf\n"
        "argparse.ArgumentParser().parse_args()\n"
    )
    text = MORE + FILE
    files = {
        "config.yaml": text,
        "runs/a/config.yaml": text,
        "train.py": words + loads + ALL + READS + ENGINE,
    }
    out = explained(tmp_path, files)
    assert "config.yaml: PyTorch, read by train.py" in out
    assert "(runs/a/config.yaml:18); no program is seen to read the file" in out
    assert "the same for" not in out


@pytest.mark.parametrize(
    "loads",
    [
        LOADS,
        'config = yaml.safe_load(open(sys.argv[1] if sys.argv[1:] else "config.yaml"))\n',
        f"{NAMED}config.update(yaml.safe_load(open(sys.argv[1])))\n",
        f"{NAMED}config.update(load_config(sys.argv[1]))\n",
        f"from pydantic_settings import BaseSettings\nprint(sys.argv)\n{NAMED}",
        'config = yaml.safe_load(open(os.path.join(sys.argv[1], "config.yaml")))\n',
    ],
)
def test_a_program_that_may_open_the_copy_may_read_it(loads: str, tmp_path: Path) -> None:
    text = MORE + FILE
    files = {"config.yaml": text, "runs/a/config.yaml": text}
    files["train.py"] = (
        f"import os, sys, yaml\nfrom tools import load_config\n{loads}{ALL}{READS}{ENGINE}"
    )
    out = explained(tmp_path, files)
    assert "no program is seen to read the file" not in out
