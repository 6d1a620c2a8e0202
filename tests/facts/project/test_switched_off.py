"""Branches that no run takes, as nothing changes their switch."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.project.switched_off import switched_off
from precision_lint.source.text.text import SourceText
from tests.context import python_file, recording

CONFIG = "class Config:\n    sharded: bool = False\n    mode = 'full'\n"
METHOD = "class Trainer:\n    def fit(self):\n        "
OFF = [
    ("a constant of the file", "DEBUG = False\nif DEBUG:\n    here\n", {}),
    ("in a function", "DEBUG = False\ndef f():\n    if DEBUG:\n        here\n", {}),
    ("around a function", "DEBUG = False\nif DEBUG:\n    def f():\n        here\n", {}),
    ("a local variable", "def f():\n    debug = False\n    if debug:\n        here\n", {}),
    ("the other branch", "FAST = True\nif FAST:\n    pass\nelse:\n    here\n", {}),
    ("not", "FAST = True\nif not FAST:\n    here\n", {}),
    ("one of two that must hold", "FAST = False\nif FAST and x():\n    here\n", {}),
    ("both of two", "FAST = False\nSLOW = 0\nif FAST or SLOW:\n    here\n", {}),
    ("another text", "MODE = 'a'\nif MODE == 'b':\n    here\n", {}),
    ("not the only text", "MODE = 'a'\nif MODE != 'a':\n    here\n", {}),
    ("a branch after another one", "DEBUG = 0\nif x():\n    pass\nelif DEBUG:\n    here\n", {}),
    ("a field of a class", f"{CONFIG}def f(cfg):\n    if cfg.sharded:\n        here\n", {}),
    ("of another file", f"{METHOD}if self.config.sharded:\n            here\n", {"c.py": CONFIG}),
    ("an attribute", f"{METHOD}self.debug = False\n        if self.debug:\n            here\n", {}),
    ("a comment names it", "# DEBUG\nDEBUG = False\nif DEBUG:\n    here\n", {}),
    (
        "a test sets it",
        "DEBUG = False\nif DEBUG:\n    here\n",
        {"tests/test_a.py": "a.DEBUG = 1\n"},
    ),
]
PASSING = [
    ("a condition that holds", "DEBUG = False\nif not DEBUG:\n    here\n", {}),
    ("the branch that runs", "FAST = True\nif FAST:\n    here\n", {}),
    ("one of two that may hold", "FAST = False\nif FAST or x():\n    here\n", {}),
    ("after the condition", "DEBUG = False\nif DEBUG:\n    pass\nhere\n", {}),
    ("the condition itself", "DEBUG = False\nif DEBUG and here:\n    pass\n", {}),
    ("a value that is computed", "DEBUG = x()\nif DEBUG:\n    here\n", {}),
    ("two values", "debug = False\nif x():\n    debug = True\nif debug:\n    here\n", {}),
    ("a loop", "debug = False\nfor debug in x():\n    if debug:\n        here\n", {}),
    (
        "a global",
        "DEBUG = False\ndef f():\n    global DEBUG\n    DEBUG = x()\nif DEBUG:\n    here\n",
        {},
    ),
    ("a parameter", f"{CONFIG}def f(sharded):\n    if sharded:\n        here\n", {}),
    (
        "a caller",
        f"{CONFIG}Config(sharded=x())\ndef f(cfg):\n    if cfg.sharded:\n        here\n",
        {},
    ),
    (
        "another file assigns it",
        "import c\nDEBUG = False\nif DEBUG:\n    here\n",
        {"c.py": "a.DEBUG = x()\n"},
    ),
    ("an option", "DEBUG = False\nif DEBUG:\n    here\n", {"c.py": "p.add_argument('--debug')\n"}),
    (
        "an option with a dash",
        f"{CONFIG}cfg.is_sharded = False\nif cfg.is_sharded:\n    here\n",
        {"c.py": "p.add_argument('--is-sharded')\n"},
    ),
    ("a file", f"{CONFIG}if cfg.sharded:\n    here\n", {"c.yaml": "sharded: true\n"}),
    ("a script", f"{CONFIG}if cfg.sharded:\n    here\n", {"run.sh": "python a.py --sharded\n"}),
    ("a page", "DEBUG = False\nif DEBUG:\n    here\n", {"README.md": "Set `DEBUG` first.\n"}),
    (
        "a parser of classes",
        f"import tyro\n{CONFIG}tyro.cli(Config)\nif cfg.sharded:\n    here\n",
        {},
    ),
    ("attributes by name", f"{CONFIG}setattr(Config, x, y)\nif cfg.sharded:\n    here\n", {}),
    ("an attribute of something else", f"{CONFIG}if model.sharded:\n    here\n", {}),
    ("nothing defines it", "if DEBUG:\n    here\n", {}),
    ("imported", "from c import DEBUG\nDEBUG = False\nif DEBUG:\n    here\n", {}),
    (
        "an exception",
        "e = None\ntry:\n    pass\nexcept ValueError as e:\n    pass\nif e:\n    here\n",
        {},
    ),
]


def _is_off(source: str, others: dict[str, str], folder: Path) -> bool:
    source = source.replace("here", "'here'")
    for name, content in {"a.py": source, **others}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    path, project = folder / "a.py", recording(folder, ())
    file = python_file(SourceText.from_bytes(path, path.read_bytes()), project)
    return switched_off(source.index("'here'"), file, project) is not None


@pytest.mark.parametrize(
    ("source", "others"), [case[1:] for case in OFF], ids=[case[0] for case in OFF]
)
def test_no_run_takes(source: str, others: dict[str, str], tmp_path: Path) -> None:
    assert _is_off(source, others, tmp_path)


@pytest.mark.parametrize(
    ("source", "others"), [case[1:] for case in PASSING], ids=[case[0] for case in PASSING]
)
def test_a_run_may_take(source: str, others: dict[str, str], tmp_path: Path) -> None:
    assert not _is_off(source, others, tmp_path)
