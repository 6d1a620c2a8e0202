"""What a rejection says beside that there is one: how sure it is, its words, its remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.context import PythonFile
from precision_lint.facts.triton.certainty import certainty, severity
from precision_lint.facts.triton.kernels import find_kernels
from precision_lint.facts.triton.language import NEWEST, Version
from precision_lint.facts.triton.rejections import ReportedError
from precision_lint.model.finding import Confidence, Severity
from precision_lint.source.text.text import SourceText
from tests.context import python_file, recording
from tests.facts.triton import branches, refusals

HEAD = """\
import torch
import triton
import triton.language as tl
{helpers}

@triton.autotune([], [])
@triton.jit
def kernel(p, q, o, s, flag, n, C: tl.constexpr, D: tl.constexpr):
    offs = tl.arange(0, 64)
    x = tl.load(p + offs)
"""


def parsed(source: str, root: Path = Path("/nowhere"), name: str = "kernels.py") -> PythonFile:
    project = recording(root, exclude=("*",) if root == Path("/nowhere") else ())
    return python_file(SourceText(root / name, source), project)


def rejected(source: str, version: Version = NEWEST) -> list[ReportedError]:
    file = parsed(source)
    return [r for kernel in find_kernels(file.tree, file.text, version) for r in kernel.rejections]


def kernel(body: str, helpers: str = "", launch: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return HEAD.format(helpers=helpers) + lines + launch


@pytest.mark.parametrize(
    ("body", "always"),
    [
        ("a = 0\nfor i in range(n):\n    a += tl.sum(x, 0)", False),
        ("a = 0\nfor i in range(n):\n    a += tl.sum(x.to(tl.float32), 0)", True),
        ("y = tl.dot(x[:, None] * x[None, :], tl.zeros([64, 64], tl.float8e5))", False),
        ("x = tl.exp(x.to(tl.bfloat16))", True),
        ("x = tl.exp(x)", False),
    ],
)
def test_a_pointer_may_hold_integers_and_fp8(body, always):
    (rejection,) = rejected(kernel(body))
    assert rejection.always is always


@pytest.mark.parametrize(
    ("body", "is_conditional"),
    [
        ("x = tl.exp(x)", False),
        ("if C:\n    x = tl.exp(x)", True),
        ("x = tl.exp(x) if C else x", True),
        ("if C and tl.max(tl.exp(x), 0) > 0:\n    n = n", True),
        ("for i in range(n):\n    if C:\n        x = x * s", True),
        ("for i in range(n):\n    x = x * s", False),
    ],
)
def test_what_depends_on_a_compile_time_choice(body, is_conditional):
    (rejection,) = rejected(kernel(body))
    assert rejection.is_conditional is is_conditional


@pytest.mark.parametrize(
    "body",
    [
        "if C:\n    if not C:\n        x = tl.exp(x)",
        "if C == 1:\n    n = n\nelif C:\n    if C == 1:\n        x = tl.exp(x)",
        "if C:\n    n = n\nelif C and flag:\n    x = tl.exp(x)",
        "x = x if C else tl.exp(x) if C and flag else x",
        "if C:\n    y = x\nif C:\n    x = y",
        "for i in tl.static_range(2):\n    if i < 1:\n        y = x\n    else:\n        x = y",
        "for i in (tl.static_range(2) if C else tl.range(2)):\n    x = x * s",
        "try:\n    y = x\nfinally:\n    x = y",
        "y = C\nif y is None:\n    y = x\n    if y is None:\n        x = tl.exp(n)",
        "x = other_module_function(x)\nx = tl.exp(x)",
        "x = x[0]\nx = tl.exp(x)",
    ],
)
def test_doubt_silences(body):
    assert rejected(kernel(body)) == []


_LAUNCH = "def f(t, o):\n    kernel[1](t, t, o, 1.0, True, 3)"


@pytest.mark.parametrize(
    ("body", "launch", "expected"),
    [
        ("x = tl.exp(x)", "", Confidence.LOW),
        ("x = tl.exp(x)", "def f(t, o):\n    kernel[1](t, t, o, 1.0, True, 3)", Confidence.LOW),
        (
            "x = tl.exp(x)",
            "def f(t):\n    o = torch.empty_like(t)\n    kernel[1](t, t, o, 1.0, True, 3)",
            Confidence.MEDIUM,
        ),
        (
            "x = tl.exp(x) + tl.load(q)",
            "def f(t):\n    o = torch.empty_like(t)\n    kernel[1](t, t, o, 1.0, True, 3)",
            Confidence.LOW,
        ),
        (
            "x = tl.exp(x)",
            "def f(t):\n    h = t.half()\n    kernel[1](h, h, h, 1.0, True, 3)",
            Confidence.HIGH,
        ),
        ("y = x.to(tl.float32)\nx = tl.exp(x)", _LAUNCH, Confidence.LOW),
        ("y = x.to(tl.float32)\nx = tl.exp(x)", "", Confidence.LOW),
        ("if C:\n    y = x.to(tl.float32)\n    x = tl.exp(x)", "", Confidence.LOW),
        ("for i in range(n):\n    x = x * s", _LAUNCH, Confidence.MEDIUM),
        ("for i in range(n):\n    x = x * n", "", Confidence.LOW),
        ("y = 0.0\nfor i in range(n):\n    y = tl.load(p)", "", Confidence.LOW),
        ("if C:\n    x = tl.exp(x.to(tl.float16))", _LAUNCH, Confidence.MEDIUM),
    ],
)
def test_how_sure_a_finding_is(body, launch, expected, tmp_path):
    source = kernel(body, launch=f"\n\nHALF = torch.bfloat16\n\n\n{launch}\n")
    (tmp_path / "kernels.py").write_text(source)
    file = parsed(source, tmp_path)
    (found,) = find_kernels(file.tree, file.text, NEWEST, file.project)
    (rejection,) = found.rejections
    assert certainty(rejection, found, file) is expected


def test_little_evidence_is_no_error():
    assert severity(Confidence.LOW) is Severity.WARNING
    assert severity(Confidence.MEDIUM) is severity(Confidence.HIGH) is Severity.ERROR


@pytest.mark.parametrize(
    ("body", "version", "words"),
    [
        (
            "if flag:\n    x = s * x",
            (3, 2),
            "initial value for `x` is of type <[...], bf16>, but the then block redefines it as "
            "<[...], fp32>",
        ),
        (
            "if flag:\n    x = s * x",
            (3, 3),
            "initial value for `x` is of type bf16[...], but the then block redefines it as "
            "fp32[...]",
        ),
        (
            "if flag:\n    y = s * x\nelse:\n    y = x",
            (3, 1),
            "mismatched type for y between then block (<[...], fp32>) and else block "
            "(<[...], bf16>)",
        ),
        (
            "x = s * x if flag else x",
            (3, 1),
            "ternary expression with dynamic condition has inconsistent types <[...], fp32> and "
            "<[...], bf16>",
        ),
        ("x = two_returns(x, s, flag)", (3, 5), "Inconsistent return types: "),
        ("x = two_returns(x, s, flag)", (3, 7), "Return type mismatch: "),
        ("f2 = tl.dot(x2, f2)", (3, 1), "First input (bf16) and second input (fp32) must have"),
        ("f2 = tl.dot(x2, f2)", (3, 5), "Both operands must be same dtype. Got bf16 and fp32"),
        ("tl.atomic_add(p + offs, x)", (3, 3), "atomic_add does not support bf16"),
        ("f2 = tl.dot(x2.to(tl.bfloat16), x2.to(tl.bfloat16), x2.to(tl.float16))", (3, 7), ""),
        ("t = (x, x)\nx = t[0]", (3, 1), "unsupported tensor index"),
    ],
)
def test_older_versions_in_their_words(body, version, words):
    first = rejected(refusals.source(body), version)[0]
    assert first.compiler_message.startswith(words)
    assert bool(first.compiler_message) is bool(words)
    assert first.compiler_message in first.compiler_says


@pytest.mark.parametrize("version", [(3, 5), (3, 9)])
def test_atomic_add_of_bf16_is_new(version):
    assert rejected(refusals.source("tl.atomic_add(p + offs, x)"), version) == []


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("for i in range(n):\n    x = s * x", ("bf16", "fp32")),
        ("y = s\nfor i in range(n):\n    y = x.to(tl.float32)", ("a scalar", "a block")),
        ("y = x\nfor i in range(n):\n    y = tl.sum(x.to(tl.float32), 0)", ("a block", "a scalar")),
        (
            "y = p\nif flag:\n    y = q.to(tl.pointer_type(tl.int8))",
            ("pointer<bf16>", "pointer<int8>"),
        ),
        (
            "y = (x, s)\nfor i in range(n):\n    y = (s, s)",
            ("[bf16[...], fp32[]]", "[fp32[], fp32[]]"),
        ),
    ],
)
def test_what_differs_is_shown(body, shown):
    (rejection,) = rejected(kernel(f"{body}\ntl.store(q + offs, tl.load(p) * s)"))
    assert rejection.shown == shown


def test_few_iterations_are_unrolled_one_by_one():
    twice = "for i in tl.static_range(0, {}):\n    if i == 3:\n        x = tl.exp(x)"
    assert rejected(kernel(twice.format(3))) == []
    (rejection,) = rejected(kernel(twice.format(4)))
    assert not rejection.is_conditional
    (rejection,) = rejected(kernel(twice.format(40)))
    assert rejection.is_conditional


HELPER = """
@triton.jit
def softplus(x):
    return tl.log(1.0 + tl.exp(x))

