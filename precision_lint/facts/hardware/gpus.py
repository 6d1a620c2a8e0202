"""The GPUs that are known by name, and the dtypes that each computes in without emulation.

NVIDIA says by compute capability what its GPUs have: bfloat16 and TF32 from 8.0, float8 from 8.9,
float4 from 10.0 on. AMD's have no compute capability; all that are listed have bfloat16.

Sources:
- https://developer.nvidia.com/cuda-gpus and https://developer.nvidia.com/cuda-legacy-gpus
- https://nvidia.github.io/TransformerEngine/support_matrix.html
- https://rocm.docs.amd.com/en/latest/reference/precision-support.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex

_BFLOAT16 = 8.0
_FLOAT8 = 8.9

_VENDORS = regex(r"(?:nvidia|tesla|geforce|amd|instinct)+(?=\w)")
_MEMORY = regex(r"(?<=[a-z])\d+gb?$")  # `volta32gb`, but not `v100`
_WORDS = regex(r"[a-z0-9]+")
_MOST_WORDS = 4  # `rtx 6000 ada generation`


@frozen
class Gpu:
    """A model, or a generation of models that are alike in this."""

    name: str
    capability: float | None
    """NVIDIA's compute capability; None for AMD."""
    float8: bool
    """It multiplies matrices in float8."""

    @property
    def bfloat16(self) -> bool:
        """It computes in bfloat16, and does not emulate it in float32."""
        return self.capability is None or self.capability >= _BFLOAT16

    @property
    def tf32(self) -> bool | None:
        """It multiplies float32 matrices in TF32; None for AMD, where that differs by library."""
        return None if self.capability is None else self.capability >= _BFLOAT16


_NVIDIA = {
    3.7: "K80",
    5.2: "M40, M60",
    6.0: "P100, GP100",
    6.1: "P4, P40, GTX 1050, GTX 1060, GTX 1070, GTX 1080, GTX 1080 Ti, TITAN Xp, Pascal",
    7.0: "V100, V100S, GV100, TITAN V, Volta",
    7.5: (
        "T4, T4G, RTX 2060, RTX 2070, RTX 2080, RTX 2080 Ti, TITAN RTX, GTX 1650, GTX 1660, "
        "Quadro RTX 4000, Quadro RTX 5000, Quadro RTX 6000, RTX 8000, Turing"
    ),
    8.0: "A100, A30, A800",
    8.6: (
        "A10, A10G, A16, A2, A40, RTX A2000, RTX A3000, RTX A4000, RTX A5000, RTX A6000, "
        "RTX 3050, RTX 3060, RTX 3070, RTX 3080, RTX 3090, RTX 3060 Ti, RTX 3070 Ti, RTX 3080 Ti, "
        "RTX 3090 Ti, Ampere"
    ),
    8.9: (
        "L4, L40, L40S, L20, RTX 2000 Ada, RTX 4000 Ada, RTX 4500 Ada, RTX 5000 Ada, RTX 6000 Ada, "
        "RTX 4050, RTX 4060, RTX 4070, RTX 4080, RTX 4090, RTX 4060 Ti, RTX 4070 Ti, Ada"
    ),
    9.0: "H100, H200, H20, H800, GH200, Hopper",
    10.0: "B200, GB200, Blackwell",
    10.3: "B300, GB300",
    12.0: (
        "RTX 5050, RTX 5060, RTX 5070, RTX 5080, RTX 5090, RTX 5060 Ti, RTX 5070 Ti, "
        "RTX PRO 2000, RTX PRO 4000, RTX PRO 4500, RTX PRO 5000, RTX PRO 6000"
    ),
}
"""The models by compute capability. Not in NVIDIA's list are variants of the same chips: A10G and
T4G of Amazon, A800, H800, H20 and L20. A generation stands for the highest of its models."""

_GENERATIONS = frozenset(
    f"NVIDIA {name}"
    for name in ("Pascal", "Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell")
)
_AMD_WITHOUT_FLOAT8 = "MI100, MI210, MI250, MI250X"
_AMD_WITH_FLOAT8 = "MI300A, MI300X, MI325X, MI350X, MI355X"

