"""`explain-config`: who reads a file, what comes out of it, and where each value comes from."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import CONFIG, project, run

DEEPSPEED = """\
{
  "zero_optimization": {"stage": 2},
  "bf16": {"enabled": true}
}
"""
LAUNCH = """\
torchrun src/train.py \\
  --output_dir out --do_train --per_device_train_batch_size 2 \\
  --fp16 False --fp16 True \\
  --deepspeed conf/ds.json
"""
RUN = {"run.sh": LAUNCH, "conf/ds.json": DEEPSPEED, "src/train.py": "import transformers\n"}


def explained(*arguments: str, cwd: Path) -> list[dict[str, Any]]:
    ran = run("explain-config", "--output-format", "json", *arguments, cwd=cwd)
    assert (ran.code, ran.err) == (0, "")
    found: list[dict[str, Any]] = json.loads(ran.out)
    return found


def setting(of: dict[str, Any], key: str) -> dict[str, Any]:
    (found,) = [one for one in of["settings"] if one["key"] == key]
    return dict(found)


BY_KEYS = ", by its keys: no program is seen to give them to it"


def test_a_file_by_itself(tmp_path: Path) -> None:
    ran = run("explain-config", "a.yaml", cwd=project(tmp_path, {"a.yaml": CONFIG}))
    assert (ran.code, ran.err) == (0, "")
    head, *rows = ran.out.splitlines()
    assert head == f"a.yaml: Hugging Face Trainer{BY_KEYS}"
    assert "  compute  bf16 = true  a.yaml:5" in rows
    assert "           fp16 = true  a.yaml:4" in rows
    defaults = next(row for row in rows if row.startswith("  default of Hugging Face Trainer:"))
    assert "bf16_full_eval = false" in defaults
    assert rows[-1].startswith("  error MP702 a.yaml:5:1: ")


def test_json_says_whether_only_the_keys_show_who_reads_a_file(tmp_path: Path) -> None:
    found = explained(cwd=project(tmp_path, {"a.yaml": CONFIG, **RUN}))
    by_keys = {Path(str(one["filename"])).name: one["by_keys"] for one in found}
    assert by_keys == {"a.yaml": True, "run.sh": False}


def test_a_run_of_several_files(tmp_path: Path) -> None:
    ran = run("explain-config", cwd=project(tmp_path, RUN))
    assert (ran.code, ran.err) == (0, "")
    rows = ran.out.splitlines()
    assert rows[0] == "run.sh:1: Hugging Face Trainer, started as src/train.py"
    assert "  compute  fp16 = true  run.sh:3" in rows
    assert rows[rows.index("  compute  fp16 = true  run.sh:3") + 1].split() == [
        "overrides", "run.sh:3", "--fp16", "False"
    ]  # fmt: skip
    assert "  deepspeed: conf/ds.json: DeepSpeed" in rows
    assert any(row.split()[:4] == ["compute", "bf16.enabled", "=", "true"] for row in rows)
    assert any(row.startswith("  error MP703 conf/ds.json:3:") for row in rows)
    assert not any(row.startswith("conf/ds.json") for row in rows), "it is part of the run"


def test_the_run_is_the_same_from_each_of_its_files(tmp_path: Path) -> None:
    project(tmp_path, RUN)
    whole = run("explain-config", cwd=tmp_path)
    assert whole.out
    for name in ("run.sh", "conf/ds.json", "conf"):
        assert run("explain-config", name, cwd=tmp_path) == whole


def test_paths_are_shown_from_where_one_is(tmp_path: Path) -> None:
    project(tmp_path, RUN)
    assert (
        "deepspeed: ds.json: DeepSpeed"
        in run("explain-config", "ds.json", cwd=tmp_path / "conf").out
    )


def test_json(tmp_path: Path) -> None:
    (found,) = explained("run.sh", cwd=project(tmp_path, RUN))
    assert found["framework"] == "hf_trainer"
    assert found["name"] == "Hugging Face Trainer"
    assert found["program"] == "src/train.py"
    assert found["filename"] == str(tmp_path / "run.sh")
    assert found["location"] == {"row": 1, "column": 1}

    fp16 = setting(found, "fp16")
    assert (fp16["role"], fp16["status"], fp16["value"]) == ("compute", "set", True)
    assert fp16["written"]["text"] == "--fp16 True"
    assert fp16["written"]["location"] == {"row": 3, "column": 16}
    assert [one["text"] for one in fp16["overrides"]] == ["--fp16 False"]
    bf16 = setting(found, "bf16")
    assert (bf16["status"], bf16["value"], bf16["written"]) == ("default", False, None)
    assert setting(found, "tf32")["status"] == "unset"

    (linked,) = found["links"]
    assert (linked["link"], linked["framework"]) == ("deepspeed", "deepspeed")
    assert linked["filename"] == str(tmp_path / "conf/ds.json")
    assert setting(linked, "bf16.enabled")["value"] is True

    codes = {finding["code"]: finding for finding in found["findings"]}
    assert codes["MP703"]["filename"] == str(tmp_path / "conf/ds.json")
    assert codes["MP703"]["location"]["row"] == 3
    assert "mismatch TrainingArguments values" in codes["MP703"]["why"]


def test_an_old_name_that_is_not_read_says_what_is(tmp_path: Path) -> None:
    files = {**RUN, "conf/ds.json": DEEPSPEED.replace("bf16", "bfloat16")}
    (found,) = explained("run.sh", cwd=project(tmp_path, files))
    (linked,) = found["links"]
    old = setting(linked, "bfloat16.enabled")
    assert (old["status"], old["value"]) == ("ignored", True)
    assert setting(linked, "bf16.enabled")["status"] == "unset"
    assert setting(linked, "fp16.enabled")["status"] == "unset"
    assert not found["findings"] or found["findings"][0]["code"] != "MP703"
    shown = run("explain-config", "run.sh", cwd=tmp_path).out
    assert "bfloat16.enabled = true, not read: bf16.enabled is set  conf/ds.json:3" in shown


def test_without_a_trainer_the_old_name_is_read(tmp_path: Path) -> None:
    code = "import deepspeed\n\ndeepspeed.initialize(model=None, config='ds.json')\n"
    files = {"ds.json": DEEPSPEED.replace("bf16", "bfloat16"), "train.py": code}
    found = explained("ds.json", cwd=project(tmp_path, files))
    assert setting(found[0], "bf16.enabled")["value"] is True
    assert setting(found[0], "fp16.enabled")["status"] == "default"


def test_what_is_unknown_says_why(tmp_path: Path) -> None:
    launch = LAUNCH.replace("--fp16 False --fp16 True", '--fp16 "$HALF" --bf16_full_eval')
    launch = launch.replace("conf/ds.json", "conf/gone.json")
    project(tmp_path, {**RUN, "run.sh": launch, "a.yaml": CONFIG.replace("true", "null", 1)})
    found = {Path(one["filename"]).name: one for one in explained("run.sh", "a.yaml", cwd=tmp_path)}
    assert setting(found["run.sh"], "fp16")["status"] == "unknown"
    assert setting(found["run.sh"], "fp16")["value"] is None
    assert found["run.sh"]["lost"][0]["reference"] == "conf/gone.json"
    assert setting(found["a.yaml"], "fp16")["status"] == "null"
    shown = run("explain-config", "run.sh", cwd=tmp_path).out
    assert 'fp16 = unknown until run time  run.sh:3  --fp16 "$HALF"' in shown
    assert "deepspeed: conf/gone.json is not found, run.sh:4" in shown


def test_what_nobody_is_seen_to_set_is_no_default(tmp_path: Path) -> None:
    launch = LAUNCH.replace("--fp16 False --fp16 True", "$FURTHER")
    (found,) = explained("run.sh", cwd=project(tmp_path, {**RUN, "run.sh": launch}))
    assert setting(found, "bf16")["status"] == "open"
    assert setting(found, "bf16")["value"] is None


def test_duplicates_and_merged_mappings_are_overridden(tmp_path: Path) -> None:
    text = "base: &base\n  bf16: false\ntrain:\n  <<: *base\n  bf16: false\n  bf16: true\n"
    text += "".join(f"  {line}\n" for line in CONFIG.splitlines()[:3])
    (found,) = explained("a.yaml", cwd=project(tmp_path, {"a.yaml": text}))
    bf16 = setting(found, "bf16")
    assert (bf16["value"], bf16["written"]["location"]["row"]) == (True, 6)
    assert [one["location"]["row"] for one in bf16["overrides"]] == [5, 2]


def test_the_version_that_is_pinned_is_shown(tmp_path: Path) -> None:
    project(tmp_path, {"a.yaml": CONFIG, "requirements.txt": "transformers==4.44.2\n"})
    out = run("explain-config", "a.yaml", cwd=tmp_path).out
    assert out.startswith(f"a.yaml: Hugging Face Trainer (transformers 4.44.2){BY_KEYS}\n")
    target = ("--target", "transformers=4.56")
    out = run("explain-config", *target, "a.yaml", cwd=tmp_path).out
    assert out.startswith(f"a.yaml: Hugging Face Trainer (transformers 4.56){BY_KEYS}\n")


def test_the_gpu_of_a_run_is_shown(tmp_path: Path) -> None:
    launch = "#SBATCH --gres=gpu:t4:1\naccelerate launch --mixed_precision bf16 train.py\n"
    project(tmp_path, {"train.sh": launch})
    out = run("explain-config", "train.sh", cwd=tmp_path).out
    assert "  gpu: train.sh:1: the GPU\n" in out
    assert "name = NVIDIA T4" in out
    assert "MP708 train.sh:2:19" in out
    assert "MP708" not in run("explain-config", "--target-gpu", "A100", cwd=tmp_path).out


def test_what_sets_no_precision_is_shown_if_it_is_named(tmp_path: Path) -> None:
    silent = "".join(line for line in CONFIG.splitlines(keepends=True) if "16" not in line)
    project(tmp_path, {"a.yaml": CONFIG, "b.yaml": silent})
    ran = run("explain-config", cwd=tmp_path)
    assert "b.yaml" not in ran.out
    assert ran.err.startswith("note: 1 run is not shown, without any")
    ran = run("explain-config", "b.yaml", cwd=tmp_path)
    assert ran.err == ""
    assert ran.out.splitlines()[:2] == [
        f"b.yaml: Hugging Face Trainer{BY_KEYS}",
        "  no precision setting that Hugging Face Trainer reads",
    ]


def test_what_nobody_reads_is_a_note(tmp_path: Path) -> None:
    project(tmp_path, {"a.yaml": "port: 1\nhost: x\n", "run.sh": "python serve.py --port 1\n"})
    ran = run("explain-config", "a.yaml", "run.sh", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "")
    assert "a.yaml: no supported framework reads it: its keys are `port`, `host`" in ran.err
    assert "run.sh: no supported framework reads it: it starts `serve.py`" in ran.err
    assert "DeepSpeed, " in ran.err
    ran = run("explain-config", "--output-format", "json", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "[]\n")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.yaml", "a: [\n", "a.yaml:2:1: cannot be parsed: "),
        ("a.py", "def f(:\n", "a.py:1:"),
        ("a.yaml", "a: {{ cookiecutter.name }}: b\n", "a.yaml:1:"),
        ("a.toml", "a = 'ÿ'", "cannot be read"),
        ("gone", None, "gone: no such file or folder"),
    ],
)
def test_what_cannot_be_explained(
    name: str, content: str | None, message: str, tmp_path: Path
) -> None:
    project(tmp_path, {"b.yaml": CONFIG})
    if content is not None:
        (tmp_path / name).write_bytes(content.encode("latin-1"))
    ran = run("explain-config", name, "b.yaml", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert "Traceback" not in ran.err
    if content is not None:  # in a folder it is one file of many
        ran = run("explain-config", cwd=tmp_path)
        assert ran.code == 0
        assert ran.out.startswith("b.yaml: ")


def test_what_can_be_read_of_a_broken_file_is_explained(tmp_path: Path) -> None:
    project(tmp_path, {"ds.json": DEEPSPEED.rstrip().removesuffix("}")})
    ran = run("explain-config", "ds.json", cwd=tmp_path)
    assert ran.code == 0
    assert "bf16.enabled = true" in ran.out
    assert "ds.json:3:28: cannot be parsed: " in ran.err
    assert "only the readable part is explained" in ran.err


def test_the_order_does_not_depend_on_that_of_the_paths(tmp_path: Path) -> None:
    project(tmp_path, {"a.yaml": CONFIG, "sub/b.yaml": CONFIG, **RUN})
    whole = run("explain-config", cwd=tmp_path)
    heads = [row for row in whole.out.splitlines() if row and not row.startswith(" ")]
    assert [head.partition(":")[0] for head in heads] == ["a.yaml", "run.sh"]
    assert "  the same for 1 more run: sub/b.yaml" in whole.out.splitlines()
    named = ("sub/b.yaml", "run.sh", "a.yaml", "conf")
    assert run("explain-config", *named, cwd=tmp_path) == whole


def test_nothing_hidden_reaches_a_terminal(tmp_path: Path) -> None:
    text = CONFIG.replace("bf16: true", 'bf16: "\\e]0;x\\a"')
    out = run("explain-config", "a.yaml", cwd=project(tmp_path, {"a.yaml": text})).out
    assert "bf16 = " in out
    assert not {"\x1b", "\x07"} & set(out)


README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
SHOWN = {
    "run.sh": """\
