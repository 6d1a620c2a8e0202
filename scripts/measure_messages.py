"""Measure what torch and other libraries say is wrong, and write `docs/measured_messages.json`.

    python scripts/measure_messages.py

Every expression of `measure_kernels.py` runs with operands of one half or float8 dtype, and with
operands of two dtypes. What it raises is a message of the pitfall that the kind of operator and of
dtypes belongs to. Messages of CUDA are those of the record of `measure_cuda.py`. The programs of
`message_forms.py` raise or warn, too: it says of which pitfall that is. `explain` knows them all.
Rerun it with newer libraries and without a GPU, then `generate.py`.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Iterator
from itertools import chain, product
from typing import Any

import accelerate
import deepspeed
import lightning
import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
import transformers
from measure_kernels import LAYERS, all_forms, error
from measure_operators import CUDA_RECORD, ROOT, forms, uniform
from message_forms import OF_LIBRARIES, OF_TORCH
from torch import nn, optim

FILE = ROOT / "docs" / "measured_messages.json"

_NARROW = ("float16", "bfloat16", "float8_e4m3fn")
_PAIRS = (("float16", "float32"), ("float32", "bfloat16"), ("float64", "float32"))
_SUBJECT = re.compile(
    r"dtype|scalar ?type|types?\b|not implemented for|precision|should match|did not match|Half"
)
_FEW = 5
_DTYPE = re.compile(
    r"(?:c10::)?(?:BFloat16|Half|Float8_e4m3fn|Float|Double|float|double)|"
    r"(?:torch\.|CPU)\w*(?:Tensor|Type)\b|\d+"
)

# The first pattern that is in the name of an operator decides. Which one lacks a kernel, which one
# gets two dtypes.
_LACKING = (
    (r"quantile", "F01"),
    (r"fft|stft", "F03"),
    (r"complex|polar|angle", "F04"),
    (r"histc|histogram", "A04"),
    (r"numpy", "A01"),
    (r"linalg|svd|eig|qr|cholesky|lu|lstsq|inverse|det|solve|pca|triangular|matrix", "F02"),
)
_DISAGREEING = (
    (r"attention", "D04"),
    (r"index_|scatter|put|__setitem__", "D03"),
    (r"norm", "D06"),
    (r"mm|mv|linear|conv|matmul|bilinear|prelu|einsum|tensordot|multi_dot|[A-Z]", "D01"),
)


def pitfall(name: str, dtypes: set[str]) -> str:
    """The pitfall of an operator that refuses operands of these dtypes."""
    if any(dtype.startswith("float8") for dtype in dtypes):
        return "A01" if name == "numpy" else "F06"
    table, other = (_LACKING, "F05") if len(dtypes) == 1 else (_DISAGREEING, "D07")
    found = next((found for part, found in table if re.search(part, name)), other)
    return "D09" if "float64" in dtypes and found in {"D01", "D07"} else found


def raised() -> Iterator[tuple[str, str]]:
    """The pitfalls of all expressions and layers, and what they raise."""
    layers = [form for expression in LAYERS.split() for form in forms(f"nn.{expression}")]
    for form in [*all_forms(), *layers]:
        refused = {dtype: error(form, uniform(dtype)) for dtype in ("float32", *_NARROW)}
        if refused["float32"]:
            continue
        for dtype in _NARROW:
            yield pitfall(form.name, {dtype}), refused[dtype]
        for variable, (one, others) in product("xyz", _PAIRS):
            if not refused.get(one) and not refused.get(others):
                dtypes = {**uniform(others), variable: one}
                yield pitfall(form.name, {one, others}), error(form, dtypes)
    record = json.loads(CUDA_RECORD.read_text("utf-8"))
    for expression, by_dtype in record["errors of half precision"].items():
        for dtype, message in by_dtype.items():
            yield pitfall(expression, {dtype}), message


def said() -> Iterator[tuple[str, str]]:
    """The pitfalls of all programs, and what they raise or warn of."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    for name, programs in chain(OF_TORCH.items(), OF_LIBRARIES.items()):
        for program in programs:
            message = _said_by(program)
            if not message:
                raise SystemExit(f"{program} neither raises nor warns")
            yield name, message


def _said_by(program: str) -> str:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            exec(program, _names())
        except Exception as raised:  # the programs are about many libraries
            return _as_printed(raised)
    return _as_printed(warned[0].message) if warned else ""


def _as_printed(problem: Warning | Exception | str) -> str:
    """The name and the text, up to where long lists begin; places in files are no part of it."""
    text = " ".join(_PLACE.sub("", f"{type(problem).__name__}: {problem}").split())
    return text if len(text) <= _LONG else text[: text.rindex(" ", 0, _LONG)]


_PLACE = re.compile(
    r"\(Triggered internally .*|For further information visit .*|\btensor\(.*", re.S
)
_LONG = 240


def _names() -> dict[str, Any]:
    """What the programs see."""
    s = torch.arange(16.0).reshape(4, 4) / 8
    model = nn.Linear(4, 4)
    bad = nn.Parameter(s.clone())
    bad.grad = s * float("nan")
    scaler = torch.amp.GradScaler("cpu")
    return {
        "accelerate": accelerate,
        "adam": optim.Adam(model.parameters()),
        "b": s.bfloat16(),
        "backward": lambda: scaler.scale(model(s).sum()).backward(),
        "bad": bad,
        "d": s.double(),
        "e": s.to(torch.float8_e4m3fn),
        "F": F,
        "group": dist,
        "h": s.half(),
        "i": torch.arange(4),
        "lightning": lightning,
        "model": model,
        "n": s * float("nan"),
        "nn": nn,
        "np": np,
        "optim": optim,
        "s": s,
        "scaler": scaler,
        "torch": torch,
        "transformers": transformers,
        "zero": lambda **rows: deepspeed.DeepSpeedConfig({"train_batch_size": 1, **rows}),
    }


def measured() -> dict[str, list[str]]:
    """The messages by pitfall; of those that differ in dtypes and numbers only, the first.

    No operator has kernels for float8, so `explain` needs none of their names. What has few words
    could be in any text.
    """
    found: dict[str, dict[str, str]] = {}
    for name, message in raised():
        if (
            len(message.split()) > 5
            and _SUBJECT.search(message)
            and "implemented for 'Float8" not in message
        ):
            plain = _DTYPE.sub("", message)
            found.setdefault(name, {}).setdefault(plain, " ".join(message.split()))
    for name, others in (("F06", "ABCDEF"), ("F02", "D")):  # what an operator is made of says less
        alike = {
            plain
            for other in found
            if other[0] in others and other != name
            for plain in found[other]
        }
        found[name] = {plain: one for plain, one in found[name].items() if plain not in alike}
    for name, message in said():
        found.setdefault(name, {}).setdefault(_DTYPE.sub("", message), message)
    return {name: sorted(messages.values()) for name, messages in sorted(found.items())}


def main() -> None:
    logging.disable()
    warnings.simplefilter("ignore")
    text = json.dumps(measured(), indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
