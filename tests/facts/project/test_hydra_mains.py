"""Which files programs compose by `@hydra.main`, and programs that stop as the first is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.project.hydra_mains import hydra_mains, missing_first_file
from precision_lint.facts.project.uncalled import is_uncalled
from tests.cli.running import project, run
from tests.context import recording

HEAD = """\
import os
from pathlib import Path

import hydra
from hydra import main as composing
from settings.paths import CONF, ROOT

"""
PATHS = 'from pathlib import Path\nROOT = Path(__file__).parents[1]\nCONF = ROOT / "conf"\n'
FUNCTION = "def main(cfg):\n    work(cfg)\n\ndef work(cfg):\n    pass\n\n"
END = 'if __name__ == "__main__":\n    main()\n'


def program(decorator: str, before: str = "") -> str:
    return f"{HEAD}{before}\n{decorator}\n{FUNCTION}{END}"


FOLDERS = [
    ('@hydra.main(config_path="../conf", config_name="base")', "", "conf", "base"),
    ('@hydra.main("../conf", "base.yaml")', "", "conf", "base"),
    ('@composing(config_path="../conf", config_name="base")', "", "conf", "base"),
    (
        "@hydra.main(config_path=FOLDER, config_name=NAME, version_base=None)",
        'NAME = "base"\nFOLDER = os.path.join(os.path.dirname(__file__), "../conf")',
        "conf",
        "base",
    ),
    (
        '@hydra.main(config_path=str(Path(__file__).parent.parent / "conf"), config_name="base")',
        "",
        "conf",
        "base",
    ),
    (
        "@hydra.main(config_path=HERE, config_name=None)",
        'HERE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "conf"))',
        "src/conf",
        "",
    ),
    ("@hydra.main(config_path=str(CONF), config_name='base')", "", "conf", "base"),
    ("@hydra.main(config_path=f'{ROOT}/conf', config_name='base')", "", "conf", "base"),
    ("@hydra.main(config_path=os.environ['CONF'], config_name='base')", "", None, "base"),
    ("@hydra.main(config_path='pkg://settings.conf', config_name='base')", "", None, "base"),
    ("@hydra.main(config_path=None, config_name='base')", "", None, "base"),
    ("@hydra.main(config_name='base')", "", "src", "base"),
    ("@hydra.main(config_name='base', version_base='1.1')", "", "src", "base"),
    ("@hydra.main(config_name='base', version_base='1.3')", "", None, "base"),
    ("@hydra.main(config_name=name(), version_base=None)", "", None, None),
    ("@hydra.main(**WHERE)", "WHERE = {}", None, ""),
]


@pytest.mark.parametrize(("decorator", "before", "folder", "name"), FOLDERS)
def test_what_the_decorator_says(
    decorator: str, before: str, folder: str | None, name: str | None, tmp_path: Path
) -> None:
    files = {"src/train.py": program(decorator, before), "settings/paths.py": PATHS}
    root = project(tmp_path, files)
    (found,) = hydra_mains(root / "src/train.py", recording(root, ()))
    assert found.folder == (None if folder is None else root / folder)
    assert found.name == name


def test_the_decorator_of_another_library_says_nothing(tmp_path: Path) -> None:
    text = program('@tool.main(config_path="../conf", config_name="base")', "import tool")
    root = project(tmp_path, {"src/train.py": text})
    assert hydra_mains(root / "src/train.py", recording(root, ())) == ()


DECORATED = '@hydra.main(config_path="../conf", config_name="base", version_base=None)'
OTHERS = {"conf/other.yaml": "x: 1\n", "settings/paths.py": PATHS}
WITHOUT = program(DECORATED)
ELSEWHERE = [
    ("it is there", WITHOUT, {"conf/base.yaml": "x: 1\n"}),
    ("it has the old suffix", WITHOUT, {"conf/base.yml": "x: 1\n"}),
    ("an example of it is there", WITHOUT, {"conf/base.example.yaml": "x: 1\n"}),
    ("a command names another one", WITHOUT, {"run.sh": "python src/train.py -cn other\n"}),
    ("a page names another one", WITHOUT, {"README.md": "`--config-name other`\n"}),
    ("a page names another folder", WITHOUT, {"README.md": "Give your own `--config-dir`.\n"}),
    ("a page says how to make it", WITHOUT, {"README.md": "Write a `conf/base.yaml`.\n"}),
    ("git does not keep it", WITHOUT, {".gitignore": "base.yaml\n"}),
    ("code starts it with another one", WITHOUT, {"sweep.py": "call('--config-name=a')\n"}),
    ("code registers it", f"from hydra.core.config_store import ConfigStore\n{WITHOUT}", {}),
    ("a plugin adds folders", WITHOUT, {"plug.py": "class P(SearchPathPlugin):\n    pass\n"}),
    ("a file adds folders", WITHOUT, {"conf/o.yaml": "hydra:\n  searchpath:\n    - file://a\n"}),
    ("another program takes it", WITHOUT, {"run.py": "from src.train import work\nwork(1)\n"}),
    ("the folder is not there", WITHOUT.replace("../conf", "../elsewhere"), {}),
    ("the folder is not known", WITHOUT.replace('"../conf"', "os.environ['CONF']"), {}),
    ("nothing names a file", WITHOUT.replace('"base"', "None"), {}),
    ("only run time knows its name", WITHOUT.replace('"base"', "os.environ['NAME']"), {}),
]


@pytest.mark.parametrize(("why", "text", "files"), ELSEWHERE, ids=[row[0] for row in ELSEWHERE])
def test_nothing_is_said_of_a_first_file_that_may_come_from_elsewhere(
    why: str, text: str, files: dict[str, str], tmp_path: Path
) -> None:
    root = project(tmp_path, {**OTHERS, "src/train.py": text, **files})
    assert missing_first_file(root / "src/train.py", recording(root, ())) is None


@pytest.mark.parametrize(
    ("old", "new", "is_uncalled_then"),
    [
        ("", "", True),
        ('"../conf"', "str(CONF)", True),
        ("    main()", "    main({})", False),
        ("    main()", "    main()\n    work({})", False),
    ],
)
def test_no_run_comes_to_what_only_the_program_calls(
    old: str, new: str, is_uncalled_then: bool, tmp_path: Path
) -> None:
    text = WITHOUT.replace(old, new) if old else WITHOUT
    root = project(tmp_path, {**OTHERS, "src/train.py": text})
    known = recording(root, ())
    assert missing_first_file(root / "src/train.py", known) == root / "conf/base.yaml"
    file = known.module(root / "src/train.py")
    assert file is not None
    at = text.index("    pass")
    assert is_uncalled(file, at, known, has_effect_later=False) is is_uncalled_then


MISTAKE = """\
import hydra
import torch