export OUT=runs/sft
torchrun --nproc_per_node 8 train.py \\
  --model_name_or_path Qwen/Qwen2.5-7B --output_dir "$OUT" --do_train \\
  --per_device_train_batch_size 4 --learning_rate 1e-5 \\
  --fp16 False --fp16 True --tf32 "$TF32" \\
  --deepspeed conf/zero2.json
""",
    "train.py": "import transformers\n",
    "conf/zero2.json": """\
{
  "zero_optimization": {"stage": 2},
  "bf16": {"enabled": true},
  "communication_data_type": "fp32"
}
""",
}


def test_the_readme_shows_what_is_printed(tmp_path: Path) -> None:
    shown = re.search(r"^<!-- explain-config -->\n```\n\$ (.+)\n((?:.*\n)*?)```$", README, re.M)
    assert shown is not None
    command, *arguments = shown[1].split()
    assert command == "precision-lint"
    assert run(*arguments, cwd=project(tmp_path, SHOWN)).out == shown[2]


def listed(rows: Iterable[str]) -> Iterator[str]:
    """What is not understood, without the reasons."""
    for row in rows:
        if row.startswith("  not understood: "):
            yield row.partition(": ")[2].partition("; ")[0]


OWN = "import argparse\n\nparser = argparse.ArgumentParser()\nargs = parser.parse_args()\n"


def test_what_is_not_understood_is_listed(tmp_path: Path) -> None:
    launch = "torchrun train.py --output_dir o --do_train --seed 1 \\\n  --mixed_precision bf16\n"
    project(tmp_path, {"run.sh": launch, "train.py": OWN, "a.yaml": "model:\n  dtype: float16\n"})
    assert run("explain-config", cwd=tmp_path).out.splitlines() == [
        "a.yaml: no framework is known to read it",
        "  not understood: dtype: float16 (a.yaml:2); no Python file of the project mentions it",
        "",
        "run.sh:1: no framework is known to read it, started as train.py",
        "  not understood: --mixed_precision bf16 (run.sh:2); "
        "no file that the program imports mentions it",
    ]
    found = explained(cwd=tmp_path)
    assert [(one["framework"], one["program"]) for one in found] == [
        (None, None), (None, "train.py")
    ]  # fmt: skip
    (unread,) = found[1]["not_understood"]
    assert unread["text"] == "--mixed_precision bf16"
    assert unread["reason"] == "no file that the program imports mentions it"


def test_why_a_setting_is_not_understood(tmp_path: Path) -> None:
    code = f"{OWN}print(args.kind_dtype, settings['compute_dtype'])\n"
    files = {
        "train.py": code,
        "run.sh": "python train.py --kind-dtype half --other_dtype half\npython gone.py --fp16\n"
        "OUR_DTYPE=half\nTHEIR_DTYPE=$1\n",
        "a.yaml": "compute_dtype: float16\nother_dtype: half\n",
    }
    rows = run("explain-config", cwd=project(tmp_path, files)).out.splitlines()
    assert [row.strip() for row in rows if "not understood" in row] == [
        "not understood: compute_dtype: float16 (a.yaml:1); "
        "no code of the project loads YAML files",
        "not understood: other_dtype: half (a.yaml:2); no Python file of the project mentions it",
        "not understood: --kind-dtype half (run.sh:1); read in train.py, line 5; "
        "what for is not seen",
        "not understood: --other_dtype half (run.sh:1); "
        "no file that the program imports mentions it",
        "not understood: --fp16 (run.sh:2); the program is not where the command looks for it",
    ]
    assert [row.strip() for row in rows if "not read" in row] == [
        "not read in the project: OUR_DTYPE=half (run.sh:3); "
        "nothing reads it: the script never uses the variable",
        "not read in the project: THEIR_DTYPE=$1 (run.sh:4); "
        "nothing reads it: the script never uses the variable",
    ]
    (tmp_path / "train.py").write_text(f"{OWN}print(args.other)  # no kind_dtype\n")
    rows = run("explain-config", "run.sh", cwd=tmp_path).out.splitlines()
    assert "  not understood: --kind-dtype half (run.sh:1); train.py is not seen to read it" in rows
    (tmp_path / "train.py").unlink()
    rows = run("explain-config", "a.yaml", cwd=tmp_path).out.splitlines()
    assert rows[-1].endswith("half (a.yaml:2); no program is seen to read the file")


def test_what_is_not_understood_beside_what_is(tmp_path: Path) -> None:
    launch = LAUNCH.replace("--do_train", "--do_train --vae_dtype bfloat16")
    ran = run("explain-config", cwd=project(tmp_path, {**RUN, "run.sh": launch}))
    assert "--vae_dtype bfloat16 (run.sh:2)" in listed(ran.out.splitlines())
    assert ran.out.count("not understood") == 1


def test_equal_runs_are_told_once(tmp_path: Path) -> None:
    scripts = {f"run{number}.sh": LAUNCH for number in range(8)}
    ran = run("explain-config", cwd=project(tmp_path, {**RUN, **scripts}))
    rows = ran.out.splitlines()
    assert rows[:2] == [
        "run.sh:1: Hugging Face Trainer, started as src/train.py",
        "  the same for 8 more runs: run0.sh:1, run1.sh:1, run2.sh:1, run3.sh:1, run4.sh:1, …",
    ]
    assert ran.out.count("Hugging Face Trainer, started") == 1


def test_markdown(tmp_path: Path) -> None:
    text = RUN["run.sh"].replace("--do_train", "--half_dtype 'a|b'")
    files = {**RUN, "run.sh": text, "other.sh": text, "loose.yaml": "dtype: auto\n"}
    out = run("explain-config", "--output-format", "markdown", cwd=project(tmp_path, files)).out
    head, *tables = out.split("### ")
    assert head == ""
    hugging_face = next(one for one in tables if one.startswith("other.sh:1: Hugging Face"))
    assert hugging_face.splitlines()[2:7] == [
        "The same for 1 more run: run.sh:1.",
        "",
        "| role | setting | written |",
        "|---|---|---|",
        "| compute | `fp16 = true` | `other.sh:3`; overrides `--fp16 False` (other.sh:3) |",
    ]
    assert "**deepspeed**: conf/ds.json: DeepSpeed\n" in hugging_face
    assert "- not understood: `--half_dtype 'a\\|b'` (other.sh:2)\n" in hugging_face
    assert tables[-1] == (
        "loose.yaml: no framework is known to read it\n\n"
        "- not understood: `dtype: auto` (loose.yaml:1)\n\n"
    )
    empty = run("explain-config", "--output-format", "markdown", "src", cwd=tmp_path)
    assert empty.out == "No run sets a precision.\n"


def test_what_changed_between_two_files(tmp_path: Path) -> None:
    changed = CONFIG.replace("fp16: true", "fp16: false")
    project(tmp_path, {"a.yaml": CONFIG, "b.yaml": changed})
    ran = run("explain-config", "--diff", "a.yaml", "b.yaml", cwd=tmp_path)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "b.yaml: Hugging Face Trainer",
        "  fp16: true -> false  (b.yaml:4)",
        "  - error MP702: `fp16` and `bf16` are both enabled",
    ]
    markdown = run(
        "explain-config", "--diff", "a.yaml", "b.yaml", "--output-format", "markdown", cwd=tmp_path
    )
    assert "| `fp16` | `true` | `false` |" in markdown.out
    same = run("explain-config", "--diff", "a.yaml", "a.yaml", cwd=tmp_path)
    assert same.out == "The precision of the runs is the same.\n"


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def test_what_changed_between_two_revisions(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    project(tmp_path, RUN)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    project(tmp_path, {"conf/ds.json": DEEPSPEED.replace("true", '"auto"'), "c.yaml": CONFIG})
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "two")
    ran = run("explain-config", "--diff", "HEAD~1", "HEAD", cwd=tmp_path)
    rows = ran.out.splitlines()
    assert "run.sh:1: Hugging Face Trainer, started as src/train.py" in rows
    assert "  deepspeed:bf16.enabled: true -> auto  (conf/ds.json:3)" in rows
    assert any(row.startswith("  - error MP703: ") for row in rows)
    assert "c.yaml: Hugging Face Trainer (new)" in rows
    back = run("explain-config", "--diff", "HEAD", "HEAD~1", cwd=tmp_path)
    assert "c.yaml: Hugging Face Trainer (gone)" in back.out.splitlines()
    found = explained("--diff", "HEAD~1", "HEAD", cwd=tmp_path)
    assert sorted(one["exists"]["before"] for one in found) == [False, True]
    wrong = run("explain-config", "--diff", "HEAD", "nowhere", cwd=tmp_path)
    assert wrong.code == 2
    assert "neither two files nor two revisions" in wrong.err


def test_what_others_do_not_report_is_not_shown(tmp_path: Path) -> None:
    text = "_component_: a.b.C\ndtype: fp32\nfull_bf16: true\n"
    recipe = "model:\n  _component_: torchtune.models.a\noptimizer:\n  _component_: b\n" + text
    project(tmp_path, {"recipe.yaml": recipe, "tests/recipe.yaml": recipe})
    told = run("explain-config", cwd=tmp_path).out
    reported = run("--select", "MP7", "--output-format", "concise", cwd=tmp_path).out
    assert "MP706 recipe.yaml" in told
    assert "MP706 tests/" not in told
    assert "tests/recipe.yaml" not in reported


def test_the_commands_of_a_document(tmp_path: Path) -> None:
    fence = "```bash\npython train.py --data <your data> --dtype {dtype} --port=<port>/x\n```\n"
    program = (
        "import argparse\nimport torch\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--data')\nparser.add_argument('--port')\n"
        "parser.add_argument('--dtype', choices=['fp16', 'bf16'])\nargs = parser.parse_args()\n"
        "dtypes = {'fp16': torch.float16, 'bf16': torch.bfloat16}\n"
        "with torch.autocast('cuda', dtype=dtypes[args.dtype]):\n    model(x)\n"
    )
    document = fence.format(dtype="bf16") + fence.format(dtype="half")
    project(tmp_path, {"README.md": document, "train.py": program})
    shown = run("explain-config", "--isolated", "README.md", cwd=tmp_path)
    assert "compute  bfloat16 (autocast, train.py:9)  README.md:2  --dtype bf16" in shown.out
    assert "error MP705 README.md:5" in shown.out
    for written in (
        "```\n# First\npython train.py --data x --dtype bf16\n```\n",
        "1. Train:\n   `python train.py --data x --dtype bf16`\n",
    ):
        project(tmp_path, {"PLAIN.md": written})
        plain = run("explain-config", "--isolated", "PLAIN.md", cwd=tmp_path)
        assert "compute  bfloat16 (autocast, train.py:9)  PLAIN.md:" in plain.out
    for written in (
        "```\nusage: python train.py --data x --dtype bf16\n```\n",
        "```text\npython train.py --data x --dtype bf16\n```\n",
        "`--dtype bf16` of `train.py`, or `python train.py`\n",
    ):
        project(tmp_path, {"PLAIN.md": written})
        plain = run("explain-config", "--isolated", "PLAIN.md", cwd=tmp_path)
        assert "bfloat16" not in plain.out
    checked = run(
        "--isolated", "--markdown", "--output-format", "concise", "README.md", cwd=tmp_path
    )
    assert "README.md:5:36: MP705 the program does not take `half`" in checked.out


READING = """\
import argparse
import yaml
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--config", default="")
with open(parser.parse_args().config) as file:
    config = yaml.safe_load(file)
