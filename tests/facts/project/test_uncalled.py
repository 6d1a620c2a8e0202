"""Functions and classes that no run of a program comes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.project.uncalled import is_uncalled
from precision_lint.source.text.text import SourceText
from tests.context import python_file, recording

MAIN = "import models\nif __name__ == '__main__':\n    models.used()\n"
USED = "def used():\n    return 1\n"
SCORE = "def score(x):\n    return x\n"
SHOWN = {
    "setup.py": "from setuptools import setup\n\nsetup(name='models')\n",
    "README.md": "```sh\npip install models\n```\n",
}
CASES = [
    ("nothing names it", SCORE, {"main.py": MAIN}, True),
    ("a comment names it", f"# see score\n{SCORE}", {"main.py": MAIN}, True),
    ("another class defines it", SCORE, {"main.py": MAIN, "b.py": f"import models\n{SCORE}"}, True),
    ("a test calls it", SCORE, {"main.py": MAIN, "tests/test_a.py": "score(1)\n"}, True),
    ("its file calls it", f"{SCORE}score(1)\n", {"main.py": MAIN}, False),
    ("another file calls it", SCORE, {"main.py": f"{MAIN}    models.score(1)\n"}, False),
    ("a table names it", SCORE, {"main.py": f"{MAIN}    print('score')\n"}, False),
    ("a page names it", SCORE, {"main.py": MAIN, "README.md": "Call `score(x)`.\n"}, False),
    ("its package is for others", SCORE, {**SHOWN, "main.py": MAIN}, False),
    (
        "its package is for itself",
        SCORE,
        {**SHOWN, "README.md": "pip install -e .\n", "main.py": MAIN},
        True,
    ),
    ("private in its package", SCORE.replace("score", "_score"), {**SHOWN, "main.py": MAIN}, True),
    ("there is no program", SCORE, {"main.py": "import models\nmodels.used()\n"}, False),
    ("the program is another one", SCORE, {"main.py": MAIN.replace("models", "others")}, False),
    ("decorated", f"from lib import register\n@register\n{SCORE}", {"main.py": MAIN}, False),
    (
        "compiled",
        f"import torch\n@torch.compile(dynamic=True)\n{SCORE}",
        {"main.py": MAIN},
        True,
    ),
    (
        "another file calls one of its own",
        SCORE,
        {"main.py": MAIN, "b.py": f"import models\n{SCORE}score(1)\n"},
        True,
    ),
    (
        "another file imports one of its own kind",
        SCORE,
        {"main.py": MAIN, "b.py": SCORE, "c.py": "from b import score\nscore(1)\n"},
        True,
    ),
    (
        "another file imports it",
        SCORE,
        {"main.py": MAIN, "b.py": SCORE, "c.py": "from models import score\nscore(1)\n"},
        False,
    ),
    ("a method of this name is called", SCORE, {"main.py": f"{MAIN}    x = y.score(1)\n"}, True),
    (
        "a function that nobody calls calls it",
        f"def other(x):\n    return score(x)\n{SCORE}",
        {"main.py": MAIN},
        True,
    ),
    (
        "two call each other",
        f"def other(x):\n    score(x)\n{SCORE.replace('return x', 'return other(x)')}",
        {"main.py": MAIN},
        True,
    ),
    (
        "a function that is called calls it",
        f"def other(x):\n    score(x)\n{SCORE}other(1)\n",
        {"main.py": MAIN},
        False,
    ),
    ("a document of a function names it", SCORE, {"main.py": f'"""Not score."""\n{MAIN}'}, True),
    ("a configuration names it", SCORE, {"main.py": MAIN, "a.yaml": "run: models.score\n"}, False),
    (
        "taken by its name",
        SCORE,
        {"main.py": f"{MAIN}    getattr(models, input())(1)\n"},
        False,
    ),
    (
        "taken of a module's names",
        SCORE,
        {"main.py": f"{MAIN}    models.__dict__[input()](1)\n"},
        False,
    ),
    (
        "a command for every function",
        f"import fire\n{SCORE}fire.Fire()\n",
        {"main.py": MAIN},
        False,
    ),
    (
        "an attribute of an object is taken",
        SCORE,
        {"main.py": f"{MAIN}    options = input()\n    getattr(options, options)\n"},
        True,
    ),
    ("it has another name", f"{SCORE}other = score\n", {"main.py": MAIN}, True),
    ("it is used by its other name", f"{SCORE}other = score\nother(1)\n", {"main.py": MAIN}, False),
    (
        "a call that raises",
        SCORE,
        {"main.py": f"{MAIN}    from models import score\n    score()\n"},
        True,
    ),
    (
        "a call after a statement that raises",
        SCORE,
        {"main.py": f"{MAIN}    missing.f()\n    models.score(1)\n"},
        True,
    ),
    (
        "a call after a statement that may raise",
        SCORE,
        {
            "main.py": f"{MAIN}    if a:\n        missing.f()\n    models.score(1)\n".replace(
                "if a", "if models"
            )
        },
        False,
    ),
    (
        "it raises before it computes",
        "def score(x):\n    missing(x)\n    return x\nscore(1)\n",
        {"main.py": MAIN},
        True,
    ),
    (
        "a program that raises later",
        SCORE,
        {"main.py": f"{MAIN}    models.score(1)\n    for x in range(3):\n        missing(x)\n"},
        True,
    ),
    (
        "another one that does not",
        SCORE,
        {
            "main.py": f"{MAIN}    models.score(1)\n    missing.f()\n",
            "other.py": f"{MAIN}    models.score(1)\n",
        },
        False,
    ),
    (
        "a program that may return before it raises",
        SCORE,
        {
            "main.py": "import models\ndef main(x):\n    models.score(1)\n"
            "    if x:\n        return\n    missing.f()\nif __name__ == '__main__':\n    main(1)\n"
        },
        False,
    ),
    (
        "a page has a word like it",
        SCORE,
        {"main.py": MAIN, "README.md": "The score is high.\n"},
        True,
    ),
    ("called by Python", SCORE.replace("score", "__call__"), {"main.py": MAIN}, False),
    (
        "inside a function that nobody calls",
        "def outer():\n    def used():\n        return 2\n    used()\n",
        {"main.py": MAIN},
        True,
    ),
]


SCRIPTS = [
    ("that ends", "return_ = 1\n", {}, False),
    ("that raises before it computes", "return_ = 1\nmissing.f()\n", {}, True),
    (
        "whose main part raises, and which another one imports",
        "return_ = 1\nif __name__ == '__main__':\n    missing.f()\n",
        {"main.py": "import models\nprint(models)\n"},
        False,
    ),
]


def _class(base: str) -> str:
    imports = "from lib import LightningModule, Trainer, nn\nfrom base import Base\n"
    return f"{imports}class A({base}):\n    def score(self, x):\n        return x\n\n\nONE = A()\n"


METHODS = [
    ("that is called", _class("object") + "ONE.score(1)\n", {}, False),
    ("of a plain class", _class("object"), {}, True),
    ("of a module", _class("nn.Module"), {}, True),
    ("of a trainer of a library", _class("Trainer"), {}, False),
    ("of a class of the project", _class("Base"), {"base.py": "class Base:\n    pass\n"}, True),
    ("of a class that nothing makes", _class("object").replace("ONE = A()", ""), {}, True),
    (
        "of a class that is compared",
        _class("object").replace("= A()", "= isinstance(1, A)"),
        {},
        True,
    ),
    (
        "of a class with a base",
        _class("object").replace("ONE = A()", "class B(A):\n    pass\n\n\nB().score(1)"),
        {},
        False,
    ),
    (
        "of one with a base of a library",
        _class("Base"),
        {"base.py": "from lib import LightningModule\nclass Base(LightningModule):\n    pass\n"},
        False,
    ),
]


def _is_uncalled(source: str, files: dict[str, str], root: Path) -> bool:
    for name, content in {
        "models.py": f"{source}{USED}" if "score" in source else source,
        **files,
    }.items():
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
    [case[1:] for case in SCRIPTS],
    ids=[case[0] for case in SCRIPTS],
)
def test_scripts(source: str, files: dict[str, str], expected: bool, tmp_path: Path) -> None:
    assert _is_uncalled(source, {"other.py": "x = 1\n", **files}, tmp_path) is expected


@pytest.mark.parametrize(
    ("source", "files", "expected"),
    [case[1:] for case in METHODS],
    ids=[case[0] for case in METHODS],
)
def test_methods(source: str, files: dict[str, str], expected: bool, tmp_path: Path) -> None:
    assert _is_uncalled(source, {"main.py": MAIN, **files}, tmp_path) is expected
