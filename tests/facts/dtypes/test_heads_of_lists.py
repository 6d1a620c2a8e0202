"""What a list begins with, whatever follows: an operand that is there in any run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

WIDE = "wide = torch.ones(2)\nhalf = torch.ones(2).bfloat16()\n"
LISTS = [
    ("a star at the end", "torch.cat((wide, *half.split(1))).numpy()", "float32"),
    ("a star in front", "torch.cat((*half.split(1), half)).numpy()", "bfloat16"),
    ("half in front", "torch.cat((half, *wide.split(1))).numpy()", "bfloat16 float32"),
    (
        "a loop appends",
        "xs = [wide]\nfor _ in r: xs.append(half)\ntorch.cat(xs).numpy()",
        "float32",
    ),
    ("a loop adds", "xs = [wide]\nfor _ in r: xs += [half]\ntorch.cat(xs).numpy()", "float32"),
    ("a star of a list", "xs = [*half]\ntorch.cat([wide, *xs]).numpy()", "float32"),
    (
        "the first one is taken out",
        "xs = [wide]\nfor _ in r: xs.append(half)\nxs.pop(0)\ntorch.cat(xs).numpy()",
        "bfloat16 float32",
    ),
    (
        "all but the first",
        "xs = [wide]\nfor _ in r: xs.append(half)\ntorch.cat(xs[1:]).numpy()",
        "bfloat16 float32",
    ),
    ("inserted", "xs = []\nfor _ in r: xs.insert(0, half)\ntorch.cat(xs).numpy()", "bfloat16"),
    ("its first", "xs = [wide]\nfor _ in r: xs.append(half)\nxs[0].numpy()", "float32"),
    (
        "its last",
        "xs = [wide]\nfor _ in r: xs.append(half)\nxs[-1].numpy()",
        "bfloat16 float32",
    ),
    (
        "unpacked",
        "xs = [wide]\nfor _ in r: xs.append(half)\nfirst, *others = xs\nfirst.numpy()",
        "float32",
    ),
    (
        "unpacked from the end",
        "xs = [wide, wide]\nfor _ in r: xs.append(half)\n*others, last = xs\nlast.numpy()",
        "bfloat16 float32",
    ),
    ("a copy", "list((half, wide))[1].numpy()", "float32"),
    (
        "a copy is another list",
        "xs = [wide]\nys = list(xs)\nys[0] = half\nxs[0].numpy()",
        "float32",
    ),
    ("a set", "list({half, wide})[1].numpy()", "bfloat16 float32"),
    ("a star in the middle", "a, *b, c = [wide, half, half, wide]\nc.numpy()", "float32"),
    ("what the star takes", "a, *b, c = [wide, half, half, wide]\nb[1].numpy()", "bfloat16"),
    (
        "unpacked in two steps",
        "a, *b = [half, wide, half]\nwider, narrow = b\nwider.numpy()",
        "float32",
    ),
    (
        "a slice is assigned",
        "xs = [wide, wide]\nxs[1:] = [half for _ in r]\nxs[0].numpy()",
        "float32",
    ),
    (
        "a slice of unknown length is assigned",
        "xs = [wide, wide]\nxs[1:] = [half for _ in r]\nxs[1].numpy()",
        "bfloat16 float32",
    ),
    ("a slice of a list", "xs = [wide, half, wide]\nxs[1:3] = [wide]\nxs[1].numpy()", "float32"),
    ("the last is assigned", "xs = [wide, wide]\nxs[-1] = half\nxs[0].numpy()", "float32"),
    (
        "one of them is assigned",
        "xs = [wide, wide]\nxs[r] = half\nxs[0].numpy()",
        "bfloat16 float32",
    ),
    ("the last two", "xs = [half, wide, wide]\nxs[-2:][0].numpy()", "float32"),
    (
        "all but the last of a list that grows",
        "xs = [wide, half]\nfor _ in r: xs.append(half)\nxs[:-1][0].numpy()",
        "float32",
    ),
    (
        "all but the last may be all that is known",
        "xs = [wide]\nfor _ in r: xs.append(half)\nxs[:-1][0].numpy()",
        "bfloat16 float32",
    ),
    (
        "one side of a branch puts another first",
        "xs = [wide] if r else [half]\nfor _ in r: xs.append(half)\ntorch.cat(xs).numpy()",
        "bfloat16 float32",
    ),
    (
        "one side of a branch puts none",
        "xs = [wide] if r else []\nfor _ in r: xs.append(half)\ntorch.cat(xs).numpy()",
        "bfloat16 float32",
    ),
]


@pytest.mark.parametrize(
    ("source", "expected"), [case[1:] for case in LISTS], ids=[case[0] for case in LISTS]
)
def test_heads_of_lists(source: str, expected: str, tmp_path: Path) -> None:
    main = f"def f(r):\n{''.join(f'    {line}{chr(10)}' for line in (WIDE + source).splitlines())}"
    assert described(last_call(tmp_path, main=main).receiver) == expected
