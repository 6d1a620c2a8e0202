"""What becomes of settings after they were written, held against what Python makes of them."""

from __future__ import annotations

import ast
import textwrap
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precision_lint.source.config.settings_tree import Mapping, Opaque, Scalar, Value
from tests.source.config.python_reading import UNKNOWN, made, plain


@pytest.mark.parametrize(
    ("later", "value"),
    [
        ("print(c['fp16']['enabled'], c.get('b'), c.items())", {}),
        ("c['fp16']['enabled'] = False", {"fp16": {"enabled": ..., "scale": 1}}),
        ("c['fp16'] = {}", {"fp16": ...}),
        ("c['bf16'] = {}", UNKNOWN),
        ("c['b'] += 1", {"b": ...}),
        ("c.b = 1", {"b": ...}),
        ("del c['b']", {"b": ...}),
        ("c.pop('b', None)", {"b": ...}),
        ("c.setdefault('b', 1)", {"b": ...}),
        ("c.update(b=1)", {"b": ...}),
        ("c.update({'b': 1})", {"b": ...}),
        ("c['fp16'].update(enabled=False)", {"fp16": {"enabled": ..., "scale": 1}}),
        ("c.get('fp16')['scale'] = 2", {"fp16": {"enabled": True, "scale": ...}}),
        ("setattr(c, 'b', 1)", {"b": ...}),
        ("d = c\nd['b'] = 1", {"b": ...}),
        ("d = c['fp16']\nd['scale'] = 1", {"fp16": {"enabled": True, "scale": ...}}),
        ("for d in c.values():\n    d['scale'] = 2", {"fp16": {"enabled": True, "scale": ...}}),
        ("for k, d in c.items():\n    d['scale'] = 2", {"fp16": {"enabled": True, "scale": ...}}),
        ("for d in [c]:\n    d['b'] = 1", {"b": ...}),
        ("d = Config(c)\nd.b = 1", {"b": ...}),
        ("d = Config(c=c)\nd.c.b = 1", {"b": ...}),
        ("x.k = c\nx.k['b'] = 1", {"b": ...}),
        ("x['k'] = c\nx['k']['b'] = 1", {"b": ...}),
        ("def g():\n    c['b'] = 1", {"b": ...}),
        ("def g(d):\n    d['b'] = 1\ng(c)", {"b": ...}),
        ("def g(y, *, d):\n    d['b'] = 1\ng(1, d=c)", {"b": ...}),
        ("class G:\n    def __init__(self, d):\n        d['b'] = 1\nG(c)", {"b": ...}),
        ("class G:\n    def g(self, d):\n        d['b'] = 1\nx.g(c)", {"b": ...}),
        ("def g(d):\n    h(d)\ndef h(d):\n    d['b'] = 1\ng(c)", {"b": ...}),
        ("x.update(c)", {}),
        ("d = dict(c)\nd['b'] = 1", {}),
        ("d = {**c}\nd['b'] = 1", {}),
    ],
)
def test_changes(later: str, value: dict[object, object]) -> None:
    config = "c = {'fp16': {'enabled': True, 'scale': 1}, 'b': 2}"
    first, *_ = made("def main(x):\n" + textwrap.indent(f"{config}\n{later}\n", "    "))
    assert plain(first.mapping) == {"fp16": {"enabled": True, "scale": 1}, "b": 2} | value


@pytest.mark.parametrize(
    "later",
    [
        "c[x] = 1",
        "c.update(x)",
        "c.clear()",
        "c |= x",
        "for k in x:\n    c[k] = 1",
        "setattr(c, x, 1)",
        "update_config(c, x)",
        "OmegaConf.update(c, 'a', 2)",
    ],
)
def test_changes_of_anything(later: str) -> None:
    first, *_ = made("def main(x):\n" + textwrap.indent(f"c = {{'a': 1}}\n{later}\n", "    "))
    assert plain(first.mapping) == {"a": ...} | UNKNOWN


def test_an_object_that_is_changed() -> None:
    text = """
        def main(x):
            args = TrainingArguments(fp16=True, bf16=False)
            if x:
                args.fp16 = False
            trainer = Trainer(args=args)
            trainer.args.bf16 = True
            trainer.train()
    """
    first, *_ = made(text)
    assert plain(first.mapping) == {"fp16": ..., "bf16": ...}


def test_what_a_method_changes_in_its_object() -> None:
    text = """
        class A:
            def __init__(self):
                self.config = {"a": 1, "b": 2}
            def go(self):
                self.config["a"] = 3
    """
    (found,) = made(text)
    assert plain(found.mapping) == {"a": ..., "b": 2}


def test_what_a_function_returns_is_changed_by_those_who_call_it() -> None:
    text = """
        def base():
            config = {"a": 1, "b": 2}
            return config
        def main():
            config = base()
            config["a"] = 3
    """
    (found,) = made(text)
    assert plain(found.mapping) == {"a": ..., "b": 2}


def test_variables_of_other_functions_are_others() -> None:
    text = """
        def one():
            config = {"a": 1}
        def other(config):
            config["a"] = 3
    """
    (found,) = made(text)
    assert plain(found.mapping) == {"a": 1}


