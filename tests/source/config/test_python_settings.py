"""Settings in Python: what is written, where it stands, and what nobody can know."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precision_lint.source.config.python_settings import python_settings
from precision_lint.source.config.settings_tree import Opaque, Scalar, mappings
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText
from tests import cpu_time
from tests.source.config.python_reading import UNKNOWN, made, plain


def only(text: str) -> object:
    """The settings of the one expression that makes any, in a function of its own."""
    (found,) = made("def main(a, x):\n" + textwrap.indent(textwrap.dedent(text), "    "))
    return plain(found.mapping)


# Values


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("True", True),
        ("None", None),
        ("-1", -1),
        ("1e-3", 1e-3),
        ("'bf16'", "bf16"),
        ("('b'\n 'f16')", "bf16"),
        ("[1, (2, 'a')]", [1, [2, "a"]]),
        ("{'b': {}}", {"b": {}}),
        ("dict(b=1)", {"b": 1}),
        ("f'bf16'", ...),
        ("b'bf16'", ...),
        ("'${PRECISION}'", ...),
        ("True if a else False", ...),
        ("not True", ...),
        ("a", ...),
        ("a.b", ...),
        ("bool(1)", ...),
        ("{1}", ...),
        ("+x", ...),
        ("lambda: 1", ...),
        ("[*x]", [...]),
        ("1j", ...),
    ],
)
def test_values(written: str, value: object) -> None:
    assert only(f"config = {{'a': {written}}}") == {"a": value}
    assert only(f"config = dict(a={written})") == {"a": value}
    assert only(f"config = Config(a={written})")["a"] == value  # type: ignore[index]


@pytest.mark.parametrize(
    ("imports", "written", "value"),
    [
        ("import torch", "torch.bfloat16", "torch.bfloat16"),
        ("import torch as th", "th.half", "torch.float16"),
        ("from torch import float32", "float32", "torch.float32"),
        ("from torch import float32 as f", "f", "torch.float32"),
        ("import torch", "torch.Tensor", ...),
        ("import torch", "torch.nn.half", ...),
        ("import torch", "torch.float16.itemsize", ...),
        ("import jax.numpy as torch", "torch.bfloat16", ...),
        ("torch = x()", "torch.bfloat16", ...),
    ],
)
def test_dtypes(imports: str, written: str, value: object) -> None:
    *_, last = made(f"{imports}\ndef main():\n    return {{'a': {written}}}\n")
    assert plain(last.mapping) == {"a": value}


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("n = 'bf16'", "bf16"),
        ("n: str = 'bf16'", "bf16"),
        ("n = m = 'bf16'", "bf16"),
        ("n = {'b': True}", {"b": True}),
        ("m = 1; n = m", 1),
        ("n = x()", ...),
        ("n = 1; n = 2", ...),
        ("n = 1\nif x: n = 2", ...),
        ("n = 1; n += 1", ...),
        ("n = 1; del n", ...),
        ("n, m = 1, 2", ...),
        ("for n in x: pass", ...),
        ("n = 1\nfor n in x: pass", ...),
        ("from x import n", ...),
        ("n = 1\nfrom x import n", ...),
        ("n = 1\ndef n(): pass", ...),
        ("n = 1\ndef f():\n    global n\n    n = 2", ...),
        ("n = 1\nexec(x)", ...),
        ("n = 1\nfrom x import *", ...),
        ("from x import *\nn = 1", 1),
        ("n = 1\nglobals()['n'] = 2", ...),
        ("def n(): pass", ...),
        ("n = n", ...),
        ("", ...),
    ],
)
def test_names(before: str, value: object) -> None:
    *_, last = made(f"{before}\ndef main():\n    return {{'a': n}}\n")
    assert plain(last.mapping) == {"a": value}


def test_a_parameter_hides_a_constant() -> None:
    *_, last = made("n = 1\ndef main(n):\n    return {'a': n}\n")
    assert plain(last.mapping) == {"a": ...}


def test_a_value_that_a_name_brings_stands_outside_of_its_entry() -> None:
    text = "n = 'bf16'\ndef main(**kwargs):\n    return f(mixed_precision=n)\n"
    (found,) = made(text)
    (entry,) = found.mapping.entries
    value = entry.value
    assert isinstance(value, Scalar)
    assert text[slice(*value.span)] == "'bf16'"
    assert text[slice(*entry.span)] == "mixed_precision=n"


def test_a_display_that_a_name_brings_is_the_same_mapping() -> None:
    config, call = made("def main():\n    c = {'a': 1}\n    start(x=0, config=c)\n")
    member = call.mapping.get("config")
    assert member is not None
    assert member.entry.value is not config.mapping  # made apart, from the same node
    assert member.entry.value.span == config.mapping.span


# Spreads


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("{'a': 1, **x}", {"a": ...} | UNKNOWN),
        ("{**x, 'a': 1}", {"a": 1} | UNKNOWN),
        ("{'a': 1, **{'a': 2}}", {"a": ...}),
        ("{'a': 1, **{'b': 2}}", {"a": 1, "b": 2}),
        ("{**{'a': 2}, 'a': 1}", {"a": 1}),
        ("{**{'a': 1}, **{'a': 2}}", {"a": 2}),
        ("{'a': 1, **{'b': 2, **x}}", {"a": ..., "b": ...} | UNKNOWN),
        ("{'a': {'b': 1, **x}}", {"a": {"b": ...} | UNKNOWN}),
        ("{a: 1, 'b': 2}", {"b": 2} | UNKNOWN),
        ("{1: 2}", {1: 2}),
        ("dict(x, a=1)", {"a": 1} | UNKNOWN),
        ("dict({'b': 2}, a=1)", {"a": 1, "b": 2}),
        ("dict(a=1, **x)", {"a": 1} | UNKNOWN),
        ("Config(a=1, **x)", {"a": 1} | UNKNOWN),
        ("Config(*x, a=1)", {"a": 1} | UNKNOWN),
        ("Config(x, a=1)", {"a": 1}),
        ("Config(a=1, **{'b': 2})", {"a": 1, "b": 2}),
    ],
)
def test_spreads(written: str, value: object) -> None:
    assert only(f"return {written}") == value


def test_a_spread_that_a_name_brings() -> None:
    text = "base = {'a': 1, 'b': 2}\ndef main():\n    return {**base, 'b': 3}\n"
    *_, last = made(text)
    assert plain(last.mapping) == {"a": 1, "b": 3}


# Where settings are made


@pytest.mark.parametrize(
    "statement",
    [
        "config = {'a': 1}",
        "config: dict = {'a': 1}",
        "self.config = {'a': 1}",
        "config['b'] = {'a': 1}",
        "config = {'a': 1} if x else None",
        "config = x or {'a': 1}",
        "config = [{'a': 1}]",
        "return {'a': 1}",
        "json.dump({'a': 1}, x)",
        "start([{'a': 1}])",
    ],
)
def test_displays_that_are_used(statement: str) -> None:
    (found,) = made(f"def main(x, self, config):\n    {statement}\n")
    assert isinstance(found.node, ast.Dict)
    assert (found.callee, plain(found.mapping)) == ("", {"a": 1})


@pytest.mark.parametrize(
    "statement",
    [
        "assert x == {'a': 1}",
        "{'a': 1}[x]",
        "x = {'a': 1}[x]",
        "x = {'a': 1} | x",
        "x |= {'a': 1}",
        "for each in {'a': 1}: pass",
        "x = {k: 1 for k in x}",
        "x = f'{ {1: 2} }'",
        "print(x)",
    ],
)
def test_what_makes_no_settings(statement: str) -> None:
    assert made(f"def main(x):\n    {statement}\n") == []


def test_the_outermost_display_alone() -> None:
    text = """
        from accelerate import Accelerator
        def main(x):
            config = {"fp16": {"enabled": True}, "of": [{"a": Accelerator(mixed_precision="no")}]}
            start(x, config={"b": dict(c=1)})
    """
    found = [(each.callee, plain(each.mapping)) for each in made(text)]
    assert found == [
        ("", {"fp16": {"enabled": True}, "of": [{"a": ...}]}),
        ("accelerate.Accelerator", {"mixed_precision": "no"}),
        ("start", {"config": {"b": {"c": 1}}}),
    ]


@pytest.mark.parametrize(
    ("imports", "call", "callee"),
    [
        ("from trl import SFTConfig as C", "C(fp16=True)", "trl.SFTConfig"),
        ("import trl as t", "t.SFTConfig('x')", "trl.SFTConfig"),
        ("from accelerate import Accelerator", "Accelerator()", "accelerate.Accelerator"),
        ("from .x import f", "f(a=1)", ".x.f"),
        ("", "dict(a=1)", "dict"),
        ("", "x()(a=1)", ""),
    ],
)
def test_callees(imports: str, call: str, callee: str) -> None:
    (found,) = made(f"{imports}\ndef main(x):\n    args = {call}\n")
    assert found.callee == callee


# Modules of assignments

MODULE = """
    '''A configuration.'''
    import os
    norm = dict(type="BN")
    model = dict(norm=norm, head={"norm": norm})
    optim_wrapper = dict(_delete_=True, type="AmpOptimWrapper", dtype="bfloat16")
    lr: float = 1e-3
    a, b = 1, 2
    epochs = 1
    epochs += 1
    model["head"]["x"] = 1
    optim_wrapper.update(dtype="float16")
