"""What functions of the project return after the project's own decorators."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import calls_of, described, last_call

HELPERS = """
import functools

def narrow(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs).to(torch.bfloat16)
    return inner

def widen(f):
    def inner(*args, **kwargs):
        return f(*args, **kwargs).float()
    return inner

def takes(dtype):
    def decorate(f):
        @functools.wraps(f)
        def inner(x, *rest):
            return f(x.to(dtype), *rest)
        return inner
    return decorate

def listed(f):
    LISTED.append(f)
    return f

class Narrow:
    def __init__(self, f):
        self.f = f

    def __call__(self, *args):
        return self.f(*args).bfloat16()

LISTED = []
wide, half = torch.ones(2), torch.ones(2).bfloat16()
"""
IMPORT = "from helpers import narrow, widen, takes, listed, Narrow, wide, half\nimport helpers\n"
FORMS = [
    ("a result", "@narrow\ndef f(x): return x\n", "f(wide)", "bfloat16"),
    ("a result in float32", "@widen\ndef f(x): return x\n", "f(half)", "float32"),
    ("by its module", "@helpers.narrow\ndef f(x): return x\n", "f(wide)", "bfloat16"),
    ("the input", "@takes(torch.bfloat16)\ndef f(x): return x\n", "f(wide)", "bfloat16"),
    ("the input widened", "@takes(torch.float32)\ndef f(x): return x\n", "f(half)", "float32"),
    ("by keyword", "@takes(dtype=torch.float32)\ndef f(x): return x\n", "f(half)", "float32"),
    (
        "another input",
        "@takes(torch.bfloat16)\ndef f(x, y): return y\n",
        "f(wide, wide)",
        "float32",
    ),
    ("two, the outer last", "@widen\n@narrow\ndef f(x): return x\n", "f(wide)", "float32"),
    ("two, the inner first", "@narrow\n@widen\ndef f(x): return x\n", "f(wide)", "bfloat16"),
    ("one of a library", "@torch.no_grad()\ndef f(x): return x\n", "f(half)", "bfloat16"),
    ("between others", "@widen\n@torch.no_grad()\ndef f(x): return x\n", "f(half)", "float32"),
    ("the function itself", "@listed\ndef f(x): return x\n", "f(half)", "bfloat16"),
    ("a class", "@Narrow\ndef f(x): return x\n", "f(wide)", "bfloat16"),
    (
        "a method",
        "class C:\n    @narrow\n    def f(self, x): return x\n",
        "C().f(wide)",
        "bfloat16",
    ),
    (
        "a method in float32",
        "class C:\n    @widen\n    def f(self, x): return x\n",
        "C().f(half)",
        "float32",
    ),
    (
        "a static method",
        "class C:\n    @staticmethod\n    @widen\n    def f(x): return x\n",
        "C().f(half)",
        "float32",
    ),
    ("without it", "def f(x): return x\n", "f(wide)", "float32"),
]


@pytest.mark.parametrize(
    ("definition", "call", "expected"),
    [form[1:] for form in FORMS],
    ids=[form[0] for form in FORMS],
)
def test_results(definition: str, call: str, expected: str, tmp_path: Path) -> None:
    main = f"{IMPORT}{definition}def main():\n    {call}.numpy()\n"
    found = last_call(tmp_path, helpers=HELPERS, main=main)
    assert described(found.receiver) == expected


def test_in_the_same_file_at_the_top(tmp_path: Path) -> None:
    main = f"{HELPERS}@narrow\ndef f(x):\n    return x\nf(wide).numpy()\n"
    assert described(last_call(tmp_path, main=main).receiver) == "bfloat16"


INSIDE = [
    ("handed on", "narrow", "bfloat16"),
    ("by an object", "Narrow", "bfloat16"),
    ("cast on the way", "takes(torch.float32)", "Unknown"),
]


@pytest.mark.parametrize(
    ("decorator", "expected"), [form[1:] for form in INSIDE], ids=[form[0] for form in INSIDE]
)
def test_what_the_function_gets(decorator: str, expected: str, tmp_path: Path) -> None:
    main = f"{IMPORT}@{decorator}\ndef f(x):\n    x.numpy()\n    return x\nf(half)\n"
    (call,) = calls_of(tmp_path, helpers=HELPERS, main=main)
    assert described(call.receiver) == expected