print(config["lr"], config["model"], config["data"])
enabled = config["amp"] and not config["apex_amp"]
with torch.autocast("cuda", dtype=torch.bfloat16, enabled=enabled):
    pass
"""


def test_what_a_program_reads_besides_is_listed(tmp_path: Path) -> None:
    config = "amp: true\napex_amp: false\nlr: 1\nmodel: m\ndata: d\n"
    project(tmp_path, {"a.yaml": config, "train.py": READING})
    assert run("explain-config", cwd=tmp_path).out.splitlines() == [
        "a.yaml: PyTorch, read by train.py; no file of the project names it, "
        "only a run that is started by hand gets it",
        "  compute  bfloat16 (autocast, train.py:11)  a.yaml:2  apex_amp: false",
        "  also read: amp: true (a.yaml:1)",
    ]
    (found,) = explained(cwd=tmp_path)
    assert [one["text"] for one in found["also_read"]] == ["amp: true"]
    assert found["not_understood"] == []


LISTED = {
    "run.sh": """\
DTYPE=${1:-bf16}
PRECISION="fp16"
FLAGS=${FLAGS:---fp16 --fp16-init-scale 4}
MODEL=llama-fp16
ARGS=(--bf16 --seed 1)
$PY tool.py --bf16
echo --fp16
torchrun train.py --dtype $DTYPE "${ARGS[@]}"
accelerate launch --mixed_precision $PRECISION train.py
bash other.sh fp16
""",
    "train.py": "import argparse\n",
    "a.yaml": """\
