"""What cannot happen in a run: code of other programs, branches that a call excludes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

SHARED = "class Holder:\n    def __init__(self):\n        self.net = None\n"
READ = "    def read(self, x):\n        return self.net(x).numpy()\n"
SETS = "from shared import Holder\nh = Holder()\nh.net = nn.Linear(2, 2).to({dtype})\n"
DECODE = "def decode(x, kind='pil', full=True, scale=1.0, at=None):\n    {test}\n"
BRANCHES = "        return x.float()\n    return x.bfloat16()\n"
USE = "y = decode({given})\ny.numpy()\n"


@pytest.mark.parametrize(
    ("is_one_program", "expected"), [(True, "float64 chosen partial"), (False, "chosen")]
)
def test_only_code_of_the_same_program_sets_an_attribute(
    is_one_program: bool, expected: str, tmp_path: Path
) -> None:
    read = "def read(h: Holder, x):\n    return h.net(x).numpy()\nread(Holder(), x)\n"
    own = ("import other\n" if is_one_program else "") + "from shared import Holder\n" + read
    other = SETS.format(dtype="torch.float64")
    receiver = last_call(tmp_path, shared=SHARED, main=own, other=other).receiver
    assert described(receiver) == expected


def test_code_of_every_program_with_the_file_sets_an_attribute(tmp_path: Path) -> None:
    one = SETS.format(dtype="torch.bfloat16").replace("shared", "main") + "h.read(x)\n"
    two = SETS.format(dtype="torch.float64").replace("shared", "main") + "h.read(x)\n"
    receiver = last_call(tmp_path, main=SHARED + READ, one=one, two=two).receiver
    assert {"bfloat16", "float64"} <= set(described(receiver).split())


@pytest.mark.parametrize(
    ("test", "given", "expected"),
    [
        ("if kind == 'pil':", "x", "float32"),
        ("if kind == 'pil':", "x, kind='latent'", "bfloat16"),
        ("if kind == 'pil':", "x, kind=unknown", "bfloat16 float32"),
        ("if kind != 'latent' and full:", "x", "float32"),
        ("if not full:", "x", "bfloat16"),
        ("if at is None or unknown:", "x", "float32"),
        ("if at is not None:", "x", "bfloat16"),
        ("if scale > 2:", "x", "bfloat16"),
        ("if full is True:", "x", "float32"),
        ("if scale is True:", "x", "bfloat16"),
        ("if kind in ('pil', 'np'):", "x", "float32"),
        ("if kind in unknown:", "x", "bfloat16 float32"),
        ("if scale < kind:", "x", "bfloat16 float32"),
    ],
)
def test_a_call_decides_conditions_on_its_constants(
    test: str, given: str, expected: str, tmp_path: Path
) -> None:
    source = DECODE.format(test=test) + BRANCHES + USE.format(given=given)
    assert described(last_call(tmp_path, main=source).receiver) == expected


def test_one_of_several_objects_keeps_the_fields_that_hold_no_objects(tmp_path: Path) -> None:
    record = "@dataclass\nclass {name}:\n    images: torch.Tensor\n"
    source = (
        "from dataclasses import dataclass\n"
        + record.format(name="One")
        + record.format(name="Two")
        + "out = One(images=x.float()) if y else Two(images=x.double())\nout.images.numpy()\n"
    )
    assert described(last_call(tmp_path, main=source).receiver) == "float32 float64"
