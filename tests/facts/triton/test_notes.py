"""What the linter notes in kernels that compile, held against the compiler; fixes compile."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from time import process_time
from types import ModuleType

import pytest

from precision_lint.facts.triton.kernels import find_kernels
from precision_lint.facts.triton.language import NEWEST, Version
from precision_lint.facts.triton.notes.note import Note
from precision_lint.model.finding import Finding, apply_edits
from precision_lint.rules import (
    triton_float64_scalar,
    triton_half_accumulation,
    triton_int32_offset,
    triton_literal_out_of_range,
    triton_tf32_product,
)
from precision_lint.source.text.text import SourceText
from tests.context import python_file
from tests.facts.triton import accepted
from tests.facts.triton.compiling import Job, verdicts

DTYPES = ("bf16", "fp16", "fp32")
SUMMED = {"reduction", "accumulator"}
PASSED: tuple[dict[str, object], ...] = ({}, {"s": 1}, {"s": 1.0}, {"s": True})
"""What `s` can be besides a run-time number."""

each_sum = pytest.mark.parametrize("name", accepted.SUMS)
each_accumulator = pytest.mark.parametrize("name", accepted.ACCUMULATORS)
each_double = pytest.mark.parametrize("name", accepted.DOUBLES)
each_offset = pytest.mark.parametrize("name", accepted.OFFSETS)


def notes(source: str, version: Version = NEWEST) -> tuple[Note, ...]:
    text = SourceText(Path("kernels.py"), source)
    file = python_file(text)
    return tuple(note for k in find_kernels(file.tree, text, version) for note in k.notes)


def findings(source: str, rule: ModuleType) -> list[Finding]:
    text = SourceText(Path("kernels.py"), source)
    file = python_file(text)
    kernels = find_kernels(file.tree, text)
    return [finding for kernel in kernels for finding in rule.check_kernel(kernel, file)]


def repaired(source: str, rule: ModuleType) -> str:
    """With all fixes, one after the other."""
    for _ in range(4):
        edits = [finding.fix.edits for finding in findings(source, rule) if finding.fix]
        if not edits:
            break
        source = apply_edits(source, edits[0])
    return source


class Compiler:
    """Collects kernels, and compiles all of them in one process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs: dict[object, Job] = {}

    def add(
        self,
        key: object,
        source: str,
        dtype: str,
        s: str = "fp32",
        constants: dict[str, object] | None = None,
    ) -> None:
        path = self.folder / f"kernel_{len(self.jobs)}.py"
        path.write_text(source.partition("\ndef launch(")[0])
        types = {"p": f"*{dtype}", "o": f"*{dtype}", "s": s, "t": s, "flag": "u1"}
        types |= {"n": "i32", "stride": "i32"}
        self.jobs[key] = Job(str(path), "kernel", types, {"C": 1} | (constants or {}))

    def errors(self) -> dict[object, str]:
        return dict(zip(self.jobs, verdicts(list(self.jobs.values()), self.folder), strict=True))


def asserting(source: str, name: str, dtypes: Iterable[str]) -> str:
    """A kernel that compiles if a variable has one of some dtypes."""
    test = " or ".join(f"{name}.dtype == tl.{dtype}" for dtype in dtypes)
    end = source.index("\n\n\ndef launch(")
    return f"{source[:end]}\n    tl.static_assert({test}){source[end:]}"


HALVES = ("bfloat16", "float16")
HALVES_OF_TRITON = ("bf16", "fp16")


def of_sum(name: str) -> str:
    expression, _ = accepted.SUMS[name]
    return accepted.source(f"found = {expression}\ntl.store(o + offs, found + x)")