_CLOUDS = (
    # Amazon EC2, Amazon SageMaker
    (r"(?:ml\.)?p2\.\w+", "K80"),
    (r"(?:ml\.)?p3(?:dn)?\.\w+", "V100"),
    (r"(?:ml\.)?p4de?\.\w+", "A100"),
    (r"(?:ml\.)?p5\.\w+", "H100"),
    (r"(?:ml\.)?p5en?\.\w+", "H200"),
    (r"(?:ml\.)?p6-b200\.\w+", "B200"),
    (r"(?:ml\.)?g3s?\.\w+", "M60"),
    (r"(?:ml\.)?g4dn\.[\w-]+", "T4"),
    (r"(?:ml\.)?g5g\.\w+", "T4G"),
    (r"(?:ml\.)?g5\.\w+", "A10G"),
    (r"(?:ml\.)?g6\.\w+", "L4"),
    (r"(?:ml\.)?g6e\.\w+", "L40S"),
    # Google Compute Engine
    (r"a2-(?:high|mega|ultra)gpu-\d+g", "A100"),
    (r"a3-(?:high|edge|mega)gpu-\d+g", "H100"),
    (r"a3-ultragpu-\d+g", "H200"),
    (r"a4-highgpu-\d+g", "B200"),
    (r"g2-standard-\d+", "L4"),
    # Microsoft Azure
    (r"standard_nc(?:6|12|24r?)", "K80"),
    (r"standard_nc\d+r?s_v2", "P100"),
    (r"standard_nd\d+r?s", "P40"),
    (r"standard_nc\d+r?s_v3", "V100"),
    (r"standard_nd40rs_v2", "V100"),
    (r"standard_nc\d+as_t4_v3", "T4"),
    (r"standard_nv\d+s_v3", "M60"),
    (r"standard_nv\d+ad[ms]*_a10_v5", "A10"),
    (r"standard_nd96asr_v4", "A100"),
    (r"standard_n[cd]\d+[a-z]+_a100_v4", "A100"),
    (r"standard_n[cd]\d+[a-z]+_h100_v5", "H100"),
    (r"standard_nd\d+[a-z]+_h200_v5", "H200"),
)
"""Machine types by their clouds' documentation, and the GPU that each comes with."""


def gpu(text: str) -> Gpu | None:
    """The GPU that a label, a type or a name means; None for none, and for several."""
    words = [_word(word) for word in _WORDS.findall(text.lower())]
    found: dict[str, Gpu] = {}
    start = 0
    while start < len(words):
        length = next((n for n in _lengths(words, start) if _key(words, start, n) in _known()), 0)
        if length:
            named = _known()[_key(words, start, length)]
            found[named.name] = named
        start += length or 1
    models = [one for name, one in found.items() if name not in _GENERATIONS] or [*found.values()]
    return models[0] if len(models) == 1 else None


def machine_gpu(text: str) -> Gpu | None:
    """The GPU of a cloud's machine type: `g4dn.xlarge`, `Standard_NC6s_v3`."""
    names = (name for pattern, name in _CLOUDS if re.fullmatch(pattern, text.strip().lower()))
    return next((_known()[name.lower()] for name in names), None)


def known_gpus() -> list[str]:
    """The names that are known, without their vendors."""
    return [name for names in (*_NVIDIA.values(), _AMD_WITHOUT_FLOAT8, _AMD_WITH_FLOAT8)
            for name in names.split(", ")]  # fmt: skip


def _word(text: str) -> str:
    """A word of a name, less the vendor and the memory that may be written in one with it."""
    word = _VENDORS.sub("", text)
    generation = _MEMORY.sub("", word)
    return generation if f"NVIDIA {generation.title()}" in _GENERATIONS else word


def _lengths(words: list[str], start: int) -> Iterator[int]:
    """How many words a name can have, the longest first."""
    return iter(range(min(_MOST_WORDS, len(words) - start), 0, -1))


def _key(words: list[str], start: int, length: int) -> str:
    return "".join(words[start : start + length])


@lru_cache(maxsize=1)
def _known() -> dict[str, Gpu]:
    """Each GPU by its name in one word, and by that without `rtx` or `gtx`."""
    found = {}
    for capability, names in _NVIDIA.items():
        for name in names.split(", "):
            one = Gpu(f"NVIDIA {name}", capability, capability >= _FLOAT8)
            word = name.replace(" ", "").lower()
            found[word] = one
            # `4000` alone is a number, and there are several generations of RTX 4000.
            short = word.removeprefix("rtx").removeprefix("gtx")
            if re.fullmatch(r"\d0[5-9]0(?:ti)?|a\d000|\d000ada|16[56]0", short):
                found.setdefault(short, one)
    for names, float8 in ((_AMD_WITHOUT_FLOAT8, False), (_AMD_WITH_FLOAT8, True)):
        for name in names.split(", "):
            found[name.lower()] = Gpu(f"AMD Instinct {name}", None, float8)
    found["mi300"] = found["mi300x"]
    return found