model: {dtype: auto, torch_dtype: null}
amp: {enabled: "auto"}
dtypes: [bf16, fp32]
arguments: pretrained=a,dtype=float16
precision: ${trainer.precision}
columns: {dtype: string, precision: 0.9, precision_at: 5}
half_life: 3
dtype_file: half.json
""",
    "a.ipynb": '{"cells": [{"cell_type": "code", "source": ["!python train.py --use_amp\\n"], '
    '"metadata": {}, "outputs": []}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    "conf.json": '{"compute": {"precision": "auto"}}',
}


def test_whatever_is_about_precision_is_understood_or_listed(tmp_path: Path) -> None:
    rows = run("explain-config", cwd=project(tmp_path, LISTED)).out.splitlines()
    found = [*listed(rows)]
    assert sorted(found) == [
        '"precision": "auto" (conf.json:1)',
        "--bf16 (run.sh:5)",
        "--bf16 (run.sh:6)",
        "--dtype bf16 (run.sh:8, value from run.sh:1)",
        "--use_amp (a.ipynb:cell 1:1)",
        "FLAGS=${FLAGS:---fp16 --fp16-init-scale 4} (run.sh:3)",
        "arguments: pretrained=a,dtype=float16 (a.yaml:4)",
        "dtype: auto (a.yaml:1)",
        "dtypes: [bf16, fp32] (a.yaml:3)",
        'enabled: "auto" (a.yaml:2)',
        "fp16 (run.sh:10)",
        "precision: ${trainer.precision} (a.yaml:5)",
        "torch_dtype: null (a.yaml:1)",
    ]
    assert "  compute  mixed_precision = fp16  run.sh:9, value from run.sh:2" in rows
    named = [one for one in explained(cwd=tmp_path) if one["framework"] == "accelerate"]
    (written,) = [setting(one, "mixed_precision")["written"] for one in named]
    assert written["value_at"]["location"]["row"] == 2


def test_what_cannot_be_parsed_is_listed_line_by_line(tmp_path: Path) -> None:
    text = "model:\n\tdtype: float16  # half\n\tname: a\n\tuse_amp: true\n"
    ran = run("explain-config", cwd=project(tmp_path, {"a.yaml": text}))
    assert "a.yaml:2:1: cannot be parsed" in ran.err
    assert ran.out.splitlines() == [
        "a.yaml: no framework is known to read it",
        "  not understood: dtype: float16 (a.yaml:2); the file cannot be parsed",
        "  not understood: use_amp: true (a.yaml:4); the file cannot be parsed",
    ]


@pytest.mark.parametrize("asked", [(), ("a.ini",)])
def test_a_file_in_a_format_that_is_not_read_is_listed_line_by_line(
    asked: tuple[str, ...], tmp_path: Path
) -> None:
    text = "[train]\nfp16 = true\nlr = 1e-4\n"
    ran = run("explain-config", *asked, cwd=project(tmp_path, {"a.ini": text}))
    assert ran.out.splitlines() == [
        "a.ini: no framework is known to read it",
        "  not understood: fp16 = true (a.ini:2); the keys of `.ini` files are not read",
    ]
    assert ("a.ini: the keys of `.ini` files are not read" in ran.err) is bool(asked)


WRITTEN = """\
cat > "$CONFIG" <<EOF
lr: $LR
{{ placeholder }}
bf16: true
EOF
$PYTHON - <<'EOF'
model = load(path, torch_dtype="auto", device=device)
EOF
run_command bash -lc "'$PYTHON' a.py --dtype half"
"$RUNNER" "a.py --dtype bf16"
"$RUNNER" -c "
load(path, torch_dtype=torch.float16, device=device)"
"""


def test_what_a_script_writes_and_hands_on_is_listed(tmp_path: Path) -> None:
    project(tmp_path, {"a.sh": WRITTEN, "a.gin": "train.dtype = 'float32'\nmodel.size = 3\n"})
    rows = run("explain-config", cwd=tmp_path).out.splitlines()
    assert [*listed(rows)] == [
        "train.dtype = 'float32' (a.gin:1)",
        '"a.py --dtype bf16" (a.sh:10)',
        "torch_dtype=torch.float16 (a.sh:12)",
        "bf16: true (a.sh:4)",
        'torch_dtype="auto" (a.sh:7)',
        "--dtype half (a.sh:9)",
    ]
    assert run("check", cwd=tmp_path).out == "All checks passed!\n"


WRITING = """\
CONFIG=$(mktemp)
for precision in bf16 fp16; do
  cat > "$CONFIG" <<EOF
