"""Programs that take any file of a kind by a word, and what they have its settings for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

FILE = "run:\n  model: m\n  lr: 0.1\n  steps: 3\n  seed: 1\n  use_amp: true\n"
USES = """\
def main(model, lr, steps, seed, use_amp):
    build(model, lr, steps, seed)
    with torch.autocast("cuda", dtype=torch.float16, enabled=use_amp):
        pass
"""
STARTS = 'if __name__ == "__main__":\n'
ARGUMENT = """\
    parser = argparse.ArgumentParser()
    parser.add_argument({0})
    args = parser.parse_args()
"""
READ = """\
def read(config):
    with open(config) as stream:
        config = yaml.safe_load(stream)
    return config
"""
HEAD = "import argparse, click, sys, torch, yaml\nfrom pathlib import Path\n"
PLACE = "(autocast, train.py:"


def program(start: str, uses: str = USES) -> str:
    return HEAD + READ + uses + start


def started(argument: str, value: str, load: str = "read({})") -> str:
    return (
        STARTS
        + ARGUMENT.format(argument)
        + f"    config = {load.format(value)}\n    main(**config['run'])\n"
    )


WORDS = [
    (started('"--config", required=True', "args.config"), "`--config`"),
    (started('"-c", "--cfg", dest="path"', "args.path"), "`--cfg`"),
    (started('"preset"', "Path(args.preset)"), "argument `preset`"),
    (started('"--config"', "open(args.config)", "yaml.safe_load({})"), "`--config`"),
    (started('"--config"', "Path(args.config).read_text()", "yaml.load({})"), "`--config`"),
    (STARTS + "    config = read(sys.argv[1])\n    main(**config['run'])\n", "first word"),
    (STARTS + "    config = read(sys.argv[2])\n    main(**config['run'])\n", "word 2"),
    (
        '@click.command()\n@click.option("--conf")\n'
        "def start(conf):\n    config = read(conf)\n    main(**config['run'])\n"
        + STARTS
        + "    start()\n",
        "`--conf`",
    ),
    (
        '@click.command()\n@click.argument("path")\n'
        "def start(path):\n    config = read(path)\n    main(**config['run'])\n"
        + STARTS
        + "    start()\n",
        "argument `path`",
    ),
]


@pytest.mark.parametrize(("start", "word"), WORDS)
def test_the_word_that_gives_a_file(start: str, word: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"a.yaml": FILE, "train.py": program(start)})
    assert f"a.yaml: PyTorch, read by train.py if its {word} names it" in out
    assert PLACE in out
    assert "MP7" not in out


START = WORDS[0][0]


@pytest.mark.parametrize(
    ("file", "files"),
    [
        (
            "a.yaml",
            {
                "train.py": program(
                    STARTS + "    config = read(choose())\n    main(**config['run'])\n"
                )
            },
        ),
        ("a.yaml", {"train.py": program(START).replace("yaml.safe_load", "json.load")}),
        ("a.yaml", {"train.py": program(START, USES.replace("lr, steps, seed", "a, b, c"))}),
        (
            "a.yaml",
            {"train.py": "import library\n" + program(START).replace("main(**", "library.main(**")},
        ),
        ("a.yaml", {"train.py": program(START), "sub/a.py": "", "b/fit.py": program(START)}),
        ("a.yaml", {"train.py": program(START), "fit.py": program(START)}),
        ("b/a.yaml", {"a/train.py": program(START), "b/other.py": STARTS + "    print(1)\n"}),
        ("a.yaml", {"train.py": program(START, USES.replace("use_amp)", "use_amp, rank)"))}),
        ("a.yaml", {"tests/test_train.py": program(START)}),
        (
            "a.yaml",
            {"train.py": "from missing.own import a\n" + program(START), "missing/__init__.py": ""},
        ),
        ("a.yaml", {"train.py": program(START).replace("**config['run']", "config")}),
    ],
)
def test_a_file_that_is_for_no_program_or_for_several(
    file: str, files: dict[str, str], tmp_path: Path
) -> None:
    out = explained(tmp_path, {file: FILE} | files)
    assert "names it" not in out
    assert "use_amp: true" in out
    assert PLACE not in out


SAME = """\
def plain(x):
    if isinstance(x, dict):
        return {{str(k): plain(v) for k, v in x.items()}}
    return {0}
"""
COPIED = "build(plain(config))"
BUILD = """\
def build(config):
    print(config["model"].lower(), config["lr"], config["steps"], config["run"]["seed"])
"""
SETTINGS = "model: m\nlr: 0.1\nsteps: 3\nrun:\n  seed: 1\n  use_amp: true\n"
ELSEWHERE = {"other.py": "import library\nlibrary.load(config_path)\n"}
IN_VAIN = "nothing reads it (loaded, train.py:5)  a.yaml:6"


@pytest.mark.parametrize(
    ("copy", "end", "is_in_vain"),
    [
        (SAME.format("x"), COPIED, True),
        (SAME.format("[plain(v) for v in x] if isinstance(x, list) else x"), COPIED, True),
        ("", "build({k: v for k, v in config.items()})", True),
        (SAME.format("Settings(x)"), COPIED, False),
        (SAME.format("plain(x.rest)"), COPIED, False),
        (SAME.replace("x.items()", "load(x).items()").format("x"), COPIED, False),
        (SAME.replace("plain(v)", "fill(v)").format("x"), COPIED, False),
        ("", "build({k.lower(): v for k, v in config.items()})", False),
        ("", "build(config)\n    library.load(args.config)", False),
        ("", "build(config)\n    library.run(config)", False),
        ("", "build(config)\n    library.load(args.other)\n    print(args.config)", True),
        ("", "build(config)\n    library.load(args.other)\n    library.run(args)", False),
        ("", "build(config)\n    library.load(args.other)\n    library.run(vars(args))", False),
        ("", "build(config)\n    library.load(args.config or args.other)", False),
        ("", "build(config)\n    library.load(args.other)\n    path = args.config", False),
    ],
)
def test_what_the_program_reads_nothing_of(
    copy: str, end: str, is_in_vain: bool, tmp_path: Path
) -> None:
    start = STARTS + ARGUMENT.format('"--config"') + f"    config = read(args.config)\n    {end}\n"
    text = HEAD + READ + "import library\n" + copy + BUILD + start
    out = explained(tmp_path, ELSEWHERE | {"a.yaml": SETTINGS, "train.py": text})
    assert (IN_VAIN in out) is is_in_vain
    assert ("read by train.py if its `--config` names it" in out) is is_in_vain
