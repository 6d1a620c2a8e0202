"""Measure what torch says of operands it refuses, and write `docs/measured_messages.json`.

    python scripts/measure_messages.py

Every expression of `measure_kernels.py` runs with operands of one half or float8 dtype, and with
operands of two dtypes. What it raises is a message of the pitfall that the kind of operator and of
dtypes belongs to. Messages of CUDA are those of the record of `measure_cuda.py`. `explain` knows
them all. Rerun it with a newer torch, then `generate.py`.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Iterator
from itertools import product

from measure_kernels import LAYERS, all_forms, error
from measure_operators import CUDA_RECORD, ROOT, forms, uniform

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
    return {name: sorted(messages.values()) for name, messages in sorted(found.items())}


def main() -> None:
    logging.disable()
    warnings.simplefilter("ignore")
    text = json.dumps(measured(), indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