mixed_precision: $precision
EOF
  cat > conf_$precision.yaml <<EOF
mixed_precision: $precision
EOF
  python train.py --config conf_$precision.yaml
done
python train.py --config "$CONFIG"
cat > "$CONFIG.yaml" <<EOF
mixed_precision: fp8
EOF
python train.py --config "$CONFIG.yaml"
"""
OPENING = """\
import argparse

import yaml
from accelerate import Accelerator

parser = argparse.ArgumentParser()
parser.add_argument("--config")
args = parser.parse_args()
with open(args.config) as file:
    config = yaml.safe_load(file)
accelerator = Accelerator(mixed_precision=config["mixed_precision"])
"""


def test_files_that_a_script_writes_belong_to_its_runs(tmp_path: Path) -> None:
    project(tmp_path, {"a.sh": WRITING, "train.py": OPENING})
    rows = run("explain-config", "a.sh", cwd=tmp_path).out.splitlines()
    unknown = 'unknown until run time  train.py:11  mixed_precision=config["mixed_precision"]'
    assert [row for row in rows if "compute" in row or "a.sh:" in row] == [
        "a.sh:9: accelerate, started as train.py",
        "  compute  mixed_precision = bf16  a.sh:7",
        "a.sh:9: accelerate, started as train.py",
        "  compute  mixed_precision = fp16  a.sh:7",
        "a.sh:11: accelerate, started as train.py",
        f"  compute  mixed_precision = {unknown}",
        "a.sh:15: accelerate, started as train.py",
        "  compute  mixed_precision = fp8  a.sh:13",
        "a.sh:4: no framework is known to read it",
        "  not understood: mixed_precision: $precision (a.sh:4); "
        "no program is seen to read the file",
    ]


NO_PRECISION = {
    "distill.yaml": "kd_loss_scale: 0.5\naux_loss_scale: 1.0\nce_loss_scale: 3\n",
    "columns.json": '{"selected_dtypes": ["float32", "int64"], "column_dtype": "number"}',
    "out/result.json": '{"config": {"dtype": "bfloat16"}, "loss": 2.0391557, "ppl": 7.6841213}',
    "out/short.json": '{"dtype": "half", "eval_loss": 2.1, "elapsed_seconds": 3, "accuracy": 0.9}',
    "out/env.json": '{"dtype": "half", "git_commit": "ab12", "hostname": "a", "gpu_name": "T4"}',
}
PRECISION = {
    "scaled.yaml": "static_loss_scale: 1024.0\nmin_loss_scale: 1\nloss_scale: 1000\n",
    "used.json": '{"dtype": "bfloat16", "loss": 2.0391557, "ppl": 7.6841213}',
    "conf.json": '{"dtype": "bfloat16", "mean": [0.48145466, 0.4578275], "scale": 0.18215}',
    "read.py": 'import json\nuse(json.load(open("used.json")))\n',
    "limits.json": '{"dtype": "half", "max_loss": 2, "timeout_seconds": 3, "target_accuracy": 0.9}',
}


def test_what_is_no_precision_is_not_listed(tmp_path: Path) -> None:
    rows = run("explain-config", cwd=project(tmp_path, NO_PRECISION | PRECISION)).out.splitlines()
    assert [*listed(rows)] == [
        '"dtype": "bfloat16" (conf.json:1)',
        '"dtype": "half" (limits.json:1)',
        "static_loss_scale: 1024.0 (scaled.yaml:1)",
        "min_loss_scale: 1 (scaled.yaml:2)",
        "loss_scale: 1000 (scaled.yaml:3)",
        '"dtype": "bfloat16" (used.json:1)',
    ]


def test_a_script_is_started_by_others_with_words(tmp_path: Path) -> None:
    launch = 'accelerate launch --mixed_precision "${2:-no}" train.py --seed $1\n'
    callers = {
        "all.sh": "for dtype in bf16 fp16; do\n  sbatch -N 1 run.sh 3 $dtype\ndone\n./run.sh 4\n",
        "Makefile": "train:\n\tbash run.sh 5 fp8\n",
    }
    project(tmp_path, {"run.sh": launch, "train.py": "import argparse\n"} | callers)
    rows = run("explain-config", "run.sh", cwd=tmp_path).out.splitlines()
    assert [row for row in rows if "compute" in row] == [
        "  compute  mixed_precision = fp8  run.sh:1, value from Makefile:2",
        "  compute  mixed_precision = bf16  run.sh:1, value from all.sh:1",
        "  compute  mixed_precision = fp16  run.sh:1, value from all.sh:1",
        "  compute  mixed_precision = no  run.sh:1",
    ]
    rows = run("explain-config", "Makefile", cwd=tmp_path).out.splitlines()
    assert [row for row in rows if "compute" in row] == [
        "  compute  mixed_precision = fp8  run.sh:1, value from Makefile:2"
    ]


def test_copies_that_jupyter_keeps_are_no_runs(tmp_path: Path) -> None:
    launch = "accelerate launch --mixed_precision bf16 train.py\n"
    caller = {".ipynb_checkpoints/all-checkpoint.sh": "bash run.sh fp16\n"}
    copies = {f"{folder}.ipynb_checkpoints/run-checkpoint.sh": launch for folder in ("", "sub/")}
    script = launch.replace("bf16", "${1:-bf16}")
    project(
        tmp_path,
        {"run.sh": script, "train.py": "from accelerate import Accelerator\n"} | copies | caller,
    )
    for command in (["init", "-q"], ["add", "-f", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, timeout=60)
    out = run("explain-config", cwd=tmp_path).out
    shown = out.splitlines()
    assert shown[:2] == ["run.sh:1: accelerate", "  compute  mixed_precision = bf16  run.sh:1"]
    assert out.count("no framework is known to read it") == 3
    for copy in ("all", "sub/run", "run"):
        folder, _, name = copy.rpartition("/")
        place = f"{folder}{'/' if folder else ''}.ipynb_checkpoints/{name}-checkpoint.sh:1"
        said = [row for row in shown if f"({place})" in row]
        assert len(said) == 1
        assert said[0].endswith("; a copy that Jupyter keeps")
        assert said[0].strip().startswith("not read in the project: ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("all.sh", "bash .ipynb_checkpoints/run-checkpoint.sh\n"),
        ("all.py", 'start(".ipynb_checkpoints/run-checkpoint.sh")\n'),
    ],
)
def test_a_copy_that_something_starts_may_be_read(name: str, text: str, tmp_path: Path) -> None:
    launch = "accelerate launch --mixed_precision bf16 train.py\n"
    copy = ".ipynb_checkpoints/run-checkpoint.sh"
    project(tmp_path, {copy: launch, name: text, "train.py": "import accelerate\n"})
    for command in (["init", "-q"], ["add", "-f", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, timeout=60)
    assert "not understood: --mixed_precision bf16" in run("explain-config", cwd=tmp_path).out


def test_a_name_of_the_folder_starts_no_copy(tmp_path: Path) -> None:
    launch = "accelerate launch --mixed_precision bf16 train.py\n"
    copy = ".ipynb_checkpoints/run-checkpoint.sh"
    clean = {"clean.sh": "rm -rf .ipynb_checkpoints/\n", "train.py": "import accelerate\n"}
    project(tmp_path, {copy: launch, **clean})
    for command in (["init", "-q"], ["add", "-f", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, timeout=60)
    rows = explained(cwd=tmp_path)
    (unread,) = [each for one in rows for each in one["not_understood"]]
    assert unread["in_vain"] is True


QUANTIZED = """\
import argparse
import yaml
from transformers import AutoModelForCausalLM
from trl import SFTConfig

