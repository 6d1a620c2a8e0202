"""The release of torch that goes with other things a project names: CUDA, torchvision, Triton.

`conda install pytorch cudatoolkit=11.3` installs torch 1.12: no later one was built for that CUDA.
`torchvision==0.19` requires torch 2.4: each release of it is built for one of torch. Each release
of torch requires one of Triton: `triton==2.1.0` goes with torch 2.1.
"""

from __future__ import annotations

import re

from precision_lint.model.regex import regex

_NEWEST = {
    "9.0": (1, 1), "9.2": (1, 7), "10.0": (1, 2), "10.1": (1, 8), "10.2": (1, 12), "11.0": (1, 7),
    "11.1": (1, 10), "11.3": (1, 12), "11.6": (1, 13), "11.7": (2, 0), "11.8": (2, 7),
    "12.1": (2, 5), "12.4": (2, 6), "12.6": (2, 11), "12.8": (2, 11), "12.9": (2, 11),
    "13.0": (2, 11),
}  # fmt: skip
"""The newest torch for each CUDA, by "Previous versions" of pytorch.org (up to torch 2.0.1), and by
`pkg/config/torch_compatibility.json` of replicate/cog, 6110c912 (torch 1.11 to 2.11, 2026-08-21).
"""

_BUILD = regex(
    r"(?:cudatoolkit|pytorch-cuda)[ ]?==?[ ]?(?P<conda>\d+\.\d+)"
    r"|download\.pytorch\.org/whl/(?:lts/[\d.]+/)?cu(?P<major>9|1\d)(?P<minor>\d)\b"
)

COMPANIONS = ("torchvision", "torchaudio")
"""Packages that are built for one release of torch."""


def torch_of_companion(package: str, version: tuple[int, ...]) -> tuple[int, int] | None:
    """The torch that a release of torchvision or torchaudio requires; None where nobody knows.

    By the table in the README of pytorch/vision (0.6 to 0.18) and the one of replicate/cog above
    (0.12 to 0.26). torchaudio has the numbers of torch since torch 2.0.
    """
    match package, version:
        case "torchvision", (0, minor, *_) if 6 <= minor <= 14:
            return 1, minor - 1
        case "torchvision", (0, minor, *_) if minor > 14:
            return 2, minor - 15
        case "torchaudio", (2, minor, *_):
            return 2, minor
    return None


_OF_TRITON = {
    "2.0": (2, 0), "2.1": (2, 1), "2.2": (2, 2), "2.3": (2, 3), "3.0": (2, 4), "3.1": (2, 5),
    "3.2": (2, 6), "3.3": (2, 7), "3.4": (2, 8), "3.5": (2, 9),
}  # fmt: skip
"""The torch that requires each Triton, by the metadata of torch's wheels for Linux (2026-11-27)."""

_TRITON = regex(r"^[ \t\"']*triton==(\d+\.\d+)", re.MULTILINE)


def torch_of_triton(content: str) -> tuple[int, int] | None:
    """The torch that goes with the one Triton that requirements ask for; None without one."""
    found = _TRITON.search(content)
    return None if found is None else _OF_TRITON.get(found[1])


def newest_torch(content: str) -> tuple[int, int] | None:
    """The newest torch that the commands or requirements of a file install; None if any may be."""
    if "torch" not in content:
        return None
    builds = (
        match["conda"] or f"{match['major']}.{match['minor']}" for match in _BUILD.finditer(content)
    )
    return min((_NEWEST[build] for build in builds if build in _NEWEST), default=None)
