"""Time that grows with the size of a file, and with no power of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from precision_lint.engine.check import check_bytes
from precision_lint.engine.settings import Settings
from precision_lint.facts.frameworks import own_commands
from precision_lint.facts.runs.code import namespaces
from precision_lint.facts.runs.readers import composing
from precision_lint.facts.runs.written import handed_words
from precision_lint.facts.settings import sightings
from precision_lint.project.discovery import kind_of
from precision_lint.project.gitignore import Ignores, parse
from precision_lint.project.pins import lowest_version, pinned_version
from tests import cpu_time
from tests.context import recording

_SECONDS = 10
"""CPU time on a busy machine; what grew with the square took minutes."""

MANY = 300_000
TEXTS = {
    "Makefile": "a" + " " * MANY + "\nb: c\n\tpython train.py --bf16\n",
    "requirements.txt": "\n" * MANY,
    "requirements-dev.txt": "torch" + " " * MANY + "x",
    "README.md": "install " * (MANY // 8) + "torch " * (MANY // 6) + "torch" + " " * MANY,
    "uv.lock": '"' * MANY + '"torch[' * (MANY // 7),
    "Pipfile.lock": '"torch": {' * (MANY // 10),
    "pyproject.toml": 'x = "torch = {' * (MANY // 14) + "\n[project.scripts]\n" + "a" * MANY,
    "environment.yml": "- " * MANY,
    "app.py": "# /// script\n#" + "install " * (MANY // 8) + "'torch" * (MANY // 6) + " " * MANY,
    "run.sh": "# bf16\n" + "a \\\n" * (MANY // 8),
    "jobs.yaml": "fp16: " + "{{ " * (MANY // 3) + "\nbf16: ${{",
}


def quadratic(name: str, root: Path) -> None:
    (root / name).write_text(TEXTS[name])
    for library in ("torch", "accelerate"):
        pinned_version(root, library)
        lowest_version(root, library)
    if (kind := kind_of(root / name)) and kind != "toml":
        content = (root / name).read_bytes()
        check_bytes(root / name, content, kind, recording(root, ()), Settings())


@pytest.mark.parametrize("name", TEXTS)
def test_a_long_text(name: str, tmp_path: Path) -> None:
    with cpu_time.at_most(_SECONDS):
        quadratic(name, tmp_path)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (own_commands._SCRIPT, "a" * MANY),
        (own_commands._SECTION, "console_scripts=[" * (MANY // 17)),
        (own_commands._SECTION, "console_scripts = " * (MANY // 18)),
        (own_commands._SECTION, "[project.scripts]" * (MANY // 17)),
        (namespaces._HIDDEN, "eval(x " * (MANY // 7)),
        (namespaces._DEFINITION, "async def " * (MANY // 10)),
        (handed_words._KEYWORD, "then if " * (MANY // 8)),
        (handed_words._SHORT, "[ a " * (MANY // 4)),
        (re.compile(composing._COMPOSING), b"initialize(" * (MANY // 11)),
        (sightings._TYPER, b"a: " * (MANY // 3)),
        (sightings._IMPORT, b"from a import (\n" * (MANY // 16)),
    ],
    ids=[
        *(
            "scripts",
            "console scripts",
            "console scripts of setup.cfg",
            "sections",
            "holders",
            "a long holder",
            "keywords",
            "tests",
        ),
        *("composing", "typer", "imports"),
    ],
)
def test_a_pattern(pattern: object, text: str | bytes) -> None:
    search: Callable[[str | bytes], object] = pattern.finditer  # type: ignore[attr-defined]
    with cpu_time.at_most(_SECONDS):
        list(search(text))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("line", "name", "is_ignored"),
    [
        ("*a" * 20 + "*b", "a" * 200, False),
        ("*a" * 20 + "*b", "a" * 200 + "b", True),
        ("*?a" * 10, "a" * 200, True),
        ("*[ab]" * 10 + "c", "ab" * 100, False),
        ("[" * 4_000, "a", None),
        ("a" * 5_000, "a", None),
        ("*a*/x*y*z", "bab/x/y/z", None),
        ("*a*/x*y*z", "bab/xxyyzz", True),
    ],
)
def test_patterns_with_many_stars(line: str, name: str, is_ignored: bool | None) -> None:
    with cpu_time.at_most(_SECONDS):
        decided = Ignores(parse([line.encode()] * 3)).decide(name, False)
    assert decided is (is_ignored or None)


SOURCES = {
    "a.py": "import torch\nx = torch.zeros(2, dtype=torch.bfloat16)\n"
    + "".join(f"y{row} = x.numpy()\n" for row in range(1_500)),
    "b.py": "import torch\nfrom torch.cuda.amp import autocast\n"
    + "".join(f"with autocast():\n    f{row}()\n" for row in range(1_500)),
}


@pytest.mark.parametrize(("name", "seconds"), [("a.py", 20), ("b.py", 20)])
def test_a_file_of_findings(name: str, seconds: int, tmp_path: Path) -> None:
    content = SOURCES[name].encode()
    (tmp_path / name).write_bytes(content)
    with cpu_time.at_most(seconds):
        found = check_bytes(tmp_path / name, content, "python", recording(tmp_path, ()), Settings())
    assert len(found.findings) >= 1_500
