"""Random expressions of a kernel, from a grammar: `F1` is a float of one dimension.

Sorts are F (float), I (integer), B (bool) and P (pointer to floats), each with its number of
dimensions, all of 64 elements. Small letters are what an expression ends in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random

_PLACE = re.compile(r"\{(\w+)\}")

# weight, expression; @ is the number of dimensions
_FLOAT = """
9 {f@}
4 ({F@} * {literal})
2 ({F@} + {literal})
1 ({literal} - {F@})
2 ({F@} / {literal})
3 ({F@} * {F0})
2 ({F@} + {F@})
2 ({F@} - {F@})
1 ({F@} / {F@})
1 ({F@} * {I0})
1 ({F@} + {I@})
1 ({F@} * {B@})
1 (-{F@})
2 tl.where({B@}, {F@}, {F@})
2 tl.where({B@}, {F@}, {literal})
1 tl.where({c}, {F@}, {F@})
2 tl.maximum({F@}, {F@})
1 tl.minimum({F@}, {literal})
1 tl.clamp({F@}, 0.0, 1.0)
1 tl.fma({F@}, {F@}, {F@})
1 tl.abs({F@})
4 tl.cast({F@}, {dtype})
6 tl.{math}(tl.cast({F@}, tl.float32))
1 tl.{math}({F@})
1 libdevice.tanh({wide@})
2 ({F@} if {c} else {F@})
2 {call@}
"""

_FLOAT_BY_RANK = {
    0: """
1 ({F0} if {c} else {literal})
3 tl.sum({F1}, 0)
3 tl.max({F1}, 0)
1 tl.min({F1})
1 tl.sum({F2})
1 tl.sum({F1}.to(tl.float32), axis=0)
""",
    1: """
2 {F1}.to({dtype})
2 {F1}.to({F1}.dtype)
1 tl.cumsum({F1}, 0)
1 tl.softmax({F1}.to(tl.float32))
1 tl.sum({F2}, 1)
1 tl.max({F2}, axis=1)
1 tl.zeros([64], dtype={dtype})
1 tl.full([64], 0.5, {dtype})
1 tl.zeros_like({F1})
""",
    2: """
2 {F2}.to({dtype})
4 ({F1}[:, None] * {F1}[None, :])
2 ({F2} * {F1}[:, None])
2 tl.dot({F2}, {F2})
1 tl.dot({F2}, {F2}, {F2})
1 tl.dot({F2}, {F2}, out_dtype={dtype})
1 tl.trans({F2})
1 tl.zeros((64, 64), dtype={dtype})
""",
}

_OTHERS = {
    "I0": """
