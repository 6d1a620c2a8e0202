"""What the linter says of a kernel, beside what the compiler says of it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from precision_lint.facts.triton.kernels import find_kernels
from precision_lint.facts.triton.language import NEWEST, Version
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText
from tests.facts.triton import generated, patterns
from tests.facts.triton.compiling import Job, verdicts

DTYPES = ("bf16", "fp16", "fp32")

_FAMILIES = {
    "branch": r"initial value for",
    "mismatch": r"[Mm]ismatched type for",
    "loop": r"Loop.carried variable|cannot reasign constexpr|cannot reassign constexpr",
    "ternary": r"[Tt]ernary expression",
    "return": r"Return type mismatch|Inconsistent return types",
    "return in a loop": r"Cannot have `return` statements inside",
    "name": r"is not defined",
    "none": r"'NoneType' object has no attribute",
    "condition": r"Boolean value of Tensor|data-type of size 32 to data-type of size 1\b",
    "bitcast": r"Cannot bitcast",
    "math": r"Expected dtype|KeyError: \(triton",
    "dot": r"must have the same dtype|must be same dtype|out_dtype=",
    "tuple": r"unsupported tensor index",
    "atomic": r"atomic_\w+ does not support",
}
"""By what Triton says, in the words of all versions."""

_WORDLESS = re.compile(
    r"^AssertionError(: |\(\))?$|^aborts|the generated code is not valid|error encountered during"
)


def reason(error: str) -> str:
    """The last line of an error: what Triton says without where."""
    return (error.splitlines() or [""])[-1]


def family(error: str) -> str:
    """To which family an error belongs: `any` if it says nothing, `other` if it is none of them."""
    words = reason(error)
    if _WORDLESS.search(words):
        return "any"
    return next((name for name, text in _FAMILIES.items() if re.search(text, words)), "other")


def judgement(source: str, version: Version = NEWEST) -> dict[str, frozenset[str]]:
    """The kinds of refusal that the linter sees in a module, by the dtype of its pointers."""
    text = SourceText(Path("kernels.py"), source)
    file = parse_python(text)
    found = [r for kernel in find_kernels(file.tree, text, version) for r in kernel.rejections]
    return {d: frozenset(r.kind for r in found if d in r.fails_for) for d in DTYPES}


def refused_patterns(folder: Path, python: str = sys.executable) -> dict[str, dict[str, str]]:
    """The family of every refusal of the patterns, by the Triton of an interpreter: name, dtype."""
    keys, jobs = [], []
    for name, pattern in patterns.PATTERNS.items():
        path = folder / f"{name}.py"
        path.write_text(pattern.source)
        for dtype in DTYPES:
            keys.append((name, dtype))
            jobs.append(Job(str(path), "kernel", patterns.types(dtype), patterns.CONSTANTS))
    found: dict[str, dict[str, str]] = {name: {} for name in patterns.PATTERNS}
    for (name, dtype), error in zip(keys, verdicts(jobs, folder, python), strict=True):
        if error:
            found[name][dtype] = family(error)
    return found


def disagreements(refused: dict[str, str], seen: dict[str, frozenset[str]]) -> list[str]:
    """Where what is refused, by dtype and family, is not what the linter sees."""
    found = []
    for dtype in DTYPES:
        said, kinds = refused.get(dtype), seen[dtype]
        agrees = not kinds if said is None else (kinds if said == "any" else said in kinds)
        if not agrees:
            linter = " and ".join(sorted(kinds)) or "nothing"
            found.append(f"{dtype}: the compiler says {said or 'nothing'}, the linter {linter}")
    return found


@dataclass(frozen=True)
class Outcome:
    """A random kernel for one dtype: kinds that the linter sees, errors of the compiler."""

    kernel: generated.Generated
    dtype: str
    linter: frozenset[str]
    errors: tuple[str, ...]
    """One for each way to compile it that fails."""

    @property
    def is_false_error(self) -> bool:
        return bool(self.linter) and not self.errors

    @property
    def is_miss(self) -> bool:
        return bool(self.errors) and not self.linter


def compare(
    kernels: Iterable[generated.Generated],
    folder: Path,
    dtypes: tuple[str, ...] = DTYPES,
) -> list[Outcome]:
    """The linter held against the compiler.

    A kernel fails for a dtype if one way to compile it does: the linter is to report what some
    choice of the compile-time flags makes of it.
    """
    keys, jobs = [], []
    for kernel in kernels:
        path = folder / f"kernel_{kernel.seed}.py"
        path.write_text(kernel.source)
        for dtype in dtypes:
            for constants in kernel.compilations:
                keys.append((kernel, dtype))
                jobs.append(Job(str(path), "kernel", generated.types(dtype), constants))
    errors: dict[tuple[generated.Generated, str], list[str]] = {key: [] for key in keys}
    for key, error in zip(keys, verdicts(jobs, folder), strict=True):
        if error:
            errors[key].append(error)
    said = {kernel: judgement(kernel.source) for kernel, _ in errors}
    return [Outcome(k, dtype, said[k][dtype], tuple(e)) for (k, dtype), e in errors.items()]
