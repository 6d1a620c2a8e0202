"""A file of bfloat16 weights that is read as arrays of NumPy.

## What it does
Finds `safetensors.numpy.load_file(path)`, and `safe_open(path, "np")` whose tensors are read, in a
program that has written bfloat16 or fp8 weights to the same path: with
`safetensors.torch.save_file` or `save_model`. The file is followed as Python would run it, without
running it: its statements outside of functions from the first to the last, and the functions that
they call.

Not reported are paths and dtypes that are not certain, files that the program may write in another
dtype as well, writes under a condition, and programs that import `ml_dtypes`, JAX or TensorFlow,
which give NumPy these dtypes. What another program wrote is not known.

## Why it hurts
NumPy has no bfloat16, and safetensors (0.8.0) looks the name up in NumPy:
`TypeError: data type 'bfloat16' not understood`, for fp8
`AttributeError: module 'numpy' has no attribute 'float8_e4m3fn'`. `safe_open` raises when a tensor
is read.

## Example
```python
from safetensors.numpy import load_file
from safetensors.torch import save_file

save_file(model.bfloat16().state_dict(), "model.safetensors")
arrays = load_file("model.safetensors")
```

## Use instead
```python
from safetensors.torch import load_file, save_file

save_file(model.bfloat16().state_dict(), "model.safetensors")
arrays = {name: weight.float().numpy() for name, weight in load_file("model.safetensors").items()}
```

## Fix safety
There is no fix: the arrays would have to be float32, or the rest of the program to take tensors.

## References
- Pitfall A05
- https://github.com/safetensors/safetensors/issues/598
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from precision_lint.rule_api import (
    BFLOAT16,
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    numpy_reads,
    regex,
)

RULE = Rule(
    code="MP103",
    name="bfloat16-file-as-numpy",
    summary="a file of bfloat16 weights that is read as arrays of NumPy",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("bf16", "fp8"),
    triggers=((b"safetensors",), (b"torch",), (b"save_file", b"save_model")),
    preview=True,
    pitfalls=("A05",),
)

_REGISTERING = regex(r"^\s*(?:import|from)\s+(?:ml_dtypes|jax|flax|tensorflow)\b", re.MULTILINE)
"""What gives NumPy a dtype `bfloat16`."""


def check_source(file: PythonFile) -> Iterator[Finding]:
    if _REGISTERING.search(file.text.text):
        return
    for found in numpy_reads(file):
        saved = file.related(found.saved.span, f"{found.dtype} weights are written here")
        yield file.finding(
            RULE,
            found.call.span,
            f"`{found.call.name}` gives arrays of NumPy, and `{found.path}` holds {found.dtype}, "
            "which NumPy does not have",
            confidence=Confidence.HIGH,
            why=f"`{_error(found.dtype)}`. Read it with `safetensors.torch`, and widen the weights "
            "with `.float()`.",
            related=[saved],
        )


def _error(dtype: str) -> str:
    if dtype == BFLOAT16:
        return f"TypeError: data type '{dtype}' not understood"
    return f"AttributeError: module 'numpy' has no attribute '{dtype}'"