"""


def test_a_remedy_in_a_helper_is_not_safe():
    (inside,) = rejected(kernel("x = tl.exp(x)"))
    (helper,) = rejected(kernel("x = softplus(x)", HELPER))
    assert inside.remedy is not None
    assert inside.remedy.is_safe
    assert helper.remedy is not None
    assert not helper.remedy.is_safe


def test_a_helper_of_another_file_is_told_at_the_call(tmp_path):
    imports = "import triton\nimport triton.language as tl\n"
    (tmp_path / "helpers.py").write_text(imports + HELPER)
    (tmp_path / "between.py").write_text("from helpers import softplus as soft\n")
    source = kernel("y = soft(x.to(tl.float32))\nx = soft(x)", "from between import soft")
    (tmp_path / "kernels.py").write_text(source)
    file = parsed(source, tmp_path)
    (found,) = find_kernels(file.tree, file.text, NEWEST, file.project)
    (rejection,) = found.rejections
    assert file.text[rejection.span] == "soft(x)"
    assert rejection.remedy is None
    (related,) = [r for r in rejection.related if r.place.path != file.text.path]
    assert related.place.path == tmp_path / "helpers.py"
    assert related.place.start.row == 6


def test_files_that_import_each_other_end(tmp_path):
    imports = "import triton\nimport triton.language as tl\n"
    helper = "\n@triton.jit\ndef {name}(x):\n    return {other}(x) + tl.exp(x)\n"
    (tmp_path / "one.py").write_text(
        f"{imports}from two import b\n" + helper.format(name="a", other="b")
    )
    (tmp_path / "two.py").write_text(
        f"{imports}from one import a\n" + helper.format(name="b", other="a")
    )
    source = kernel("x = a(x)", "from one import a")
    (tmp_path / "kernels.py").write_text(source)
    file = parsed(source, tmp_path)
    (found,) = find_kernels(file.tree, file.text, NEWEST, file.project)
    assert {rejection.kind for rejection in found.rejections} == {"math"}


def test_many_rejections_end():
    found = rejected(kernel("y = tl.exp(x)\n" * 1500))
    assert len(found) == 1500
    assert found[0].remedy is not None
    assert found[-1].remedy is None


def test_a_branch_is_still_a_branch():
    kinds = {
        name: {r.kind for r in rejected(branches.source(body))}
        for name, (body, expected) in branches.BRANCHES.items()
        if expected
    }
    assert set().union(*kinds.values()) == {"branch", "mismatch"}
    assert kinds["new"] == {"mismatch"}
    assert kinds["cast"] == {"branch"}
