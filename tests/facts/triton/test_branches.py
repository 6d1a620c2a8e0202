"""The linter says of a branch what the compiler says, and what it repairs compiles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from precision_lint.facts.triton.kernels import find_kernels
from precision_lint.facts.triton.rejections import ReportedError
from precision_lint.model.finding import Finding, apply_edits
from precision_lint.rules import triton_branch_dtype as rule
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText
from tests.context import python_file
from tests.facts.triton import branches
from tests.facts.triton.compiling import Job, verdicts

DTYPES = ("bf16", "fp16", "fp32")
REJECTED_BRANCH = re.compile(r"initial value for|Mismatched type for")

each = pytest.mark.parametrize("name", branches.BRANCHES)


def rejections(source: str) -> list[ReportedError]:
    text = SourceText(Path("kernels.py"), source)
    file = parse_python(text)
    return [r for kernel in find_kernels(file.tree, text) for r in kernel.rejections]


def findings(source: str) -> list[Finding]:
    text = SourceText(Path("kernels.py"), source)
    file = python_file(text)
    kernels = find_kernels(file.tree, text)
    return [finding for kernel in kernels for finding in rule.check_kernel(kernel, file)]


def repaired(source: str) -> str:
    edits = {edit for f in findings(source) if f.fix for edit in f.fix.edits}
    return apply_edits(source, edits)


def job(path: Path, dtype: str, flag: bool | None) -> Job:
    """Compiling for a pointer dtype, with a run-time flag if it is None."""
    pointers = {"p": f"*{dtype}", "q": "*fp32", "o": f"*{dtype}"}
    types = {**pointers, "s": "fp32", "flag": "u1", "n": "i32"}
    constants = {"nn": None, "C": 1, "CF": 0.5} | ({} if flag is None else {"flag": flag})
    return Job(str(path), "kernel", types, constants)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, str]]:
    """The compiler's words by branch and state (as written, repaired), and by dtype."""
    pytest.importorskip("triton")
    folder = tmp_path_factory.mktemp("branches")
    jobs = {}
    for number, (name, (body, _)) in enumerate(branches.BRANCHES.items()):
        source = branches.source(body)
        for state, text in (("as written", source), ("repaired", repaired(source))):
            path = folder / f"{state.replace(' ', '_')}_{number}.py"
            # What a launch proves is for the linter; the compiler's machine may have no torch.
            path.write_text(text.replace("import torch\n", "").partition("\ndef launch(")[0])
            for dtype in DTYPES:
                for flag in (True, False) if "flag: tl.constexpr" in text else (None,):
                    jobs[name, state, dtype, flag] = job(path, dtype, flag)
    found: dict[tuple[str, str], dict[str, str]] = {}
    said = verdicts(list(jobs.values()), folder)
    for (name, state, dtype, _), error in zip(jobs, said, strict=True):
        errors = found.setdefault((name, state), dict.fromkeys(DTYPES, ""))
        errors[dtype] += error
    return found


@each
def test_finds_what_the_case_says(name):
    body, expected = branches.BRANCHES[name]
    found = rejections(branches.source(body))
    assert set().union(*(rejection.fails_for for rejection in found)) == expected
    assert [rejection.kind for rejection in found] in ([], ["branch"], ["mismatch"])


@each
def test_the_compiler_agrees(name, compiled):
    _, expected = branches.BRANCHES[name]
    said = compiled[name, "as written"]
    assert {dtype for dtype, error in said.items() if REJECTED_BRANCH.search(error)} == expected
    assert {dtype for dtype, error in said.items() if error} == expected


@each
def test_what_is_repaired_compiles_and_has_no_findings(name, compiled):
    source = branches.source(branches.BRANCHES[name][0])
    after = repaired(source)
    if after == source:
        assert all(finding.fix is None for finding in findings(source))
        return
    assert findings(after) == []
    assert compiled[name, "repaired"] == dict.fromkeys(DTYPES, "")
