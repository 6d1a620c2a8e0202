"""The precisions that a run can have, and the names that settings and code give them."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from precision_lint.model.regex import regex

Precision: TypeAlias = Literal["fp32", "tf32", "fp16", "bf16", "fp8"]

PRECISIONS: tuple[Precision, ...] = get_args(Precision)

LOW: frozenset[Precision] = frozenset({"fp16", "bf16", "fp8"})
"""Those with fewer bits than float32."""

_NAMES: dict[str, Precision] = {
    "no": "fp32", "none": "fp32", "off": "fp32", "fp32": "fp32", "float32": "fp32", "32": "fp32",
    "float": "fp32", "full": "fp32", "single": "fp32",
    "tf32": "tf32", "tensorfloat32": "tf32",
    "fp16": "fp16", "float16": "fp16", "f16": "fp16", "half": "fp16", "16": "fp16",
    "bf16": "bf16", "bfloat16": "bf16", "bfloat": "bf16",
    "fp8": "fp8", "float8": "fp8", "e4m3": "fp8", "e5m2": "fp8", "transformer-engine": "fp8",
}  # fmt: skip
_BEFORE = regex(r"^(?:torch\.|jnp\.|amp_|mixed_|pure_|use_|full_|enable_|auto_)+")
_AFTER = regex(r"(?:[-_](?:mixed|true|amp|lowp|o[123]))+$")
_FLOAT8 = regex(r"float8_e\d\w*|fp8_e\d\w*|transformer-engine.*")


def precision_of(value: object) -> Precision | None:
    """The precision that a value names: `bf16`, `torch.bfloat16`, `16-mixed`, 16, `no`."""
    match value:
        case bool():
            return None
        case int():
            return _NAMES.get(str(value))
        case str():
            name = _BEFORE.sub("", value.strip().lower())
            name = _AFTER.sub("", name)
            return "fp8" if _FLOAT8.fullmatch(name) else _NAMES.get(name)
    return None


_SWITCHES = regex(
    r"(?:^|[._])(?:(?P<bf16>bf16|bfloat16)|(?P<fp16>fp16|float16|half|amp|auto_mix_prec|autocast)"
    r"|(?P<fp8>fp8|float8)|(?P<tf32>tf32))(?:$|[._])"
)


def switched_by(name: str) -> Precision | None:
    """The precision that a switch turns on by its name: `bf16`, `bf16.enabled`, `use_amp`."""
    found = _SWITCHES.search(name.replace("-", "_").lower())
    return next((one for one in PRECISIONS if found.groupdict().get(one)), None) if found else None
