"""Measure which calls of libraries take float32 arrays and refuse float16 ones.

    python scripts/measure_refusals.py

Runs a call for each row of `REFUSALS` with arrays of float32 and float16, and with tensors in their
place, and writes what happens into `tests/facts/dtypes/refusals.json`. Libraries that are not
installed keep their rows.
"""

from __future__ import annotations

import io
import json
import sys
import warnings
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from precision_lint.facts.dtypes.libraries.refusals import REFUSALS  # noqa: E402

FILE = ROOT / "tests/facts/dtypes/refusals.json"

PACKAGES = {"PIL": "pillow", "cv2": "opencv-python-headless", "json": "", "numpy": "numpy"}

FORMS = {
    "json.dump": "f({'a': [b.max()]}, text)",
    "json.dumps": "f(b.max())",
    "scipy.io.wavfile.write": "f(file, 16000, b)",
    "soundfile.write": "f(file, b, 16000, format='WAV')",
    "numpy.linalg.lstsq": "f(b, b[0])",
    "numpy.linalg.solve": "f(b, b[0])",
    "scipy.ndimage.median_filter": "f(b, 3)",
    "scipy.ndimage.maximum_filter": "f(b, 3)",
    "scipy.ndimage.minimum_filter": "f(b, 3)",
    **dict.fromkeys(
        [
            f"scipy.ndimage.{name}"
            for name in ("gaussian_filter", "gaussian_filter1d", "gaussian_laplace", "rotate")
        ]
        + [f"scipy.ndimage.{name}" for name in ("shift", "uniform_filter1d", "zoom")],
        "f(b, 2)",
    ),
    "scipy.signal.convolve2d": "f(b, b)",
    "cv2.GaussianBlur": "f(b, (3, 3), 0)",
    "cv2.Laplacian": "f(b, 5)",
    "cv2.Sobel": "f(b, 5, 1, 0)",
    "cv2.bilateralFilter": "f(b, 3, 1, 1)",
    "cv2.blur": "f(b, (3, 3))",
    "cv2.dilate": "f(b, k)",
    "cv2.erode": "f(b, k)",
    "cv2.filter2D": "f(b, -1, k)",
    "cv2.medianBlur": "f(b, 3)",
    "cv2.threshold": "f(b, 1, 2, 0)",
    "cv2.resize": "f(b, (8, 8))",
}
"""Calls of a function `f` with a matrix `b`; those not named take nothing else."""

MATRIX = [[4.0, 1, 0, 0], [1, 5, 1, 0], [0, 1, 6, 1], [0, 0, 1, 7]]


def outcome(function: Any, form: str, matrix: Any) -> str:
    """ "works", or the first line of the error."""
    given = {
        "f": function, "b": matrix, "k": np.ones((3, 3)), "file": io.BytesIO(),
        "text": io.StringIO(),
    }  # fmt: skip
    try:
        eval(form, given)
    except Exception as error:
        lines = str(error).splitlines() or [""]
        return f"{type(error).__name__}: {lines[0]}"
    return "works"


def measured(name: str) -> dict[str, str] | None:
    """What a call gives for each kind of matrix; None if its library is not installed."""
    module, _, last = name.rpartition(".")
    try:
        function = getattr(import_module(module), last)
    except ImportError:
        return None
    package = module.partition(".")[0]
    distribution = PACKAGES.get(package, package)
    version = f"{distribution} {metadata.version(distribution)}" if distribution else "Python"
    form = FORMS.get(name, "f(b)")
    row = {"call": form.replace("f(", f"{name}(", 1), "measured": version}
    for dtype in ("float32", "float16"):
        tensor = torch.tensor(MATRIX, dtype=getattr(torch, dtype))
        row[dtype] = outcome(function, form, np.array(MATRIX, dtype))
        row[f"tensor {dtype}"] = outcome(function, form, tensor)
    return row


def main() -> None:
    warnings.simplefilter("ignore")
    record = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    for name in REFUSALS:
        row = measured(name)
        if row is not None:
            record[name] = row
    known = {name: record[name] for name in sorted(record) if name in REFUSALS}
    FILE.write_text(json.dumps(known, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
