"""The linter says of every refusal what the compiler says, and what it repairs compiles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from precision_lint.facts.triton.kernels import find_kernels
from precision_lint.facts.triton.rejections import ReportedError
from precision_lint.fixers import triton
from precision_lint.model.finding import apply_edits
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText
from tests.facts.triton import refusals
from tests.facts.triton.compiling import Job, verdicts

DTYPES = ("bf16", "fp16", "fp32")
_SIZES = re.compile(r"\[(?:'64'|64|constexpr\[64\])(?:, (?:'64'|64|constexpr\[64\]))*\]")
"""What the linter does not know: `bf16[constexpr[64]]`, `<['64'], bf16>`."""

# Triton does not print the types of tuples.
WORDLESS = {"loop: tuple", "return: tuples"}

each = pytest.mark.parametrize("name", refusals.REFUSALS)


def rejections(source: str) -> list[ReportedError]:
    text = SourceText(Path("kernels.py"), source)
    file = parse_python(text)
    return [r for kernel in find_kernels(file.tree, text) for r in kernel.rejections]


def repaired(source: str) -> str:
    """The source with every fix that is offered, as often as one is: one may come after another."""
    for _ in range(3):
        fixes = [triton.fix(rejection.remedy) for rejection in rejections(source)]
        source = apply_edits(source, {edit for fix in fixes if fix for edit in fix.edits})
    return source


def job(path: Path, dtype: str) -> Job:
    pointers = {"p": f"*{dtype}", "q": "*fp32", "o": f"*{dtype}"}
    types = {**pointers, "s": "fp32", "flag": "u1", "n": "i32"}
    return Job(str(path), "kernel", types, {"nn": None, "C": 1, "CF": 0.5})


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, str]]:
    """The compiler's words by body and state (as written, repaired), and by dtype."""
    pytest.importorskip("triton")
    folder = tmp_path_factory.mktemp("refusals")
    keys, jobs = [], []
    for number, (name, (body, _, _)) in enumerate(refusals.REFUSALS.items()):
        source = refusals.source(body)
        for state, text in (("as written", source), ("repaired", repaired(source))):
            path = folder / f"{state.replace(' ', '_')}_{number}.py"
            path.write_text(text.replace("import torch\n", "").partition("\ndef launch(")[0])
            for dtype in DTYPES:
                keys.append((name, state, dtype))
                jobs.append(job(path, dtype))
    found: dict[tuple[str, str], dict[str, str]] = {}
    for (name, state, dtype), error in zip(keys, verdicts(jobs, folder), strict=True):
        found.setdefault((name, state), {})[dtype] = error
    return found


@each
def test_finds_what_the_table_says(name):
    body, kind, expected = refusals.REFUSALS[name]
    found = rejections(refusals.source(body))
    assert set().union(*(rejection.fails_for for rejection in found)) == expected
    assert {rejection.kind for rejection in found} == ({kind} if expected else set())


@each
def test_the_compiler_agrees(name, compiled):
    _, _, expected = refusals.REFUSALS[name]
    said = compiled[name, "as written"]
    assert {dtype for dtype, error in said.items() if error} == expected


@each
def test_the_words_are_the_compilers(name, compiled):
    body, _, expected = refusals.REFUSALS[name]
    if not expected or name in WORDLESS:
        return
    first = rejections(refusals.source(body))[0]
    dtype = next(dtype for dtype in DTYPES if dtype in first.fails_for)
    error = _SIZES.sub("[...]", compiled[name, "as written"][dtype]).replace("'", "")
    assert first.compiler_message.replace("'", "").removeprefix("KeyError: ") in error


@each
def test_what_is_repaired_compiles(name, compiled):
    source = refusals.source(refusals.REFUSALS[name][0])
    after = repaired(source)
    if after == source:
        assert all(rejection.remedy is None for rejection in rejections(source))
        return
    assert rejections(after) == []
    assert compiled[name, "repaired"] == dict.fromkeys(DTYPES, "")
