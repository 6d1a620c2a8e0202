"""Contexts that a function or a class is given: some of them are regions of autocast."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

BF16 = "torch.autocast('cpu', dtype=torch.bfloat16)"
PARTIAL = "functools.partial(torch.autocast, 'cpu', dtype=torch.bfloat16)"
SWITCH = (
    "p = argparse.ArgumentParser()\np.add_argument('--amp', action='store_true')\n"
    "args = p.parse_args()\n"
)
HEAD = "import argparse, contextlib, functools\n"
IN_FUNCTION = (
    "def f(net: nn.Module, x, ctx):\n    with {opened}:\n        y = net(x)\n    y.numpy()\n"
)
IN_METHOD = (
    "class T:\n    def __init__(self, net, ctx):\n        self.net, self.ctx = net, ctx\n"
    "    def f(self, x):\n        with self.{opened}:\n            y = self.net(x)\n"
    "        y.numpy()\n"
)
LINEAR, ONES = "nn.Linear(2, 2)", "torch.ones(2, 2)"
CONTEXTS = [
    ("a region", "ctx", BF16, "bfloat16"),
    ("what makes one", "ctx()", PARTIAL, "bfloat16"),
    ("a function that makes one", "ctx()", f"lambda: {BF16}", "bfloat16"),
    ("a region under a switch", "ctx", f"{BF16[:-1]}, enabled=args.amp)", "bfloat16 chosen"),
    ("one of two", "ctx", f"{BF16} if args.amp else contextlib.nullcontext()", "bfloat16 chosen"),
    ("a region that is off", "ctx", "torch.autocast('cpu', enabled=False)", "float32"),
    ("a context that does nothing", "ctx", "contextlib.nullcontext()", "float32"),
    ("its class", "ctx()", "contextlib.nullcontext", "float32"),
    ("a stream", "ctx", "torch.cuda.stream(None)", "float32"),
]


@pytest.mark.parametrize(
    ("opened", "context", "expected"), [case[1:] for case in CONTEXTS], ids=[x[0] for x in CONTEXTS]
)
def test_contexts(opened: str, context: str, expected: str, tmp_path: Path) -> None:
    of_function = (
        f"{HEAD}{SWITCH}{IN_FUNCTION.format(opened=opened)}f({LINEAR}, {ONES}, {context})\n"
    )
    of_method = f"{HEAD}{SWITCH}{IN_METHOD.format(opened=opened)}T({LINEAR}, {context}).f({ONES})\n"
    for source in (of_function, of_method):
        found = set(described(last_call(tmp_path, main=source).receiver).split())
        assert found <= {*expected.split(), "float32"}
        assert ("bfloat16" in expected) == ("bfloat16" in found)


INSIDE = [
    ("a product", "y = net(x) @ x\n    y.numpy()", "bfloat16"),
    ("float32 by the list of CUDA", "y = net(x).softmax(-1)\n    y.numpy()", "float32"),
    ("one dtype with it", "y = net(x).softmax(-1) + 1\n    y.numpy()", "float32"),
    ("cast", "y = net(x).float()\n    y.numpy()", "float32"),
    (
        "cast where it is bfloat16",
        "y = net(x)\n    if y.dtype == torch.bfloat16:\n        y = y.float()\n    y.numpy()",
        "float32",
    ),
    (
        "an outer region is the one",
        "with torch.autocast('cuda', dtype=torch.bfloat16), ctx:\n            y = net(x)\n"
        "    y.numpy()",
        "bfloat16",
    ),
]


@pytest.mark.parametrize(
    ("body", "expected"), [case[1:] for case in INSIDE], ids=[case[0] for case in INSIDE]
)
def test_what_is_computed_in_a_given_region(body: str, expected: str, tmp_path: Path) -> None:
    context = "torch.autocast('cuda', dtype=torch.bfloat16)"
    main = (
        f"def f(net: nn.Module, x, ctx):\n    with ctx:\n        {body}\n"
        f"f({LINEAR}, {ONES}, {context})\n"
    )
    found = described(last_call(tmp_path, main=main).receiver)
    assert ("bfloat16" in found) == ("bfloat16" in expected), found
