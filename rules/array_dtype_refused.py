"""A float16 array or scalar that a library refuses.

## What it does
Finds calls that certainly raise because of the dtype of an array or a scalar of NumPy:

- `json.dump` and `json.dumps` of a float16 or float32 scalar, also in lists and dictionaries;
- `Image.fromarray` of Pillow, `scipy.io.wavfile.write` and `soundfile.write` of a float16 array;
- `np.linalg` (`svd`, `inv`, `eigh`, `solve` …), filters of `scipy.ndimage` and `scipy.signal`,
  `scipy.sparse.csr_matrix`, filters and `resize` of OpenCV with a float16 array.

The dtype must be certain: it is that of a tensor that was converted with `.numpy()`, of
`.astype(np.float16)`, of `np.float32(x)` or the like, and what NumPy computes from it. What a
function is given counts in the run of its file: the statements outside of functions are followed
from the first to the last, and so are the functions of the file that they call.

Not reported are calls with `default=` or `cls=` (JSON), `mode=` (Pillow) and `interpolation=`
(OpenCV), calls in `try`, whole arrays in JSON, which fail with any dtype, and float64 scalars,
which are numbers of Python as well. Nor are containers of which the file takes something out
(`results.pop("best")`), and dictionaries whose keys are not known.

## Why it hurts
The program stops, often at its end, when the results are written. Tests in float32 reveal it only
for JSON. Measured with NumPy 2.4, Pillow 13.0, SciPy 1.17, soundfile 0.14, OpenCV 4.10 and 5.0:

- `TypeError: Object of type float16 is not JSON serializable`
- `TypeError: Cannot handle this data type: (1, 1), <f2`
- `ValueError: Unsupported data type 'float16'`
- `TypeError: array type float16 is unsupported in linalg`
- `RuntimeError: array type dtype('float16') not supported`
- `ValueError: scipy.sparse does not support dtype float16`

## Example
```python
scores = model(batch).half().cpu().numpy()
json.dump({"best": scores.max()}, file)
u, s, v = np.linalg.svd(scores)
```

## Use instead
```python
scores = model(batch).float().cpu().numpy()
json.dump({"best": float(scores.max())}, file)
u, s, v = np.linalg.svd(scores)
```

## Fix safety
There is no fix. A picture may need integers, and a scalar `float(x)` where it is computed.

## References
- Pitfalls A03, A07
- https://github.com/huggingface/transformers/issues/9186
- https://github.com/microsoft/FLAML/issues/259
- https://numpy.org/doc/stable/reference/routines.linalg.html
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    precision_of,
    refused_arrays,
    text_of,
)

RULE = Rule(
    code="MP102",
    name="array-dtype-refused",
    summary="a float16 array or scalar that a library refuses",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16",),
    triggers=(
        (b"numpy",),
        (b"float16", b"float32", b".half("),
        (b"json", b"PIL", b"scipy", b"soundfile", b"linalg", b"cv2"),
    ),
    pitfalls=("A03", "A07"),
    yields_to=("MP410",),
    preview=True,
)

_CURES = {True: "Convert it with `float(x)`.", False: "Convert it to float32, or to integers."}


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in refused_arrays(file):
        call = found.call
        what = text_of(found.argument, file, "its argument")
        kind = f"{found.dtype} scalar of NumPy" if found.is_scalar else f"{found.dtype} array"
        keys = "".join(f"[{key!r}]" for key in found.inside)
        where = f" under `{keys}`" if keys else ""
        yield file.finding(
            RULE,
            call.span,
            f"`{call.name}` raises: {what} {'holds' if found.is_inside else 'is'} a {kind}{where}",
            confidence=Confidence.HIGH,
            why=f"`{found.error.removesuffix('.')}`. {_CURES[found.is_scalar]}",
            related=[place.related for place in call.way],
            precisions=tuple(filter(None, [precision_of(found.dtype)])),
        )