5 {i0}
1 tl.program_id(0)
1 tl.load(k)
1 ({I0} + {I0})
1 ({I0} * 2)
1 ({I0} // 2)
1 ({I0} % 4)
1 tl.cast({I0}, {width})
1 tl.sum({I1}, 0)
1 tl.sum({B1}, 0)
1 tl.argmax({F1}, 0)
""",
    "I1": """
5 {i1}
2 tl.load(k + at)
1 ({I1} + {I0})
1 ({I1} * 2)
1 ({I1} & 3)
1 tl.cast({I1}, {width})
1 tl.where({B1}, {I1}, 0)
1 tl.load(q + at).to(tl.int32)
""",
    "I2": "1 ({I1}[:, None] + {I1}[None, :])",
    "B0": """
2 {b0}
1 ({I0} > 2)
1 ({F0} > 0.5)
1 ({B0} & {B0})
""",
    "B1": """
1 {b1}
2 ({F1} > 0.0)
1 ({I1} < n)
1 ({B1} & {B1})
""",
    "B2": "1 ({F2} > 0.0)",
    "P0": """
4 {p0}
1 ({p0} + n)
""",
}

# In a kernel; what a helper has instead is below.
_KERNEL = {
    "f0": "1 s\n1 tl.load(p)\n1 tl.load({p0})",
    "f1": "2 tl.load(p + at)\n1 tl.load({p0} + at)\n1 tl.load({p0} + at, mask=at < n, other=0.0)",
    "f2": "1 tl.load({p0} + at[:, None] * 64 + at[None, :])",
    "i0": "1 n",
    "i1": "1 at",
    "b0": "1 flag",
    "b1": "1 (at < n)",
    "p0": "3 p\n1 b\n1 q",
    "c": """
4 flag
2 (not flag)
2 (n > 2)
1 (s != 1.0)
1 (tl.program_id(0) == 0)
2 {B0}
3 C
1 (not C)
1 (not not C)
2 D
1 (C and flag)
1 (flag and n > 2)
1 (nothing is None)
1 (one == 1)
""",
    "literal": "3 2.0\n2 2\n1 -1.0\n1 FACTOR\n1 SCALE\n1 one",
    "dtype": "3 tl.float32\n1 tl.bfloat16\n1 tl.float16\n1 p.dtype.element_ty",
    "limit": "1 n",
    "static": "2 C\n1 D\n1 True\n1 False",
}

_HELPER = {
    "f0": "1 s",
    "f1": "1 x",
    "f2": "1 (x[:, None] * x[None, :])",
    "i0": "1 tl.program_id(0)",
    "i1": "1 tl.arange(0, 64)",
    "b0": "1 wanted",
    "b1": "1 (x > 0.0)",
    "c": "3 wanted\n1 (not wanted)\n1 (s > 0.5)\n1 {B0}\n2 WANTED\n1 (not WANTED)",
    "literal": "3 2.0\n2 2\n1 -1.0\n1 SCALE",
    "dtype": "3 tl.float32\n1 tl.bfloat16\n1 tl.float16\n2 x.dtype",
    "limit": "1 tl.program_id(0)",
    "I0": "3 {i0}\n1 ({I0} + 1)\n1 tl.sum({B1}, 0)\n1 tl.argmax({F1}, 0)",
    "I1": "3 {i1}\n1 ({I1} * 2)\n1 tl.cast({I1}, {width})",
    "B1": "1 {b1}\n2 ({F1} > 0.0)\n1 ({I1} < 9)",
}

_COMMON = {
    **{f"wide{rank}": f"3 tl.cast({{F{rank}}}, tl.float32)\n1 {{F{rank}}}" for rank in range(3)},
    "math": "3 exp\n1 exp2\n1 log\n2 sqrt\n1 rsqrt\n1 sin\n2 sigmoid\n1 floor",
    "width": "1 tl.int64\n1 tl.int32\n1 tl.int8",
    **{
        f"F{rank}": _FLOAT.replace("@", str(rank)) + extra[1:]
        for rank, extra in _FLOAT_BY_RANK.items()
    },
    **_OTHERS,
}

Grammar = dict[str, tuple[list[str], list[int]]]


@lru_cache
def grammar(is_helper: bool) -> Grammar:
    """The productions of each symbol, and their weights."""
    found = {}
    for symbol, text in (_COMMON | (_HELPER if is_helper else _KERNEL)).items():
        lines = [line.partition(" ") for line in text.strip().splitlines()]
        found[symbol] = [line[2] for line in lines], [int(line[0]) for line in lines]
    return found


@dataclass
class Expressions:
    """Writes expressions over the names in `scope`, which maps them to a sort and a rank: `F1`."""

    random: Random
    grammar: Grammar
    scope: dict[str, str]
    calls: dict[str, list[str]] = field(default_factory=dict)
    """Calls of helpers by the rank of what they return."""

    def expression(self, symbol: str, depth: int | None = None) -> str:
        """What a symbol may stand for."""
        if depth is None:
            depth = self.random.choice((1, 1, 2, 2, 3))
        if symbol[:-1] == "call":
            symbol = self._call(symbol[-1])
        elif depth <= 0 and symbol.lower() in self.grammar:
            symbol = symbol.lower()
        if symbol not in self.grammar:
            return self._expanded(symbol, depth)
        if symbol[0] in "fibp" and symbol[1:].isdigit():
            names = [name for name, kind in self.scope.items() if kind == symbol.upper()]
            if names and self.random.random() < 0.7:
                return self.random.choice(names)
        productions, weights = self.grammar[symbol]
        return self._expanded(self.random.choices(productions, weights)[0], depth)

    def _call(self, rank: str) -> str:
        calls = self.calls.get(rank)
        return self.random.choice(calls) if calls else f"f{rank}"

    def _expanded(self, text: str, depth: int) -> str:
        return _PLACE.sub(lambda place: self.expression(place[1], depth - 1), text)