"""


def test_a_module_of_assignments_is_one_configuration() -> None:
    (module, _) = made(MODULE)
    norm = {"type": "BN"}
    assert isinstance(module.node, ast.Module)
    assert plain(module.mapping) == {
        "norm": norm,
        "model": {"norm": norm, "head": {"norm": norm} | UNKNOWN},
        "optim_wrapper": {"_delete_": True, "type": "AmpOptimWrapper", "dtype": ...},
        "lr": 1e-3,
        "a": ...,
        "b": ...,
        "epochs": ...,
    }


@pytest.mark.parametrize(
    "base",
    ["_base_ = ['./base.py']", "with read_base():\n    from .base import *", "from .base import *"],
)
def test_a_base_brings_unknown_keys(base: str) -> None:
    module, *_ = made(f"{base}\na = dict(b=dict(c=1))\nd = dict(_delete_=True, e=2)\n")
    assert module.mapping.is_open
    assert module.mapping.get("d") is not None
    found = {each.span: each.is_open for each in mappings([module.mapping])}
    assert list(found.values()) == [True, True, True, False]


@pytest.mark.parametrize("statement", ["if x: a = 1", "def f(): pass", "print(1)", "a()"])
def test_what_does_more_is_no_configuration(statement: str) -> None:
    assert not any(isinstance(each.node, ast.Module) for each in made(f"a = 1\n{statement}\n"))


def test_a_file_without_settings() -> None:
    assert made("") == []
    assert made("import os\n") == []


# Spans

GAPS = st.sampled_from(["", " ", "\n", "\r\n\t", " # é, 'x': 1)\n", "\\\n", " # ) # (\r"])
WORDS = st.text(st.sampled_from("abfp16é漢😀 ${'\"\\\n"), max_size=6)
LITERALS = st.one_of(st.booleans(), st.integers(), st.none(), st.floats(0, 1), WORDS)
TREES = st.recursive(
    LITERALS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=10,
)


def written(value: object, draw: st.DrawFn) -> str:
    """A value as somebody might write it."""

    def gap() -> str:
        return draw(GAPS)

    match value:
        case dict():
            members = [
                f"{gap()}{key!r}{gap()}:{gap()}{written(item, draw)}{gap()}"
                for key, item in value.items()
            ]
            text = "{" + ",".join(members) + draw(st.sampled_from(["", ","])) * bool(members) + "}"
        case list():
            text = "[" + ",".join(f"{gap()}{written(each, draw)}{gap()}" for each in value) + "]"
        case _:
            text = repr(value)
    return f"({gap()}{text}{gap()})" if draw(st.integers(0, 4)) == 0 else text


@st.composite
def displays(draw: st.DrawFn) -> str:
    return written(draw(st.dictionaries(WORDS, TREES, min_size=1, max_size=3)), draw)


@settings(max_examples=200, deadline=None)
@given(displays(), st.sampled_from(["x = é({})", "x = f(1, y=({}))", "x = [{}]"]))
def test_every_value_stands_where_the_tree_says(display: str, around: str) -> None:
    text = f"# é😀\ndef main():\n  {around}\n".replace("{}", display)
    source = SourceText(Path("case.py"), text)
    found = python_settings(parse_python(source))
    assert found
    for mapping in mappings(each.mapping for each in found):
        for before, entry in zip([None, *mapping.entries], mapping.entries, strict=False):
            start = mapping.span.start if before is None else before.span.end
            assert start < entry.span.start <= entry.key.span.start
            assert entry.value.span.end <= entry.span.end <= mapping.span.end
            whole = source[entry.span]
            if entry.name == "y":
                assert whole.startswith("y=")
                continue
            assert ast.literal_eval(f"{{{whole}}}") is not None  # the entry is one, and whole
            match entry.value:
                case Scalar(span, value) | Opaque(span, Scalar(_, value)):
                    assert ast.literal_eval(f"({source[span]})") == value


# Size


@pytest.mark.parametrize(
    "text",
    [
        "x = A(a=1)\n" + "".join(f"x.a{i} = 1\n" for i in range(5000)),
        "".join(f"x = {{'k{i}': 1}}\nx['k{i}'] = 2\n" for i in range(3000)),
        "x = " + "{'a': " * 90 + "1" + "}" * 90,
        "a0 = {'x': 1}\n" + "".join(f"a{i + 1} = {{'x': a{i}, **a{i}}}\n" for i in range(2000)),
        "x = {'a': 1 " + "# # ) , # #\n" * 5000 + ", 'b': 2}",
        "x = {'a': 1 " + "# " * 20000 + "\n, 'b': 2}",
        "".join(f"def f(a):\n    a['x{i}'] = 1\n    return f(a)\n" for i in range(500))
        + "f({'x': 1})\n" * 500,
        "f" + ".a" * 900 + "(b=1)",
        "x = " + " + ".join(["{'a': 1}"] * 900),
    ],
    ids=["stores", "rebound", "deep", "bomb", "comments", "hashes", "calls", "attributes", "sum"],
)
def test_large_files_take_little_time(text: str) -> None:
    with cpu_time.at_most(10):
        for each in mappings(each.mapping for each in made(text)):
            assert each.span.start < each.span.end
