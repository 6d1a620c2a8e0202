"""The release of torch that an install command gets which names CUDA and no release.

`conda install pytorch cudatoolkit=11.3` installs torch 1.12: no later one was built for that CUDA.
"""

from __future__ import annotations

import re

_NEWEST = {
    "9.0": (1, 1), "9.2": (1, 7), "10.0": (1, 2), "10.1": (1, 8), "10.2": (1, 12), "11.0": (1, 7),
    "11.1": (1, 10), "11.3": (1, 12), "11.6": (1, 13), "11.7": (2, 0),
}  # fmt: skip
"""The newest torch for each CUDA, by "Previous versions" of pytorch.org (up to torch 2.0.1)."""

_BUILD = re.compile(
    r"(?:cudatoolkit|pytorch-cuda)[ ]?==?[ ]?(?P<conda>\d+\.\d+)"
    r"|download\.pytorch\.org/whl/(?:lts/[\d.]+/)?cu(?P<major>9|1\d)(?P<minor>\d)\b"
)


def newest_torch(content: str) -> tuple[int, int] | None:
    """The newest torch that the commands or requirements of a file install; None if any may be."""
    if "torch" not in content:
        return None
    builds = (
        match["conda"] or f"{match['major']}.{match['minor']}" for match in _BUILD.finditer(content)
    )
    return min((_NEWEST[build] for build in builds if build in _NEWEST), default=None)
