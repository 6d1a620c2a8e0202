"""Functions of the standard library that call others, or choose among what they are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

HEAD = """
import asyncio, heapq, operator, random
from bisect import insort
from functools import reduce
from itertools import accumulate
from operator import attrgetter, itemgetter, methodcaller

wide, half = torch.ones(2), torch.ones(2).bfloat16()

def narrow(a, b):
    return (a + b).bfloat16()

async def halved(x):
    return x.bfloat16()

async def same(x):
    return x
"""
EXPRESSIONS = [
    ("reduce(narrow, [wide, wide])", "bfloat16"),
    ("reduce(lambda a, b: a * b, [half for _ in r])", "bfloat16"),
    ("reduce(lambda a, b: a * b, [wide for _ in r])", "float32"),
    ("reduce(operator.add, [half, half])", "bfloat16"),
    ("reduce(operator.add, [half, half], wide)", "float32"),
    ("reduce(torch.maximum, [half, wide])", "float32"),
    ("reduce(narrow, [wide])", "float32"),
    ("list(accumulate([half, half]))[-1]", "bfloat16"),
    ("list(accumulate([wide, half]))[-1]", "float32"),
    ("list(accumulate([wide, half], narrow))[0]", "float32"),
    ("list(accumulate([half], initial=wide))[-1]", "float32"),
    ("[*accumulate([half for _ in r], lambda a, b: a.float() + b)][0]", "bfloat16 float32"),
    ("itemgetter('x')({'x': half, 'y': wide})", "bfloat16"),
    ("itemgetter('y')({'x': half, 'y': wide})", "float32"),
    ("itemgetter('x', 'y')({'x': half, 'y': wide})[1]", "float32"),
    ("itemgetter(-1)([half, wide])", "float32"),
    ("operator.getitem([half, wide], 0)", "bfloat16"),
    ("list(map(itemgetter(1), [(wide, half)]))[0]", "bfloat16"),
    ("list(map(itemgetter(0), [(wide, half)]))[0]", "float32"),
    ("attrgetter('weight')(nn.Linear(2, 2).bfloat16()).detach()", "bfloat16"),
    ("attrgetter('T')(wide)", "float32"),
    ("attrgetter('T.mT')(half)", "bfloat16"),
    ("methodcaller('bfloat16')(wide)", "bfloat16"),
    ("methodcaller('to', torch.float32)(half)", "float32"),
    ("methodcaller('to', dtype=torch.bfloat16)(wide)", "bfloat16"),
    ("[*map(methodcaller('float'), [half])][0]", "float32"),
    ("operator.mul(half, 2)", "bfloat16"),
    ("operator.mul(half, wide)", "float32"),
]


@pytest.mark.parametrize(("expression", "expected"), EXPRESSIONS)
def test_expressions(expression: str, expected: str, tmp_path: Path) -> None:
    main = f"{HEAD}def f(r):\n    {expression}.numpy()\n"
    assert described(last_call(tmp_path, main=main).receiver) == expected


GATHER = "async def f():\n    a, b = await asyncio.gather(halved(wide), same(wide))\n"
TASK = "async def f():\n    t = asyncio.create_task(halved(wide))\n"
STATEMENTS = [
    ("heap = []\nheapq.heappush(heap, (1, half))\nheapq.heappop(heap)[1].numpy()\n", "bfloat16"),
    ("heap = []\nheapq.heappush(heap, (half, wide))\nheapq.heappop(heap)[1].numpy()\n", "float32"),
    ("heap = [(1, wide)]\nheapq.heappushpop(heap, (2, half))[1].numpy()\n", "bfloat16 float32"),
    ("xs = []\ninsort(xs, half)\nxs[0].numpy()\n", "bfloat16"),
    ("xs = [wide, half]\nrandom.shuffle(xs)\nxs[0].numpy()\n", "bfloat16 float32"),
    (f"{GATHER}    a.numpy()\n", "bfloat16"),
    (f"{GATHER}    b.numpy()\n", "float32"),
    (f"{TASK}    (await t).numpy()\n", "bfloat16"),
    ("asyncio.run(halved(wide)).numpy()\n", "bfloat16"),
    ("asyncio.run(same(wide)).numpy()\n", "float32"),
]


@pytest.mark.parametrize(("code", "expected"), STATEMENTS)
def test_statements(code: str, expected: str, tmp_path: Path) -> None:
    assert described(last_call(tmp_path, main=HEAD + code).receiver) == expected


GIVEN = [
    ("itemgetter(0)(v)", "bfloat16"),
    ("itemgetter(1)(v)", "float32"),
    ("operator.add(v[1], v[1])", "float32"),
    ("reduce(operator.add, [v[0], v[0]])", "bfloat16"),
]


@pytest.mark.parametrize(("expression", "expected"), GIVEN)
def test_what_callers_give(expression: str, expected: str, tmp_path: Path) -> None:
    main = f"{HEAD}def f(v):\n    {expression}.numpy()\nf([half, wide])\n"
    assert described(last_call(tmp_path, main=main).receiver) == expected


BUCKETS = [
    ("b = d.setdefault(k, [])\nb.append(half)\nd[k][0].numpy()\n", "bfloat16"),
    ("b = d.setdefault(k, [])\nb.append(wide)\nd[k][0].numpy()\n", "float32"),
    ("b = d.setdefault('a', [])\nb.append(half)\nd['a'][0].numpy()\n", "bfloat16"),
    (
        "a = d.setdefault('a', [])\nb = d.setdefault('b', [])\na.append(half)\nb.append(wide)\n"
        "d['b'][0].numpy()\n",
        "float32",
    ),
    ("b = d.setdefault(k, {})\nb['x'] = half\nb['y'] = wide\nd[k]['x'].numpy()\n", "bfloat16"),
    ("b = d.setdefault(k, {})\nb['x'] = half\nb['y'] = wide\nd[k]['y'].numpy()\n", "float32"),
    ("d['a'] = wide\nd.setdefault('a', half).numpy()\n", "float32"),
    ("d.setdefault('a', half).numpy()\n", "bfloat16"),
    ("x = d.setdefault('a', half)\nd['a'].numpy()\n", "bfloat16"),
]


@pytest.mark.parametrize(("code", "expected"), BUCKETS)
def test_setdefault(code: str, expected: str, tmp_path: Path) -> None:
    body = "".join(f"    {line}\n" for line in ("d = {}\n" + code).splitlines())
    main = f"{HEAD}def f(k):\n{body}"
    assert described(last_call(tmp_path, main=main).receiver) == expected