def test_each_branch_makes_its_own() -> None:
    text = """
        def main(x):
            if x:
                c = {"a": 1}
            else:
                c = {"a": 2}
            c["b"] = 3
            return Config(c=c)
    """
    one, other, call = made(text)
    assert plain(one.mapping) == {"a": 1} | UNKNOWN
    assert plain(other.mapping) == {"a": 2} | UNKNOWN
    assert plain(call.mapping) == {"c": ...}


# Against Python itself

NAMES = ["a", "b", "c"]
KEYS = ["k", "l", "m"]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Displays under three names, each bound once, and all sorts of changes to them."""
    lines: list[str] = []
    known: list[str] = []

    def pick(*options: str) -> str:
        return draw(st.sampled_from(options))

    def value(depth: int = 0) -> str:
        kind = draw(st.integers(0, 5 if depth < 2 else 2))
        if kind == 0 and known:
            return pick(*known)
        if kind < 3:
            return pick("1", "2", "'x'", "True")
        return display(depth + 1)

    def display(depth: int = 0) -> str:
        members = [f"{pick(*KEYS)!r}: {value(depth)}" for _ in range(draw(st.integers(0, 3)))]
        if known and draw(st.integers(0, 1)):
            members.insert(draw(st.integers(0, len(members))), f"**{pick(*known)}")
        if not known and draw(st.integers(0, 3)) == 0:
            return f"dict({pick(*KEYS)}={value(depth)})"
        return "{" + ", ".join(members) + "}"

    for name in NAMES:
        lines.append(f"{name} = {display()}")
        known.append(name)
        for _ in range(draw(st.integers(0, 2))):
            target, key, inner = pick(*known), pick(*KEYS), pick(*KEYS)
            new = value(2)
            change = pick(
                f"{target}[{key!r}] = {new}",
                f"{target}[{key!r}][{inner!r}] = {new}",
                f"{target}.update({key}={new})",
                f"{target}.update({{{key!r}: {new}}})",
                f"{target}.pop({key!r}, None)",
                f"{target}.setdefault({key!r}, {new})",
                f"{target} |= {{{key!r}: {new}}}",
                f"alias = {target}\nalias[{key!r}] = {new}",
                f"inner = {target}[{key!r}]\ninner[{inner!r}] = {new}",
                f"for each in [{target}]:\n    each[{key!r}] = {new}",
                f"change({target}, {key!r}, {new})",
                f"{key} = {key!r}\n{target}[{key}] = {new}",
                f"box.held = {target}\nbox.held[{key!r}] = {new}",
                f"same({target})[{key!r}] = {new}",
                f"other = {target}.copy()\nother[{key!r}][{inner!r}] = {new}",
                f"other = dict({target})\nother[{key!r}][{inner!r}] = {new}",
                f"other = {{**{target}, {key!r}: {new}}}\nother[{key!r}][{inner!r}] = {new}",
                f"other = {target} | {{}}\nother[{key!r}][{inner!r}] = {new}",
                f"other = [{target}, {new}]\nother[0][{inner!r}] = {new}",
                f"setattr(box, {key!r}, {target})\nbox.{key}[{inner!r}] = {new}",
                f"{target}[{key!r}], box.a = {new}, 1",
                f"del {target}[{key!r}]",
                f"for number, each in enumerate([{target}]):\n    each[{key!r}] = {new}",
                f"one, other = {target}, {new}\none[{key!r}] = {new}",
                f"[each.update({key}={new}) for each in [{target}]]",
            )
            # What Python refuses, such as an item of an integer, does not happen.
            block = textwrap.indent(change, "    ")
            lines.append(f"try:\n{block}\nexcept Exception:\n    pass")
    head = "def change(held, key, new):\n    held[key] = new\ndef same(held):\n    return held\n"
    return head + "\n".join(lines) + "\n"


def agrees(value: Value, real: object) -> bool:
    """Whether all that is known is so."""
    match value:
        case Scalar():
            return type(value.value) is type(real) and value.value == real
        case Mapping():
            if not isinstance(real, dict):
                return False
            names = {key for key in KEYS if value.get(key) is not None}
            if not (value.is_open or names >= real.keys()):
                return False
            found = {name: value.get(name) for name in names}
            return all(
                isinstance(member.entry.value, Opaque)
                or (name in real and agrees(member.entry.value, real[name]))
                for name, member in found.items()
                if member is not None
            )
        case _:
            return True


@settings(max_examples=300, deadline=None)
@given(programs())
def test_what_is_known_is_so(program: str) -> None:
    scope: dict[str, object] = {"box": SimpleNamespace()}
    exec(program, scope)
    written = {
        (each.value.lineno, each.value.col_offset): each.targets[0].id
        for each in ast.parse(program).body
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    }
    for each in made(program):
        if isinstance(each.node, ast.Module):
            continue
        target = written.get((each.node.lineno, each.node.col_offset))
        if target in NAMES:
            real = scope[target]
            assert agrees(each.mapping, real), (program, plain(each.mapping), real)
