"""Functions that no program of a project calls or mentions."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.project.uncalled import is_uncalled
from precision_lint.source.text.text import SourceText
from tests.context import python_file, recording

MAIN = "import models\nif __name__ == '__main__':\n    models.used()\n"
USED = "def used():\n    return 1\n"
SCORE = "def score(x):\n    return x\n"
CASES = [
    ("nothing names it", SCORE, {"main.py": MAIN}, True),
    ("a comment names it", f"# see score\n{SCORE}", {"main.py": MAIN}, True),
    ("another class defines it", SCORE, {"main.py": MAIN, "b.py": f"import models\n{SCORE}"}, True),
    ("a test calls it", SCORE, {"main.py": MAIN, "tests/test_a.py": "score(1)\n"}, True),
    ("its file calls it", f"{SCORE}score(1)\n", {"main.py": MAIN}, False),
    ("another file calls it", SCORE, {"main.py": f"{MAIN}    models.score(1)\n"}, False),
    ("a table names it", SCORE, {"main.py": f"{MAIN}    run('score')\n"}, False),
    ("a page names it", SCORE, {"main.py": MAIN, "README.md": "Call `score(x)`.\n"}, False),
    ("there is no program", SCORE, {"main.py": "import models\nmodels.used()\n"}, False),
    ("the program is another one", SCORE, {"main.py": MAIN.replace("models", "others")}, False),
    ("decorated", f"@register\n{SCORE}", {"main.py": MAIN}, False),
    ("called by Python", SCORE.replace("score", "__call__"), {"main.py": MAIN}, False),
    (
        "inside a function that nobody calls",
        "def outer():\n    def used():\n        return 2\n    used()\n",
        {"main.py": MAIN},
        True,
    ),
]


def _class(base: str) -> str:
    return f"class A({base}):\n    def score(self, x):\n        return x\n"


METHODS = [
    ("of a plain class", _class("object"), {}, True),
    ("of a module", _class("nn.Module"), {}, True),
    ("of a trainer of a library", _class("Trainer"), {}, False),
    ("of a class of the project", _class("Base"), {"base.py": "class Base:\n    pass\n"}, True),
    (
        "of one with a base of a library",
        _class("Base"),
        {"base.py": "class Base(LightningModule):\n    pass\n"},
        False,
    ),
]


def _is_uncalled(source: str, files: dict[str, str], root: Path) -> bool:
    for name, content in {"models.py": source + USED, **files}.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    path = root / "models.py"
    project = recording(root, ())
    file = python_file(SourceText.from_bytes(path, path.read_bytes()), project)
    return is_uncalled(file, source.rindex("return"), project)


@pytest.mark.parametrize(
    ("source", "files", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_functions(source: str, files: dict[str, str], expected: bool, tmp_path: Path) -> None:
    assert _is_uncalled(source, files, tmp_path) is expected


@pytest.mark.parametrize(
    ("source", "files", "expected"),
    [case[1:] for case in METHODS],
    ids=[case[0] for case in METHODS],
)
def test_methods(source: str, files: dict[str, str], expected: bool, tmp_path: Path) -> None:
    assert _is_uncalled(source, {"main.py": MAIN, **files}, tmp_path) is expected
