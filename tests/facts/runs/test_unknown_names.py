"""Which programs get a file by a word that says only a part of its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

KEYS = "epochs: 3\nlr: 0.1\ndata: d\nmodel: m\nseed: 1\n"
LOADER = """\
import sys
import yaml

def read_settings():
    return yaml.safe_load(open(sys.argv[1]))
"""
PROGRAM = """\
import torch
from shared.loader import read_settings

def main():
    config = read_settings()
    print(config["epochs"], config["lr"], config["data"], config["model"], config["seed"])
    with torch.autocast("cuda", dtype=torch.float16, enabled=config["fp16"]):
        train()

if __name__ == "__main__":
    main()
"""
SCRIPT = """\
kind=$1
if [[ $kind != {kind} ]]; then exit 1; fi
settings=./conf/{start}_${{kind}}.yaml
torchrun --nproc_per_node=8 jobs/{program}.py ${{settings}} output=$2
"""
FILES = {
    "shared/loader.py": LOADER,
    "jobs/answer.py": PROGRAM,
    "jobs/find.py": PROGRAM,
    "jobs/first.py": PROGRAM,
    "conf/plain.yaml": KEYS + "fp16: false\n",
    "run/first.sh": "python jobs/first.py conf/plain.yaml\n",
}
OTHERS = {"jobs/answer.py", "jobs/find.py"}
ON = KEYS + "fp16: true\n"


def scripts(**programs: tuple[str, str]) -> dict[str, str]:
    return {
        f"run/{program}.sh": SCRIPT.format(program=program, start=start, kind=kind)
        for program, (start, kind) in programs.items()
    }


@pytest.mark.parametrize(("start", "program"), [("ab", "answer"), ("find", "find")])
def test_a_script_of_another_folder_gives_the_files_of_a_kind(
    start: str, program: str, tmp_path: Path
) -> None:
    given = scripts(answer=("ab", "birds"), find=("find", "birds"))
    out = explained(tmp_path, FILES | given | {f"conf/{start}_birds.yaml": ON})
    assert f"conf/{start}_birds.yaml: PyTorch, read by jobs/{program}.py" in out


@pytest.mark.parametrize(
    ("kind", "program"), [("birds", "find"), ("birds_few", "answer"), ("birds_all", "find")]
)
def test_of_several_scripts_that_one_which_says_the_rest_of_the_name(
    kind: str, program: str, tmp_path: Path
) -> None:
    given = scripts(answer=("find", "birds_few"), find=("find", "birds"))
    given["run/answer.sh"] += "# as for birds\n"
    given["run/find.sh"] += "ls birds_all\n"
    out = explained(tmp_path, FILES | given | {f"conf/find_{kind}.yaml": ON})
    assert f"conf/find_{kind}.yaml: PyTorch, read by jobs/{program}.py" in out


@pytest.mark.parametrize(
    "word",
    [
        "conf/${kind}.yaml",  # any file
        "conf/a${kind}.yaml",
        "other/find_${kind}.yaml",
        "conf/find_${kind}.json",
        "conf/seek_${kind}.yaml",
        "find_${kind}/birds.yaml",
    ],
)
def test_other_names(word: str, tmp_path: Path) -> None:
    script = f"kind=$1\npython jobs/find.py {word}\n"
    files = FILES | {"conf/find_birds.yaml": ON, "run/find.sh": script}
    assert "read by jobs/find.py" not in explained(tmp_path, files)


@pytest.mark.parametrize(
    ("name", "said"),
    [("plain_more", "read by jobs/first.py"), ("birds", "perhaps read by jobs/first.py")],
)
def test_the_program_of_a_file_beside_it_that_is_named_alike(
    name: str, said: str, tmp_path: Path
) -> None:
    out = explained(tmp_path, FILES | {f"conf/{name}.yaml": ON})
    assert f"conf/{name}.yaml: PyTorch, {said}" in out


def test_the_program_of_a_file_beside_it_where_it_is_the_only_one(tmp_path: Path) -> None:
    files = {path: text for path, text in FILES.items() if path not in OTHERS}
    out = explained(tmp_path, files | {"conf/birds.yaml": ON})
    assert "conf/birds.yaml: PyTorch, read by jobs/first.py" in out


OPENS = PROGRAM.replace(
    "read_settings()",
    "yaml.safe_load(open(parser.parse_args().settings))",
).replace(
    "def main():",
    "import argparse, yaml\nparser = argparse.ArgumentParser()\n"
    'parser.add_argument("--settings", default="conf/plain.yaml")\n\ndef main():',
)


@pytest.mark.parametrize(
    ("others", "script", "said"),
    [
        (("find",), "", "perhaps read by jobs/first.py"),
        (("find",), "python jobs/first.py --settings conf/plain.yaml\n", "read by jobs/first.py"),
        ((), "", "read by jobs/first.py"),
    ],
)
def test_the_program_that_opens_a_file_beside_it_by_default(
    others: tuple[str, ...], script: str, said: str, tmp_path: Path
) -> None:
    files = FILES | {"jobs/first.py": OPENS, "conf/plain_more.yaml": ON, "run/first.sh": script}
    files = {path: text for path, text in files.items() if path not in OTHERS}
    files |= {f"jobs/{name}.py": PROGRAM for name in others}
    assert f"conf/plain_more.yaml: PyTorch, {said}" in explained(tmp_path, files)