def of_accumulator(name: str) -> str:
    body, _ = accepted.ACCUMULATORS[name]
    return accepted.source(f"{body}\ntl.store(o + offs, acc)")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[object, str]:
    """The compiler's words by kernel, state and dtype; nothing if it compiles."""
    pytest.importorskip("triton")
    compiler = Compiler(tmp_path_factory.mktemp("notes"))
    sums = [(name, of_sum(name), "found") for name in accepted.SUMS]
    sums += [(name, of_accumulator(name), "acc") for name in accepted.ACCUMULATORS]
    for dtype in DTYPES:
        for name, source, variable in sums:
            after = repaired(source, triton_half_accumulation)
            key = (variable, name)
            compiler.add((key, "half", dtype), asserting(source, variable, HALVES), dtype)
            compiler.add((key, "repaired", dtype), after, dtype)
            compiler.add((key, "wide", dtype), asserting(after, variable, ["float32"]), dtype)
        for name, (body, _, _) in accepted.DOUBLES.items():
            source = accepted.source(body)
            compiler.add((name, "float", dtype), source, dtype)
            compiler.add((name, "double", dtype), source, dtype, "fp64")
            after = repaired(source, triton_float64_scalar)
            for passed in ("fp32", "fp64", "i32"):
                for constants in PASSED:
                    key = (name, "pinned", dtype, passed, str(constants))
                    compiler.add(key, after, dtype, passed, constants)
    for name, (body, _) in accepted.OFFSETS.items():
        source = accepted.source(body)
        after = repaired(source, triton_int32_offset)
        compiler.add((name, "int32"), asserting(source, "offset", ["int32"]), "bf16")
        compiler.add((name, "int64"), asserting(after, "offset", ["int64"]), "bf16")
    return compiler.errors()


@each_sum
def test_sums(name, compiled):
    _, expected = accepted.SUMS[name]
    found = [note for note in notes(of_sum(name)) if note.kind in SUMMED]
    assert set().union(*(note.holds_for for note in found)) == expected
    assert {d for d in DTYPES if not compiled[("found", name), "half", d]} == expected


@each_accumulator
def test_accumulators(name, compiled):
    _, expected = accepted.ACCUMULATORS[name]
    found = [note for note in notes(of_accumulator(name)) if note.kind in SUMMED]
    assert set().union(*(note.holds_for for note in found)) == expected
    assert {d for d in DTYPES if not compiled[("acc", name), "half", d]} == expected


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        *(("found", name) for name, (_, dtypes) in accepted.SUMS.items() if dtypes),
        *(("acc", name) for name, (_, dtypes) in accepted.ACCUMULATORS.items() if dtypes),
    ],
)
def test_repaired_sums_compile_in_float32(variable, name, compiled):
    source = of_sum(name) if variable == "found" else of_accumulator(name)
    after = repaired(source, triton_half_accumulation)
    assert after != source
    assert findings(after, triton_half_accumulation) == []
    for dtype in DTYPES:
        assert compiled[(variable, name), "repaired", dtype] == ""
        assert compiled[(variable, name), "wide", dtype] == ""


@each_double
def test_doubles(name, compiled):
    body, parameters, is_refused = accepted.DOUBLES[name]
    found = [note for note in notes(accepted.source(body)) if note.kind == "float64"]
    assert [note.subject for note in found] == parameters
    assert [bool(note.compiler_message) for note in found] == [is_refused] * len(found)
    for dtype in DTYPES:
        assert compiled[name, "float", dtype] == ""
        error = compiled[name, "double", dtype]
        assert bool(error) == is_refused
        assert all(note.compiler_message.partition("[")[0] in error for note in found)


@each_double
def test_pinned_doubles_compile(name, compiled):
    source = accepted.source(accepted.DOUBLES[name][0])
    after = repaired(source, triton_float64_scalar)
    assert findings(after, triton_float64_scalar) == []
    assert (after != source) == bool(accepted.DOUBLES[name][1])
    if after != source:
        errors = {key: e for key, e in compiled.items() if key[:2] == (name, "pinned")}
        assert len(errors) == len(DTYPES) * 3 * len(PASSED)
        assert set(errors.values()) == {""}


