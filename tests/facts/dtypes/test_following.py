"""What is followed beyond a body: functions, callers, classes, modules and settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.dtypes.domain.values import Tensor
from tests.facts.dtypes.following import HEAD, calls_of, described, last_call

FUNCTIONS = [
    ("a cast inside", "def f(x):\n    return x.half()\n", "f(torch.ones(2))", "float16"),
    (
        "what is passed through",
        "def f(x):\n    return x\n",
        "f(torch.ones(2).bfloat16())",
        "bfloat16",
    ),
    (
        "two branches",
        "def f(x, a):\n    if a:\n        return x.half()\n    return x\n",
        "f(torch.ones(2), a)",
        "float16 float32",
    ),
    (
        "a keyword",
        "def f(x, dtype):\n    return x.to(dtype)\n",
        "f(a, dtype=torch.half)",
        "float16",
    ),
    ("a default", "def f(x, dtype=torch.half):\n    return x.to(dtype)\n", "f(a)", "float16"),
    (
        "positional stars",
        "def f(*xs):\n    return xs[0]\n",
        "f(torch.ones(2).half(), 1)",
        "float16",
    ),
    ("a lambda", "f = lambda x: x.half()\n", "f(torch.ones(2))", "float16"),
    (
        "a closure",
        "def f(x):\n    dtype = torch.half\n    def g(y):\n        return y.to(dtype)\n"
        "    return g(x)\n",
        "f(torch.ones(2))",
        "float16",
    ),
    (
        "recursion",
        "def f(x, n):\n    return f(x, n - 1) if n else x.half()\n",
        "f(torch.ones(2), 3)",
        "float16",
    ),
    (
        "mutual recursion",
        "def f(x, n):\n    return g(x, n - 1) if n else x.half()\n"
        "def g(x, n):\n    return f(x, n - 1)\n",
        "f(torch.ones(2), 3)",
        "float16",
    ),
    (
        "a list that is filled",
        "def f(xs, x):\n    xs.append(x.half())\nxs = []\nf(xs, torch.ones(2))\n",
        "xs[0]",
        "float16",
    ),
    ("map", "def f(x):\n    return x.half()\n", "list(map(f, [torch.ones(2)]))[0]", "float16"),
    (
        "a generator",
        "def f(n):\n    for i in range(n):\n        yield torch.ones(2).half()\n",
        "next(iter(f(3)))",
        "float16",
    ),
    (
        "a stub says what it is annotated with",
        "def f(x) -> torch.Tensor: ...\n",
        "f(1)",
        "chosen partial",
    ),
    (
        "a list for each key",
        "from collections import defaultdict\ndef f():\n    held = defaultdict(list)\n"
        "    held['a'].append(torch.ones(2).half())\n    held['b'].append(torch.ones(2))\n"
        "    return held['a'][0]\n",
        "f()",
        "float16",
    ),
    (
        "a key that is missing",
        "from collections import defaultdict\ndef f():\n"
        "    held = defaultdict(lambda: torch.ones(2).half())\n    held['a'] = torch.ones(2)\n"
        "    return held['b']\n",
        "f()",
        "float16",
    ),
    (
        "a list that is set first",
        "def f():\n    held = {}\n    held.setdefault('a', []).append(torch.ones(2).half())\n"
        "    held.setdefault('a', []).append(torch.ones(2))\n    return held['a'][1]\n",
        "f()",
        "float32",
    ),
    (
        "a member of an enumeration",
        "import enum\nclass D(enum.Enum):\n    HALF = torch.half\n",
        "torch.ones(2).to(D.HALF.value)",
        "float16",
    ),
    (
        "some arguments",
        "from functools import partial\ndef f(x, dtype):\n    return x.to(dtype)\n"
        "g = partial(f, dtype=torch.half)\n",
        "g(torch.ones(2))",
        "float16",
    ),
    (
        "some arguments, twice",
        "from functools import partial\ndef f(x, y, dtype):\n    return y.to(dtype)\n"
        "g = partial(partial(f, 1), dtype=torch.half)\n",
        "g(torch.ones(2))",
        "float16",
    ),
    (
        "some arguments of a function of torch",
        "import functools\nzeros = functools.partial(torch.zeros, dtype=torch.half)\n",
        "zeros(3)",
        "float16",
    ),
    (
        "some arguments, for each item",
        "from functools import partial\ndef f(x, dtype):\n    return x.to(dtype)\n",
        "list(map(partial(f, dtype=torch.half), [torch.ones(2)]))[0]",
        "float16",
    ),
    (
        "a tensor like one that is not known",
        "def f(x):\n    return x.new_zeros(2, dtype=torch.half)\n",
        "f(a)",
        "float16",
    ),
]


@pytest.mark.parametrize(
    ("definitions", "expression", "expected"), [case[1:] for case in FUNCTIONS],
    ids=[case[0] for case in FUNCTIONS],
)  # fmt: skip
def test_functions(definitions: str, expression: str, expected: str, tmp_path: Path) -> None:
    call = last_call(tmp_path, main=f"{definitions}y = {expression}\ny.numpy()\n")
    assert described(call.receiver) == expected


CALLERS = [
    ("one caller", "def f(x):\n    return x.numpy()\nf(torch.ones(2).half())\n", "float16"),
    (
        "callers are joined",
        "def f(x):\n    return x.numpy()\nf(torch.ones(2).half())\nf(torch.ones(2))\n",
        "float16 float32",
    ),
    (
        "callers know better than an annotation",
        "def f(x: torch.Tensor):\n    return x.numpy()\nf(torch.ones(2))\n",
        "float32",
    ),
    ("no caller", "def f(x: torch.Tensor):\n    return x.numpy()\n", "chosen partial"),
    (
        "a caller of a caller",
        "def f(x):\n    return x.numpy()\ndef g(y):\n    f(y.cpu())\ng(torch.ones(2).half())\n",
        "float16",
    ),
    (
        "keywords that are handed on",
        "def f(x, **rest):\n    return x.numpy()\ndef g(**kwargs):\n    f(**kwargs)\n"
        "g(x=torch.ones(2).half(), y=torch.ones(2))\n",
        "float16",
    ),
    (
        "a copy of keywords",
        "def f(**kwargs):\n    dict(kwargs)['x'].numpy()\nf(x=torch.ones(2).half())\n",
        "float16",
    ),
    (
        "a function that calls itself for what it holds",
        "def f(x):\n    if isinstance(x, (list, tuple)):\n        return [f(y) for y in x]\n"
        "    if isinstance(x, dict):\n        return {k: f(y) for k, y in x.items()}\n"
        "    return x.numpy()\nf({'a': [torch.ones(2).half()]})\n",
        "float16 partial",
    ),
    (
        "an object that is tested for twice",
        "x = torch.load('a')['x']\nif isinstance(x, torch.Tensor):\n    pass\n"
        "if torch.is_tensor(x):\n    x.numpy()\n",
        "chosen",
    ),
    (
        "tensors of a file",
        "from safetensors.torch import load_file\ndef f(x):\n    return x.numpy()\n"
        "f(load_file('a')['x'])\n",
        "chosen",
    ),
]


@pytest.mark.parametrize(
    ("source", "expected"), [case[1:] for case in CALLERS], ids=[case[0] for case in CALLERS]
)
def test_callers(source: str, expected: str, tmp_path: Path) -> None:
    assert described(last_call(tmp_path, main=source).receiver) == expected


TERMS = [
    (
        "a caller five calls away",
        "".join(f"def f{n}(x):\n    f{n + 1}(x.cpu())\n" for n in range(5))
        + "f0(torch.ones(2).half())\ndef f5(x):\n    x.numpy()\n",
        "float16",
    ),
    (
        "an item of what is given",
        "def f(batch):\n    batch['x'][0].numpy()\nf({'x': [torch.ones(2).half()]})\n",
        "float16",
    ),
    (
        "items of a mapping that is given",
        "def f(d):\n    for k, v in d.items():\n        v.numpy()\n"
        "f({'x': torch.ones(2).half()})\n",
        "float16",
    ),
    (
        "one of two that are unpacked",
        "def f(p):\n    a, b = p\n    b.numpy()\nf((torch.ones(2), torch.ones(2).half()))\n",
        "float16",
    ),
    (
        "what a function that is given returns",
        "def g():\n    return torch.ones(2).half()\ndef f(make):\n    make().numpy()\nf(g)\n",
        "float16",
    ),
    (
        "what a method of an object that is given returns",
        "class A:\n    def x(self, dtype):\n        return torch.ones(2).to(dtype)\n"
        "def f(a):\n    a.x(torch.half).numpy()\nf(A())\n",
        "float16",
    ),
    (
        "an operator of what is given",
        "def f(x):\n    y = (x + 1) / 2\n    y.numpy()\nf(torch.ones(2).half())\n",
        "float16",
    ),
    (
        "operators of two that are given",
        "def f(x: torch.Tensor, y: torch.Tensor):\n    z = x * y\n    z.numpy()\n"
        "f(torch.ones(2).half(), torch.ones(2))\n",
        "float32",
    ),
    (
        "a dtype that is given",
        "def f(x, how):\n    x.to('cpu', how).numpy()\nf(torch.ones(2), torch.half)\n",
        "float16",
    ),
    (
        "one of two branches",
        "def f(x, y, a):\n    z = x if a else y\n    z.cpu().numpy()\n"
        "f(torch.ones(2).half(), torch.ones(2), a)\n",
        "float16 float32",
    ),
    (
        "a helper is summarized in terms of what it is given",
        "def first(xs):\n    return xs[0].cpu()\ndef f(xs):\n    first(xs).numpy()\n"
        "f([torch.ones(2).half()])\n",
        "float16",
    ),
    (
        "a function that calls itself",
        "def f(x, n):\n    if n:\n        f(x.cpu(), n - 1)\n    x.numpy()\n"
        "f(torch.ones(2).half(), 3)\n",
        "float16",
    ),
    (
        "a method of an object that is given to another object",
        "class A:\n    def show(self, x):\n        x.numpy()\n"
        "class B:\n    def __init__(self, a):\n        self.a = a\n"
        "    def run(self):\n        self.a.show(torch.ones(2).half())\nB(A()).run()\n",
        "float16",
    ),
    (
        "an attribute that other code sets",
        "class A:\n    x: torch.Tensor\n    def show(self):\n        self.x.numpy()\n"
        "def load():\n    a = A()\n    a.x = torch.ones(2).half()\n    return a\n",
        "float16 partial",
    ),
    (
        "what an unseen base class keeps",
        "import transformers\nclass A(transformers.Trainer):\n"
        "    def __init__(self, model):\n        super().__init__(model=model)\n"
        "    def show(self):\n        self.model.numpy()\nA(torch.ones(2).half())\n",
        "float16",
    ),
    (
        "what a pipeline registers",
        "class A:\n    def __init__(self, vae):\n        self.register_modules(vae=vae)\n"
        "    def show(self):\n        self.vae.numpy()\nA(torch.ones(2).half())\n",
        "float16",
    ),
]


@pytest.mark.parametrize(
    ("source", "expected"), [case[1:] for case in TERMS], ids=[case[0] for case in TERMS]
)
def test_terms(source: str, expected: str, tmp_path: Path) -> None:
    call = next(one for one in calls_of(tmp_path, main=source) if one.name == "numpy")
    assert described(call.receiver) == expected


def test_the_way_names_the_call_sites(tmp_path: Path) -> None:
    source = "def f(x):\n    x.numpy()\ndef g(x):\n    f(x)\ng(torch.ones(2).half())\n"
    (call,) = calls_of(tmp_path, main=source)
    assert isinstance(call.receiver, Tensor)
    origin = call.receiver.origin
    assert origin is not None
    head = HEAD.count("\n")
    assert origin.source.row(origin.span.start) == head + 5
    rows = [site.source.row(site.span.start) - head for site in origin.route]
    assert rows == [5, 4]


CLASSES = [
    (
        "an attribute from another method",
        "class A:\n    def __init__(self):\n        self.x = torch.ones(2).half()\n"
        "    def f(self):\n        return self.x.numpy()\n",
        "float16",
    ),
    (
        "an attribute that two methods assign",
        "class A:\n    def __init__(self):\n        self.x = torch.ones(2)\n"
        "    def g(self):\n        self.x = self.x.half()\n"
        "    def f(self):\n        return self.x.numpy()\n",
        "float16 float32",
    ),
    (
        "a parameter of the constructor",
        "class A:\n    def __init__(self, x):\n        self.x = x\n"
        "    def f(self):\n        return self.x.numpy()\nA(torch.ones(2).half())\n",
        "float16",
    ),
    (
        "a method",
        "class A:\n    def g(self, x):\n        return x.half()\n"
        "    def f(self):\n        return self.g(torch.ones(2)).numpy()\n",
        "float16",
    ),
    (
        "a base class, and super",
        "class B:\n    def g(self, x):\n        return x.half()\n"
        "class A(B):\n    def g(self, x):\n        return super().g(x)\n"
        "    def f(self):\n        return self.g(torch.ones(2)).numpy()\n",
        "float16",
    ),
    (
        "forward",
        "class A(nn.Module):\n    def forward(self, x):\n        return x.half()\n"
        "A()(torch.ones(2)).numpy()\n",
        "float16",
    ),
    (
        "buffers have the dtype that their module is moved to",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('b', torch.ones(2))\n"
        "    def f(self):\n        return self.b.numpy()\n",
        "float32 chosen",
    ),
    (
        "nn.Buffer",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.b: torch.Tensor = nn.Buffer(torch.ones(2), persistent=False)\n"
        "    def f(self):\n        return self.b.numpy()\n",
        "float32 chosen",
    ),
    (
        "nn.Buffer of integers",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.b = nn.Buffer(torch.zeros(2, dtype=torch.int64))\n"
        "    def f(self):\n        return self.b.numpy()\n",
        "int64",
    ),
    (
        "a dataclass",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: torch.Tensor\n"
        "A(x=torch.ones(2).half()).x.numpy()\n",
        "float16",
    ),
    (
        "a property",
        "class A:\n    @property\n    def x(self):\n        return torch.ones(2).half()\n"
        "A().x.numpy()\n",
        "float16",
    ),
    (
        "a property with a setter and a deleter",
        "class A:\n    @property\n    def x(self):\n        return torch.ones(2).half()\n"
        "    @x.setter\n    def x(self, value):\n        pass\n"
        "    @x.deleter\n    def x(self):\n        pass\n"
        "A().x.numpy()\n",
        "float16",
    ),
    (
        "a property whose getter is replaced",
        "class A:\n    @property\n    def x(self):\n        return torch.ones(2).double()\n"
        "    @x.getter\n    def x(self):\n        return torch.ones(2).half()\n"
        "A().x.numpy()\n",
        "float16",
    ),
    (
        "a property with a setter that a base defines",
        "class A:\n    @property\n    def x(self):\n        return torch.ones(2).half()\n"
        "class B(A):\n    @A.x.setter\n    def x(self, value):\n        pass\n"
        "B().x.numpy()\n",
        "float16",
    ),
    (
        "what a setter assigns",
        "class A:\n    @property\n    def x(self):\n        return self._x\n"
        "    @x.setter\n    def x(self, value):\n        self._x = value.half()\n"
        "    def f(self):\n        return self.x.numpy()\n",
        "float16",
    ),
    (
        "overloads after the implementation",
        "from typing import overload\nclass A:\n    def x(self):\n"
        "        return torch.ones(2).half()\n"
        "    @overload\n    def x(self) -> torch.DoubleTensor: ...\n"
        "A().x().numpy()\n",
        "float16",
    ),
    (
        "items that another method puts into a mapping",
        "class A:\n    def __init__(self):\n        self.held = {}\n"
        "    def add(self, name, x):\n        self.held[name] = x\n"
        "    def go(self):\n        self.held['a'].numpy()\n"
        "a = A()\na.add('a', torch.ones(2).half())\na.go()\n",
        "float16",
    ),
    (
        "keywords that an object keeps",
        "class A:\n    def __init__(self, **kwargs):\n        self.held = dict(**kwargs)\n"
        "    def go(self):\n        for x in self.held.values():\n            x.numpy()\n"
        "A(a=torch.ones(2).half()).go()\n",
        "float16",
    ),
    (
        "a hook of a module",
        "class A:\n    def __init__(self, model):\n        model = model.to(dtype=torch.half)\n"
        "        model.attn.register_forward_hook(self.hook)\n"
        "    def hook(self, module, inputs, output):\n        output.numpy()\n",
        "float16 partial",
    ),
    (
        "a list that a field starts with",
        "from dataclasses import dataclass, field\n@dataclass\nclass A:\n"
        "    held: list = field(default_factory=list)\ndef f():\n    a = A()\n"
        "    a.held.append(torch.ones(2).half())\n    a.held[0].numpy()\n",
        "float16",
    ),
    (
        "weights of a module that is a parameter",
        "def f(model):\n    model = model.half()\n"
        "    held = {k: v.clone() for k, v in model.state_dict().items()}\n"
        "    held['a'].numpy()\n",
        "float16 partial",
    ),
    (
        "a layer of a module that is a parameter",
        "def f(model, x):\n    model = model.half()\n    model.attn(x).chunk(3)[0].numpy()\n",
        "float16 partial",
    ),
    (
        "a module that DistributedDataParallel wraps",
        "class A(nn.Module):\n    def forward(self, x):\n        return x\n"
        "a = nn.parallel.DistributedDataParallel(A())\n"
        "a.module(torch.ones(2).half()).numpy()\n",
        "float16",
    ),
]


@pytest.mark.parametrize(
    ("source", "expected"), [case[1:] for case in CLASSES], ids=[case[0] for case in CLASSES]
)
def test_classes(source: str, expected: str, tmp_path: Path) -> None:
    assert described(last_call(tmp_path, main=source).receiver) == expected


HELPER = "def f(x):\n    return x.half()\nDTYPE = torch.float16\n"
MODULES = [
    ("absolute", {"helper": HELPER}, "from helper import f\n", "f(torch.ones(2))"),
    ("as a module", {"a/helper": HELPER}, "import a.helper as h\n", "h.f(torch.ones(2))"),
    (
        "under its whole name",
        {"a/helper": HELPER},
        "import a.helper\n",
        "a.helper.f(torch.ones(2))",
    ),
    (
        "handed on",
        {"a/helper": HELPER, "a/__init__": "from .helper import f as g\n"},
        "from a import g\n",
        "g(torch.ones(2))",
    ),
    ("a star", {"helper": HELPER}, "from helper import *\n", "f(torch.ones(2))"),
    ("a constant", {"helper": HELPER}, "from helper import DTYPE\n", "torch.ones(2).to(DTYPE)"),
    (
        "a cycle",
        {"helper": "from main import g\ndef f(x):\n    return g(x)\n"},
        "from helper import f\ndef g(x):\n    return x.half()\n",
        "f(torch.ones(2))",
    ),
]


@pytest.mark.parametrize(
    ("others", "imports", "expression"), [case[1:] for case in MODULES],
    ids=[case[0] for case in MODULES],
)  # fmt: skip
def test_modules(others: dict[str, str], imports: str, expression: str, tmp_path: Path) -> None:
    call = last_call(tmp_path, main=f"{imports}y = {expression}\ny.numpy()\n", **others)
    assert described(call.receiver) == "float16"


@pytest.mark.parametrize("content", ["def f(:\n", "x = '\0'\n"], ids=["no Python", "a null byte"])
def test_a_broken_module_is_unknown(content: str, tmp_path: Path) -> None:
    call = last_call(tmp_path, main="from helper import f\nf(1).numpy()\n", helper=content)
    assert described(call.receiver) == "Unknown"


def test_a_caller_in_another_file_and_where_its_dtype_comes_from(tmp_path: Path) -> None:
    call = last_call(
        tmp_path,
        main="def save(x):\n    return x.numpy()\n",
        run="from main import save\nx = torch.ones(2).bfloat16()\nsave(x.cpu())\n",
    )
    assert described(call.receiver) == "bfloat16"
    assert isinstance(call.receiver, Tensor)
    assert call.receiver.origin is not None
    place = call.receiver.origin.related.place
    assert (place.path.name, place.start.row) == ("run.py", 5)


CONTEXTS = [
    ("a variable", "ctx = torch.autocast('cuda', torch.bfloat16)\n", "ctx", "bfloat16"),
    (
        "one of two",
        "ctx = torch.autocast('cuda', torch.bfloat16) if amp else contextlib.nullcontext()\n",
        "ctx",
        "bfloat16 chosen",
    ),
    (
        "a function",
        "def context():\n    return torch.autocast('cuda', dtype=torch.half)\n",
        "torch.no_grad(), context()",
        "float16",
    ),
    (
        "an attribute",
        "class A:\n    def __init__(self):\n"
        "        self.ctx = torch.autocast('cuda', torch.bfloat16)\na = A()\n",
        "a.ctx",
        "bfloat16",
    ),
    ("turned off", "ctx = torch.autocast('cuda', enabled=False)\n", "ctx", "float32"),
    (
        "of an accelerator",
        "import accelerate\na = accelerate.Accelerator(mixed_precision='bf16')\n",
        "a.autocast()",
        "bfloat16",
    ),
    (
        "of a fabric",
        "from lightning.fabric import Fabric\nf = Fabric(precision='bf16-mixed')\n",
        "f.autocast()",
        "bfloat16",
    ),
    ("with unknown arguments", "", "torch.autocast('cuda', **given)", "float32 chosen"),
]


@pytest.mark.parametrize(
    ("made", "context", "expected"),
    [case[1:] for case in CONTEXTS],
    ids=[case[0] for case in CONTEXTS],
)
def test_regions_of_autocast(made: str, context: str, expected: str, tmp_path: Path) -> None:
    region = f"with {context}:\n    y = torch.ones(2, 2) @ torch.ones(2, 2)\n"
    found = last_call(tmp_path, main=f"import contextlib\n{made}{region}y.numpy()\n")
    assert described(found.receiver) == expected


ONE_OF = [
    (
        "functions in a table",
        "def f(x):\n    return x.half()\ndef g(x):\n    return x.bfloat16()\n"
        "TABLE = {'f': f, 'g': g}\n",
        "TABLE[name](torch.ones(2))",
        "bfloat16 float16",
    ),
    (
        "the functions of a list",
        "def f(x):\n    return x.half()\ndef g(x):\n    return x\nSTEPS = [f, g]\n",
        "STEPS[i](torch.ones(2))",
        "float16 float32",
    ),
    (
        "classes in a table",
        "class A:\n    def go(self, x):\n        return x.half()\n"
        "class B:\n    def go(self, x):\n        return x\n"
        "TABLE = dict(a=A, b=B)\nTABLE = {'a': A, 'b': B}\n",
        "TABLE[name]().go(torch.ones(2))",
        "float16 float32",
    ),
    (
        "a factory",
        "class A:\n    def go(self, x):\n        return x.half()\n"
        "class B:\n    def go(self, x):\n        return x\n"
        "def make(kind):\n    if kind == 'a':\n        return A()\n    return B()\n",
        "make(kind).go(torch.ones(2))",
        "float16 float32",
    ),
    (
        "modules of one factory, moved",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.p = nn.Linear(2, 2)\n    def forward(self, x):\n        return self.p(x)\n"
        "class B(A):\n    def forward(self, x):\n        return self.p(x).exp()\n"
        "def make(kind):\n    return A() if kind else B()\n",
        "make(kind).to(torch.bfloat16)(torch.ones(2).bfloat16())",
        "bfloat16",
    ),
    (
        "an attribute of two classes",
        "class A:\n    def __init__(self):\n        self.x = torch.ones(2).half()\n"
        "class B:\n    def __init__(self):\n        self.x = torch.ones(2)\n",
        "(A() if kind else B()).x",
        "float16 float32",
    ),
    (
        "one that is unknown",
        "class A:\n    def go(self, x):\n        return x.half()\n",
        "(A() if kind else other).go(torch.ones(2))",
        "Unknown",
    ),
]


@pytest.mark.parametrize(
    ("definitions", "expression", "expected"),
    [case[1:] for case in ONE_OF],
    ids=[case[0] for case in ONE_OF],
)
def test_one_of_several_objects(
    definitions: str, expression: str, expected: str, tmp_path: Path
) -> None:
    found = last_call(tmp_path, main=f"{definitions}({expression}).numpy()\n")
    assert described(found.receiver) == expected


THROUGH_TABLES = [
    (
        "a function",
        {"main": "def f(x):\n    x.numpy()\nSTEPS = [f]\nSTEPS[i](torch.ones(2).half())\n"},
        "float16",
    ),
    (
        "a function, from another file",
        {
            "main": "def f(x):\n    x.numpy()\nSTEPS = {'f': f}\n",
            "run": "from main import STEPS\nSTEPS[name](torch.ones(2).half())\n",
        },
        "float16",
    ),
    (
        "a class",
        {
            "main": "class A:\n    def __init__(self, x):\n        self.x = x\n"
            "    def go(self):\n        self.x.numpy()\n"
            "class B(A):\n    pass\nTABLE = {'a': A, 'b': B}\n"
            "def run(name):\n    TABLE[name](torch.ones(2).half()).go()\n"
        },
        "float16",
    ),
    (
        "a table of another file",
        {
            "main": "def f(x):\n    x.numpy()\n",
            "tables": "from main import f\nSTEPS = {'f': f}\n",
            "run": "from tables import STEPS\nSTEPS[name](torch.ones(2).half())\n",
        },
        "float16",
    ),
]


@pytest.mark.parametrize(
    ("files", "expected"),
    [case[1:] for case in THROUGH_TABLES],
    ids=[case[0] for case in THROUGH_TABLES],
)
def test_callers_through_tables(files: dict[str, str], expected: str, tmp_path: Path) -> None:
    assert described(last_call(tmp_path, **files).receiver) == expected


DEFAULTS = [
    ("a mapping's", "cfg.get('dtype', 'bfloat16')", "bfloat16 partial"),
    ("a keyword's", "kwargs.pop('dtype', 'bfloat16')", "bfloat16 partial"),
    ("an attribute's", "getattr(cfg, 'precision', 'bfloat16')", "bfloat16 partial"),
    ("a choice", "'bfloat16' if fast else 'float16'", "bfloat16 float16 partial"),
    ("after or", "cfg.dtype or 'bfloat16'", "bfloat16 chosen partial"),
    ("a parameter's", "dtype", "bfloat16 partial"),
    ("float32 is one of many values", "cfg.get('dtype', 'float32')", "partial"),
    ("a word is no dtype", "cfg.get('dtype', 'auto')", "partial"),
]


@pytest.mark.parametrize(
    ("setting", "expected"), [case[1:] for case in DEFAULTS], ids=[case[0] for case in DEFAULTS]
)
def test_defaults(setting: str, expected: str, tmp_path: Path) -> None:
    main = (
        "def f(x, cfg, fast, dtype='bfloat16', **kwargs):\n"
        f"    x.to(getattr(torch, {setting})).numpy()\n"
    )
    assert described(last_call(tmp_path, main=main).receiver) == expected


@pytest.mark.parametrize(
    ("parameter", "setting", "given"),
    [
        ("dtype='bfloat16'", "dtype", "'float32'"),
        ("cfg", "cfg.get('dtype', 'bfloat16')", "{'dtype': 'float32'}"),
        ("cfg", "getattr(cfg, 'precision', 'bfloat16')", "Config('float32')"),
    ],
)
def test_who_gives_a_value_does_not_use_the_default(
    parameter: str, setting: str, given: str, tmp_path: Path
) -> None:
    main = (
        "class Config:\n    def __init__(self, name):\n        self.precision = 'float32'\n"
        f"def f(x, {parameter}):\n    x.to(getattr(torch, {setting})).numpy()\n"
        f"f(torch.ones(2), {given})\n"
    )
    assert described(last_call(tmp_path, main=main).receiver) in {"float32", "float32 partial"}


def test_tests_are_no_callers_of_what_they_test(tmp_path: Path) -> None:
    call = last_call(
        tmp_path,
        main="def save(x: torch.Tensor):\n    return x.numpy()\n",
        **{"tests/test_main": "from main import save\nsave(torch.ones(2))\n"},
    )
    assert described(call.receiver) == "chosen partial"
