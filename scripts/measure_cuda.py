"""Record what torch's operators do on a real CUDA GPU: result dtypes, errors, and autocast.

    python scripts/measure_cuda.py

The expressions are those of `measure_operators.py`, which knows CUDA only by this record and by
torch's own lists for autocast. Each runs with operands of one dtype, as they are and under autocast
to bfloat16. Rerun it with a newer torch, then run `measure_operators.py`.
"""

from __future__ import annotations

import json
import logging
import warnings
from itertools import chain

import torch
from measure_operators import (
    CUDA_RECORD,
    DTYPES_ON_CUDA,
    EXPRESSIONS,
    FAILURES,
    FLOATS,
    Form,
    describe,
    first_of,
    forms,
    scope,
    uniform,
)

_LONGEST = 160
HALF = ("float16", "bfloat16")


def outcome(form: Form, dtype: str) -> tuple[str, str]:
    """The first dtype of the result, and the error; the other one is empty."""
    try:
        result = eval(form.source, scope({"w": dtype, **uniform(dtype)}, "cuda"))
        torch.cuda.synchronize()
    except FAILURES as error:
        lines = str(error).splitlines() or [""]
        return "", f"{type(error).__name__}: {lines[0][:_LONGEST]}"
    return first_of(describe(result)) or "", ""


def record() -> dict[str, object]:
    """The dtypes of all results by expression, and what half precision raises."""
    plain: dict[str, str] = {}
    region: dict[str, str] = {}
    errors: dict[str, dict[str, str]] = {}
    for form in chain.from_iterable(map(forms, EXPRESSIONS.split())):
        found = {dtype: outcome(form, dtype) for dtype in DTYPES_ON_CUDA}
        plain[form.source] = " ".join(dtype or "-" for dtype, _ in found.values())
        if found["float32"][0] and (
            raised := {one: found[one][1] for one in HALF if found[one][1]}
        ):
            errors[form.source] = raised
        with torch.autocast("cuda", torch.bfloat16):
            inside = [outcome(form, dtype)[0] for dtype in FLOATS]
        region[form.source] = " ".join(dtype or "-" for dtype in inside)
    return {
        "torch": torch.__version__,
        "gpu": torch.cuda.get_device_name(),
        "operands": DTYPES_ON_CUDA,
        "plain": plain,
        "bfloat16 region": region,
        "errors of half precision": errors,
    }


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable()
    CUDA_RECORD.write_text(json.dumps(record(), indent=1) + "\n")


if __name__ == "__main__":
    main()