parser = argparse.ArgumentParser()
parser.add_argument("--config")
args = parser.parse_args()
with open(args.config) as file:
    config = yaml.safe_load(file)
model = AutoModelForCausalLM.from_pretrained(
    config["model"]["name"], load_in_4bit=config["model"].get("load_in_4bit", True)
)
training = SFTConfig(output_dir="o", bf16=config["training"].get("bf16", True))
"""


def test_a_launch_after_many_commands_is_followed_and_told_once(tmp_path: Path) -> None:
    training = (
        "  output_dir: o\n  per_device_train_batch_size: 1\n  num_train_epochs: 1\n  bf16: true\n"
    )
    config = f"model:\n  load_in_4bit: true\n  name: m\ntraining:\n{training}"
    commands = "".join(f"wget x{number}\n" for number in range(100))
    launch = "ARGS='--config a.yaml'\n[ $X ] && ARGS+=' --y'\npython train.py $ARGS\n"
    files = {"a.yaml": config, "train.py": QUANTIZED, "run.sh": commands + launch}
    assert run("explain-config", cwd=project(tmp_path, files)).out.splitlines() == [
        "run.sh:103: PyTorch, started as train.py",
        "  quant  on (4-bit weights, train.py:11)  a.yaml:2  load_in_4bit: true",
        "",
        "run.sh:103: TRL, started as train.py",
        "  compute  bf16 = true  a.yaml:8",
        "  default of TRL: fp16 = false, bf16_full_eval = false, fp16_full_eval = false",
        "  other settings come from train.py",
    ]
