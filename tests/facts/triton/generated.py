"""Random small kernels: each either compiles or is refused over the types of its values.

A kernel follows from its seed alone. What writes it knows of a value whether it is a float, an
integer, a bool or a pointer, and its number of dimensions, but nothing of dtypes: shapes fit, and
dtypes as chance will have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from random import Random

from tests.facts.triton.generated_expressions import Expressions, grammar

KERNEL = """\
import triton
import triton.language as tl
from triton.language.extra import libdevice

SCALE = tl.constexpr(1.5)
{helpers}

@triton.jit
def kernel(p, b, q, k, out, s, n{annotation}, flag, one, nothing,
           C: tl.constexpr, D: tl.constexpr, FACTOR: tl.constexpr):
    at = tl.arange(0, 64)
{body}


def launch(x, out, flag, c, d):
    import torch

    b = x.to(torch.bfloat16)
    q = torch.empty(64, dtype=torch.float32)
    k = torch.empty(64, dtype=torch.int32)
    kernel[(1,)](x, b, q, k, out, 0.25, x.numel(), bool(flag), 1, None, c, d, FACTOR=0.5)
"""

HELPER = """

@triton.jit
def {name}(x, s, wanted, WANTED: tl.constexpr):
{body}
"""

FLAGS = ("C", "D")
"""Compile-time parameters that conditions ask about: a launch may pass anything for them."""


@dataclass(frozen=True)
class Generated:
    """A module with one kernel, and the compile-time flags that it asks about."""

    seed: int
    source: str
    flags: tuple[str, ...]

    @property
    def compilations(self) -> list[dict[str, object]]:
        """The compile-time parameters of every way to compile it."""
        fixed = {"one": 1, "nothing": None, "FACTOR": 0.5} | dict.fromkeys(FLAGS, True)
        choices = product((True, False), repeat=len(self.flags))
        return [{**fixed, **dict(zip(self.flags, choice, strict=True))} for choice in choices]


def types(dtype: str) -> dict[str, str]:
    """The run-time parameters if `p` and `out` point to this dtype."""
    pointers = {"p": f"*{dtype}", "b": "*bf16", "q": "*fp32", "k": "*i32", "out": f"*{dtype}"}
    return {**pointers, "s": "fp32", "n": "i32", "flag": "u1"}


def generate(seed: int) -> Generated:
    """The kernel of a seed."""
    random = Random(seed)
    helpers, calls = "", {}
    for number in range(random.choice((0, 0, 1, 2))):
        rank = random.choice("011")
        helpers += _helper(random, f"helper{number}", rank)
        calls.setdefault(rank, []).append(f"helper{number}({{F1}}, {{F0}}, {{c}}, {{static}})")
    names = {"at": "I1", "s": "F0", "n": "I0", "flag": "B0"}
    writer = _Writer(random, Expressions(random, grammar(False), names, calls))
    writer.assign_new("F1")
    writer.statements(random.randint(1, 5))
    writer.store()
    body = "\n".join(writer.lines)
    flags = tuple(flag for flag in FLAGS if re.search(rf"\b{flag}\b", body))
    annotation = random.choice(("", ": tl.int32"))
    return Generated(seed, KERNEL.format(helpers=helpers, annotation=annotation, body=body), flags)


def _helper(random: Random, name: str, rank: str) -> str:
    names = {"x": "F1", "s": "F0", "wanted": "B0"}
    writer = _Writer(random, Expressions(random, grammar(True), names), is_helper=True)
    writer.statements(random.randint(0, 2))
    writer.returns(f"F{rank}")
    return HELPER.format(name=name, body="\n".join(writer.lines))


class _Writer:
    """Writes the lines of one function."""

    def __init__(self, random: Random, expressions: Expressions, is_helper: bool = False) -> None:
        self.random = random
        self.expressions = expressions
        self.is_helper = is_helper
        self.lines: list[str] = []
        self._parameters = frozenset(expressions.scope)
        self._care = random.choice((0.0, 0.3, 0.8, 1.0))
        """How often what is assigned anew is cast to the dtype that the name has."""
        self._level = 1
        self._loops = 0
        self._names = 0

    @property
    def scope(self) -> dict[str, str]:
        return self.expressions.scope

    def write(self, line: str) -> None:
        self.lines.append("    " * self._level + line)

    def statements(self, number: int) -> None:
        """Some statements at the current level."""
        for _ in range(number):
            plain = [(6, self._reassign), (3, self._new), (1, self._literal), (1, self._tuple)]
            if self._level < 4:
                plain += [(5, self._if), (2, self._if_new), (4, self._loop)]
            if not self.is_helper:
                plain += [(1, self.store), (1, self._pointer), (1, self._leave)]
            weights, makers = zip(*plain, strict=True)
            self.random.choices(makers, weights)[0]()

    # Assignments

    def assign_new(self, kind: str, name: str | None = None) -> str:
        """A variable that is new."""
        name = name or self._fresh()
        self.write(f"{name} = {self.expressions.expression(kind)}")
        self.scope[name] = kind
        return name

    def _fresh(self) -> str:
        self._names += 1
        return f"v{self._names}"

    def _kind(self) -> str:
        return self.random.choices(("F0", "F1", "F2", "I0", "I1"), (3, 8, 2, 2, 1))[0]

    def _new(self) -> None:
        self.assign_new(self._kind())

    def _literal(self) -> None:
        kind, value = self.random.choice(
            (("F0", "0.0"), ("F0", "0.0"), ("F0", '-float("inf")'), ("I0", "0"), ("I0", "1"))
        )
        name = self._fresh()
        self.write(f"{name} = {value}")
        self.scope[name] = kind

    def _pointer(self) -> None:
        self.assign_new("P0")

    def _reassign(self) -> None:
        names = [n for n, k in self.scope.items() if n not in self._parameters and k[0] != "B"]
        if not names:
            return self._new()
        name = self.random.choice(names)
        kind = self.scope[name]
        if kind[0] in "FI" and self.random.random() < 0.04:
            kind = self._kind()
        value = self.expressions.expression(kind)
        if kind[0] in "FI" and self.random.random() < 0.5:
            operator = self.random.choice("+-**")
            form = self.random.choice(("{0} = {0} {1} {2}", "{0} {1}= {2}", "{0} = {2} {1} {0}"))
            self.write(form.format(name, operator, self.expressions.expression(kind, 1)))
        elif kind[0] == "F" and kind == self.scope[name] and self.random.random() < self._care:
            self.write(f"{name} = tl.cast({value}, {name}.dtype)")
        else:
            self.write(f"{name} = {value}")
        self.scope[name] = kind
        return None

    def _tuple(self) -> None:
        one, other = self._fresh(), self._fresh()
        kinds = self._kind(), self._kind()
        values = [self.expressions.expression(kind, 2) for kind in kinds]
        pair = f"{one}{other}"
        match self.random.randrange(3):
            case 0:
                self.write(f"{one}, {other} = {values[0]}, {values[1]}")
            case 1:
                self.write(f"{pair} = ({values[0]}, {values[1]})")
                self.write(f"{one}, {other} = {pair}")
            case 2:
                again = [self.expressions.expression(kind, 1) for kind in kinds]
                self.write(f"{pair} = ({values[0]}, {values[1]})")
                self.write(f"if {self.expressions.expression('c')}:")
                self.write(f"    {pair} = ({again[0]}, {again[1]})")
                self.write(f"{one} = {pair}[0]")
                self.write(f"{other} = {pair}[1]")
        self.scope.update(zip((one, other), kinds, strict=True))

    # Blocks

    @contextmanager
    def _block(self, header: str) -> Iterator[None]:
        """Lines under a header; what is new or of another kind in them is not there after them."""
        before = dict(self.scope)
        self.write(header)
        self._level += 1
        yield
        self._level -= 1
        after = dict(self.scope)
        self.scope.clear()
        self.scope.update({n: k for n, k in before.items() if after.get(n) == k})

    def _if(self) -> None:
        with self._block(f"if {self.expressions.expression('c')}:"):
            self.statements(self.random.randint(1, 2))
        if self.random.random() < 0.15:
            with self._block(f"elif {self.expressions.expression('c')}:"):
                self._reassign()
        if self.random.random() < 0.3:
            with self._block("else:"):
                self.statements(1)

    def _if_new(self) -> None:
        """A variable that is new in both blocks; now and then it was None, or is new in one."""
        name, kind = self._fresh(), self._kind()
        chance = self.random.random()
        condition = self.expressions.expression("c")
        if chance < 0.1:
            self.write(f"{name} = None")
        elif chance < 0.15:
            condition = "flag" if "flag" in self.scope else "wanted"
        with self._block(f"if {condition}:"):
            self.assign_new(kind, name)
        if not 0.1 <= chance < 0.15:
            with self._block("else:"):
                if kind in ("F0", "I0") and self.random.random() < 0.4:
                    self.write(f"{name} = {self.random.choice(('0.0', '0.0', '0'))}")
                else:
                    self.assign_new(kind, name)
        self.scope[name] = kind

    def _loop(self) -> None:
        counter = self._fresh()
        limit = self.expressions.expression("limit")
        header = self.random.choice(
            (
                f"for {counter} in range(0, {limit}):",
                f"for {counter} in range(4):",
                f"for {counter} in tl.range(0, {limit}, num_stages=2):",
                f"for {counter} in tl.static_range(0, 2):",
                f"while {counter} < {limit}:",
            )
        )
        is_while = header.startswith("while")
        if is_while:
            self.write(f"{counter} = 0")
        before = self._parameters
        self._parameters |= {counter}
        with self._block(header):
            self.scope[counter] = "I0"
            self._loops += 1
            self.statements(self.random.randint(1, 2))
            self._loops -= 1
            if is_while:
                self.write(f"{counter} += 1")
        self._parameters = before

    # Effects

    def store(self) -> None:
        """Something is written to memory."""
        expression = self.expressions.expression
        pointer = self.random.choice(("out", "out", "q", "k"))
        match self.random.randrange(8):
            case 0:
                self.write(f"tl.store({pointer}, {expression('F0')})")
            case 1:
                pointer = self.random.choice(("out", "q"))
                function = self.random.choice(("add", "add", "add", "max"))
                self.write(f"tl.atomic_{function}({pointer} + at, {expression('F1')})")
            case _:
                self.write(f"tl.store({pointer} + at, {expression('F1')})")

    def _leave(self) -> None:
        """The kernel ends here for some."""
        with self._block(f"if {self.expressions.expression('c')}:"):
            self._reassign()
            if self._loops == 0 or self.random.random() < 0.1:
                self.write("return")

    def returns(self, kind: str) -> None:
        """The end of a helper."""
        first, last = self._returned(kind), self._returned(kind)
        condition = self.expressions.expression("c")
        match self.random.randrange(5):
            case 0 | 1:
                pass
            case 2 | 3:
                self.write(f"if {condition}:")
                self.write(f"    return {first}")
            case 4:
                self.write(f"if {condition}:")
                self.write(f"    return {first}")
                self.write("else:")
                self.write(f"    return {last}")
                return
        self.write(f"return {last}")

    def _returned(self, kind: str) -> str:
        value = self.expressions.expression(kind)
        if self.random.random() < self._care:
            return f"tl.cast({value}, x.dtype)"
        if kind == "F0" and self.random.random() < 0.2:
            return "0.0"
        return value
