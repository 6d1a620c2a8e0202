"""Calls that raise for arrays or scalars of NumPy of some dtypes: Pillow, SciPy, OpenCV, JSON.

`scripts/measure_refusals.py` runs them; what it found is in `tests/facts/dtypes/refusals.json`.
Not here, as they take float16: HDF5, `np.savez`, `np.save`, TIFF files of imageio, matplotlib,
`scipy.linalg`, `scipy.fft`, data frames of pandas.
"""

from __future__ import annotations

from collections.abc import Mapping

from precision_lint.model.dtypes import FLOAT16, FLOAT32
from precision_lint.model.frozen import frozen


@frozen
class Refusal:
    """What a call refuses: the arguments, their dtypes, and the error with `{dtype}` in it.

    `unless` are arguments with which it may take them, by position and keyword. `tensors` says
    whether tensors of torch are converted, and then refused as well; `scalars` whether it is
    scalars that are refused, also those in lists and dictionaries.
    """

    arguments: tuple[tuple[int, str], ...]
    error: str
    dtypes: frozenset[str] = frozenset({FLOAT16})
    unless: tuple[tuple[int, str], ...] = ()
    tensors: bool = False
    scalars: bool = False


_NEVER = 99
"""The position of an argument that has a keyword only."""

_LINALG = "TypeError: array type {dtype} is unsupported in linalg"
_FILTER = "RuntimeError: array type dtype('{dtype}') not supported"
_SPARSE = "ValueError: scipy.sparse does not support dtype {dtype}"
_OPENCV = "cv2.error: … Unsupported combination of source format (=7)"
_JSON = Refusal(
    ((0, "obj"),),
    "TypeError: Object of type {dtype} is not JSON serializable",
    frozenset({FLOAT16, FLOAT32}),
    unless=((_NEVER, "default"), (_NEVER, "cls")),
    scalars=True,
)

_TABLE: tuple[tuple[str, Refusal, str], ...] = (
    ("json", _JSON, "dump dumps"),
    (
        "PIL.Image",
        Refusal(
            ((0, "obj"),),
            "TypeError: Cannot handle this data type: (1, 1), <f2",
            unless=((1, "mode"),),
        ),
        "fromarray",
    ),
    (
        "scipy.io.wavfile",
        Refusal(((2, "data"),), "ValueError: Unsupported data type '{dtype}'"),
        "write",
    ),
    (
        "soundfile",
        Refusal(
            ((1, "data"),),
            "ValueError: dtype must be one of ['float32', 'float64', 'int16', 'int32'] and not "
            "'{dtype}'",
            tensors=True,
        ),
        "write",
    ),
    (
        "numpy.linalg",
        Refusal(((0, "a"),), _LINALG, tensors=True),
        "cholesky det eig eigh eigvals eigvalsh inv pinv qr slogdet svd",
    ),
    ("numpy.linalg", Refusal(((0, "x"),), _LINALG, tensors=True), "cond svdvals"),
    ("numpy.linalg", Refusal(((0, "a"), (1, "b")), _LINALG, tensors=True), "lstsq solve"),
    (
        "scipy.ndimage",
        Refusal(((0, "input"),), _FILTER, tensors=True),
        """
        gaussian_filter gaussian_filter1d gaussian_laplace laplace maximum_filter minimum_filter
        prewitt rotate shift sobel uniform_filter uniform_filter1d zoom
        """,
    ),
    (
        "scipy.ndimage",
        Refusal(((0, "input"),), "RuntimeError: array type not supported", tensors=True),
        "median_filter",
    ),
    (
        "scipy.sparse",
        Refusal(((0, "arg1"),), _SPARSE, unless=((2, "dtype"),), tensors=True),
        "csc_array csc_matrix csr_array csr_matrix",
    ),
    (
        "scipy.signal",
        Refusal(((0, "in1"), (1, "in2")), "ValueError: convolve2d not available for this type."),
        "convolve2d",
    ),
    (
        "scipy.signal",
        Refusal(((0, "volume"),), "ValueError: dtype={dtype} is not supported by medfilt"),
        "medfilt",
    ),
    (
        "scipy.signal",
        Refusal(((0, "input"),), "ValueError: dtype={dtype} is not supported by medfilt"),
        "medfilt2d",
    ),
    (
        "cv2",
        Refusal(((0, "src"),), _OPENCV),
        "GaussianBlur Laplacian Sobel bilateralFilter blur dilate erode filter2D medianBlur "
        "threshold",
    ),
    ("cv2", Refusal(((0, "src"),), _OPENCV, unless=((5, "interpolation"),)), "resize"),
)

REFUSALS: Mapping[str, Refusal] = {
    f"{module}.{name}": row for module, row, names in _TABLE for name in names.split()
}
"""By qualified name."""