@each_offset
def test_offsets(name, compiled):
    body, is_narrow = accepted.OFFSETS[name]
    source = accepted.source(body)
    found = [note for note in notes(source) if note.kind == "offset"]
    assert bool(found) == is_narrow
    assert (compiled[name, "int32"] == "") == is_narrow
    assert compiled[name, "int64"] == ""


_CONVERTED = re.compile(r"arith.constant dense<([^>]+)> : tensor<64x(?:f16|bf16)>")
_SCALAR = re.compile(r"arith.constant ([-+.\w]+) : (?:f16|bf16)\b")
_IN_TF32 = re.compile(r"tt.dot .*inputPrecision = tf32 : \S+xf32> \* \S+xf32>")
_INFINITE = {"0x7C00", "0xFC00", "0x7F80", "0xFF80"}


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], str]:
    """What the compiler makes of each number in each place, by the dtype of p: its code."""
    pytest.importorskip("triton")
    folder = tmp_path_factory.mktemp("numbers")
    keys, jobs = [], []
    for name, value in product(accepted.NUMBERS, accepted.VALUES):
        path = folder / f"kernel_{len(keys)}.py"
        path.write_text(of_number(name, value).partition("\ndef launch(")[0])
        for dtype in HALVES_OF_TRITON:
            types = {"p": f"*{dtype}", "o": f"*{dtype}", "s": "fp32", "t": "fp32", "flag": "u1"}
            types |= {"n": "i32", "stride": "i32"}
            keys.append((name, value, dtype))
            jobs.append(Job(str(path), "kernel", types, {"C": 1}, wants="code"))
    return dict(zip(keys, verdicts(jobs, folder), strict=True))


def of_number(name: str, value: str) -> str:
    expression = accepted.NUMBERS[name].format(value)
    return accepted.source(f"found = {expression}\ntl.store(o + offs, x, mask=found != 1.0)")


@pytest.mark.parametrize("name", accepted.NUMBERS)
@pytest.mark.parametrize("value", accepted.VALUES)
def test_numbers_in_half_precision(name, value, converted):
    found = {dtype: set() for dtype in HALVES_OF_TRITON}
    for note in notes(of_number(name, value)):
        for dtype in note.holds_for & found.keys():
            found[dtype].add(note.kind)
    for dtype in HALVES_OF_TRITON:
        code = converted[name, value, dtype]
        numbers = {*_CONVERTED.findall(code), *_SCALAR.findall(code)}
        is_zero = float(value) != 0 and any(set(number) <= set("-+0.e") for number in numbers)
        assert ("zero" in found[dtype]) == is_zero, code
        # Only what is multiplied by infinity is infinity or NaN for certain.
        is_infinite = bool(numbers & _INFINITE) and "*" in accepted.NUMBERS[name]
        assert ("infinity" in found[dtype]) == is_infinite, code


@pytest.mark.parametrize("name", accepted.NUMBERS)
@pytest.mark.parametrize("value", ["1e-8", "1e5"])
def test_repaired_numbers_compile(name, value, tmp_path):
    pytest.importorskip("triton")
    source = of_number(name, value)
    compiler = Compiler(tmp_path)
    after = repaired(source, triton_literal_out_of_range)
    assert (after != source) == bool(findings(source, triton_literal_out_of_range))
    assert findings(after, triton_literal_out_of_range) == []
    for dtype in DTYPES:
        compiler.add(dtype, after, dtype)
    assert compiler.errors() == dict.fromkeys(DTYPES, "")


def of_product(name: str) -> str:
    expression, _ = accepted.PRODUCTS[name]
    square = "at = offs[:, None] * 64 + offs[None, :]"
    loads = "x2, w2 = tl.load(p + at), tl.load(w + at)"
    body = f"{square}\n{loads}\ntl.store(w + at, {expression})"
    return (
        accepted.source(body)
        .replace("kernel(p, o,", "kernel(p, o, w,")
        .replace("launch(p, o,", "launch(p, o, w,")
        .replace("kernel[(1,)](p, o,", "kernel[(1,)](p, o, w.float(),")
    )