@hydra.main(config_path="conf", config_name="{name}", version_base=None)
def main(cfg):
    scaler = torch.cuda.amp.GradScaler()
    x = torch.ones(2, dtype=torch.bfloat16)
    print(x.numpy())

if __name__ == "__main__":
    main()
"""
GROUP = "weights_dtype: float16\nlr: 0.1\n"


def test_findings_in_such_a_program_have_low_confidence(tmp_path: Path) -> None:
    files = {"conf/there.yaml": "x: 1\n"}
    for name, count in (("there", 1), ("gone", 0)):
        root = tmp_path / name
        root.mkdir()
        project(root, {**files, "train.py": MISTAKE.format(name=name)})
        assert run("--select", "MP101", cwd=root).out.count("MP101") == count


def test_the_reason_why_a_file_of_the_folder_is_not_read(tmp_path: Path) -> None:
    files = {"conf/there.yaml": "x: 1\n", "conf/model/a.yaml": GROUP}
    said = "train.py would compose the file, but starts from conf/gone.yaml, which is not there"
    for name in ("there", "gone"):
        root = tmp_path / name
        root.mkdir()
        text = MISTAKE.format(name=name).replace(
            "print(", "print(cfg.model['lr'], cfg['weights_dtype'], "
        )
        project(root, {**files, "train.py": text})
        out = run("explain-config", cwd=root).out
        assert (said in out) is (name == "gone")
