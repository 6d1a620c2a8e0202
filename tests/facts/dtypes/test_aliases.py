"""A module that is cast under another name: programs that run, of which nothing may be said."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

pytest.importorskip("torch")

from precision_lint.api import Confidence, Settings, lint_project

SETTINGS = Settings(preview=True, min_confidence=Confidence.LOW)

IMPORTS = """\
import copy

import torch
from torch import nn


"""

DEFINITIONS = f"""\
{IMPORTS}class Outer(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)

    def narrow(self):
        self.inner.half()


class Nested(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.layers = nn.Sequential(inner, nn.ReLU())


class Deep(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.outer = Outer(inner)


class Holder:
    def __init__(self, model):
        self.model = model


class Narrowing:
    def __init__(self, model):
        self.model = model.half()


class Made(nn.Module):
    def __init__(self, also=None):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.also = also

    def forward(self, x):
        return self.layer(x)


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = self.two = Made()


class Listed(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Made(), Made()])

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.listed = Listed()

    def forward(self, x):
        return self.listed(x)


def make():
    return Made()


def wrapped(module):
    return Outer(module)


def narrow(module):
    return module.half()


def narrow_inner(outer):
    outer.inner.half()


def prepare(outer):
    print("in float16")
    narrow_inner(outer)


"""

CASTS = [
    ("the result of the cast has a name", "other = inner.half()"),
    ("the result is moved on", "other = inner.to(torch.float16).eval()"),
    ("the result is printed", "print(inner.half())"),
    ("the result is called", "inner.half()(x.half())"),
    ("the result is an entry", "parts = {'inner': inner.half()}"),
    ("each of some modules", "parts = [each.half() for each in (inner,)]"),
    ("a loop over modules", "for each in [inner]:\n        each.half()"),
    ("an entry of a mapping", "parts = {'inner': inner}\n    parts['inner'].half()"),
    ("an object that keeps it", "outer = Outer(inner)\n    outer.inner.half()"),
    ("the object is cast", "outer = Outer(inner)\n    outer.half()"),
    ("the object is cast as it is made", "outer = Outer(inner).half()"),
    ("the cast object has its name", "outer = Outer(inner)\n    outer = outer.to(torch.float16)"),
    ("what the object keeps has a name", "kept = Outer(inner).inner\n    kept.half()"),
    ("an object that a function makes", "outer = wrapped(inner)\n    outer.half()"),
    ("an object in an object", "deep = Deep(inner)\n    deep.outer.inner.half()"),
    ("an object around an object", "deep = Deep(inner)\n    deep.half()"),
    ("an object that is no module", "holder = Holder(inner)\n    holder.model.half()"),
    ("the attribute is assigned", "h = Holder(model=inner)\n    h.model = h.model.half()"),
    ("a chain in an object", "nested = Nested(inner)\n    nested.half()"),
    ("a chain", "chain = nn.Sequential(inner, nn.ReLU())\n    chain.half()"),
    ("a chain that is cast as it is made", "chain = nn.Sequential(inner, nn.ReLU()).half()"),
    ("a layer of a chain", "chain = nn.Sequential(inner, nn.ReLU())\n    chain[0].half()"),
    ("a list of modules", "both = nn.ModuleList([inner])\n    both.half()"),
    ("a wrapper of torch", "outer = nn.DataParallel(inner)\n    outer.half()"),
    ("a method", "outer = Outer(inner)\n    outer.narrow()"),
    ("a function", "narrow(inner)"),
    ("a function whose result has a name", "other = narrow(inner)"),
    ("a function that is given the object", "outer = Outer(inner)\n    narrow_inner(outer)"),
    ("a function that calls another one", "outer = Outer(inner)\n    prepare(outer)"),
    ("a constructor", "Narrowing(inner)"),
    ("a function without a name", "cast = lambda: inner.half()\n    cast()"),
]

COPIES = [
    ("a copy stays", "other = copy.deepcopy(inner)\n    inner.half()\n    other(x)"),
    ("the module stays", "other = copy.deepcopy(inner).half()\n    inner(x)\n    other(x.half())"),
    ("another object of its class", "a = Made()\n    b = Made().half()\n    a(x)\n    b(x.half())"),
    (
        "another object, cast alone",
        "a = Made()\n    b = Made()\n    b.half()\n    a(x)\n    b(x.half())",
    ),
    (
        "another object of a function",
        "a = make()\n    b = make().half()\n    a(x)\n    b(x.half())",
    ),
    ("a part of it", "a = Made()\n    b = Made()\n    b.layer.half()\n    a(x)\n    b(x.half())"),
    ("modules in a list", "a = Listed().half()\n    a(x.half())"),
    ("modules in a list of a part", "a = Around().half()\n    a(x.half())"),
    (
        "modules in a list, cast later",
        "a = Around()\n    a.half()\n    a.listed.parts[0](x.half())",
    ),
    ("one part under two names", "a = Twice()\n    a.one.half()\n    a.two(x.half())"),
    ("a part that it was given", "a = Made(also=inner)\n    a.half()\n    inner(x.half())"),
    (
        "another object with the same part",
        "a = Made(inner)\n    b = Made(inner)\n    b.half()\n    a.also(x.half())\n    a(x)",
    ),
]


def _at_the_top(text: str) -> str:
    return "\n".join(line.removeprefix("    ") for line in text.splitlines())


def _programs() -> list[Any]:
    start = "    inner = nn.Linear(8, 8)\n    x = torch.randn(2, 8)\n    "
    bodies = [(name, f"{start}{cast}\n    inner(x.half())\n") for name, cast in CASTS]
    bodies += [(name, f"{start}{uses}\n") for name, uses in COPIES]
    return [
        pytest.param(text, id=f"{name}, {where}")
        for name, body in bodies
        for where, text in (
            ("at the top", DEFINITIONS + _at_the_top(body)),
            ("in a function", f"{DEFINITIONS}def main():\n{body}\n\nmain()\n"),
        )
    ]


@pytest.mark.parametrize("source", _programs())
def test_a_module_that_another_name_casts(source: str) -> None:
    exec(compile(source, "program.py", "exec"), {"__name__": "__main__"})
    assert not lint_project({"program.py": source.encode()}, SETTINGS).records


CAST_AND_WRONG = [
    ("the result has a name", "other = inner.half()\n    inner(x)"),
    ("the result is printed", "print(inner.half())\n    inner(x)"),
    ("a copy", "other = copy.deepcopy(inner).half()\n    other(x)"),
]


@pytest.mark.parametrize(("name", "uses"), CAST_AND_WRONG)
def test_the_cast_is_known_under_every_name(name: str, uses: str) -> None:
    body = f"    inner = nn.Linear(8, 8)\n    x = torch.randn(2, 8)\n    {uses}\n"
    source = IMPORTS + _at_the_top(body)
    with pytest.raises(RuntimeError) as raised:
        exec(compile(source, "program.py", "exec"), {"__name__": "__main__"})
    (row,) = [
        frame.lineno
        for frame in traceback.extract_tb(raised.value.__traceback__)
        if frame.filename == "program.py"
    ]
    found = lint_project({"program.py": source.encode()}, Settings()).records
    assert [(each["code"], each["location"]["row"]) for each in found] == [("MP410", row)]