@pytest.mark.parametrize("name", accepted.PRODUCTS)
def test_products(name, tmp_path):
    pytest.importorskip("triton")
    _, loses_digits = accepted.PRODUCTS[name]
    source = of_product(name)
    assert bool(findings(source, triton_tf32_product)) == loses_digits
    for finding in findings(source, triton_tf32_product):
        assert finding.fix is not None
        after = apply_edits(source, finding.fix.edits)
        assert findings(after, triton_tf32_product) == []
    path = tmp_path / "kernel.py"
    path.write_text(source.partition("\ndef launch(")[0])
    jobs = []
    for dtype in DTYPES:
        types = {"p": f"*{dtype}", "o": f"*{dtype}", "w": "*fp32", "s": "fp32", "t": "fp32"}
        types |= {"flag": "u1", "n": "i32", "stride": "i32"}
        jobs.append(Job(str(path), "kernel", types, {"C": 1}, wants="code"))
    codes = verdicts(jobs, tmp_path)
    # What was half precision is exact in TF32.
    is_in_tf32 = loses_digits or name.startswith("converted")
    assert all(_IN_TF32.search(code) for code in codes) == is_in_tf32


@pytest.mark.parametrize(
    ("expression", "since"),
    [("x * 1e-8", (3, 2)), ("x + 1e-8", (3, 2)), ("tl.maximum(x, 1e-8)", (3, 9))],
)
def test_older_versions_take_numbers_as_float32(expression, since):
    source = accepted.source(f"tl.store(o + offs, {expression})")
    major, minor = since
    assert notes(source, (major, minor - 1)) == ()
    assert [note.kind for note in notes(source, since)] == ["zero"]


@pytest.mark.parametrize(
    ("expression", "since"),
    [("tl.sum(x, 0)", (3, 3)), ("tl.cumsum(x, 0)", (3, 9)), ("tl.cumprod(x, 0)", (3, 9))],
)
def test_older_versions_add_bfloat16_in_float32(expression, since):
    source = accepted.source(f"tl.store(o + offs, {expression} + x)")
    major, minor = since
    (before,) = notes(source, (major, minor - 1))
    (after,) = notes(source, since)
    assert before.holds_for == {"fp16"}
    assert after.holds_for == {"bf16", "fp16"}


def test_a_helper_is_noted_once():
    source = (
        accepted.source("tl.store(o + offs, x)")
        + """

@triton.jit
def total(x):
    return tl.sum(x, 0)


@triton.jit
def one(p):
    tl.store(p + tl.program_id(0), total(tl.load(p + tl.arange(0, 64))))


@triton.jit
def other(p):
    tl.store(p + tl.program_id(0), total(tl.load(p + tl.arange(0, 64))))
"""
    )
    (note,) = notes(source)
    assert source[note.span.start : note.span.end] == "tl.sum(x, 0)"


def test_sums_of_one_element_are_exact():
    picked = [
        "tl.sum(tl.where(offs == n, x, 0.0), 0)",
        "tl.sum(x * (offs == n), 0)",
        "tl.sum(tl.where((offs == n) & (offs < 9), x, 0.0).to(x.dtype), 0)",
    ]
    for expression in picked:
        assert notes(accepted.source(f"tl.store(o, {expression})")) == ()


def test_hostile_kernels_take_linear_time():
    def seconds(size: int) -> float:
        lines = ["at = o + offs", *["tl.store(at, tl.load(at) + 1.0)"] * size]
        lines += ["y = 0.0", *["y = y * s + tl.program_id(0) * stride"] * size]
        source = accepted.source("\n".join([*lines, "tl.store(o, y)"]))
        start = process_time()
        notes(source)
        return process_time() - start

    assert seconds(2000) < 8 * seconds(500)
