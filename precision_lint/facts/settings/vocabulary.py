"""The words of precision: which values name a dtype, and which names mean one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from precision_lint.model.regex import regex

_BITS = r"(?:bfloat|float|bf|fp)(?:8|16|32|64)"

WORDS = (
    b"bf16", b"BF16", b"bfloat16", b"BFLOAT16", b"fp16", b"FP16", b"float16", b"fp32", b"float32",
    b"fp8", b"float8", b"precision", b"PRECISION", b"dtype", b"DTYPE", b"half", b"amp:", b"_amp",
    b'amp"', b"-amp", b"autocast",
)  # fmt: skip
"""A pattern in the bytes of every file that mentions precision."""

_MENTIONED = regex(
    rb"(?:bf|bfloat|fp|float)(?:8|16|32|64)|tf32|precision|dtype|half|autocast|[48]bit"
    rb"|(?<![a-z])amp(?![a-z])|loss_?scale|scaler|opt_level|(?-i:Amp)",
    re.IGNORECASE,
)
_IN_JSON = regex(rb'"[^"\s]*"|--[\w-]+|\w+=')
"""A key or a value without blanks, an option, or an assignment: the rest of JSON is prose."""
_BIT_WIDTHS = frozenset({8, 16, 32, 64})

_BFLOAT16 = regex(
    r"(?:torch\.|amp_|mixed_|pure_)?(?:bfloat16|bf16)(?:[-_](?:mixed|true))?", re.IGNORECASE
)
_FLOAT16 = regex(
    r"(?:torch\.|amp_|mixed_|pure_)?(?:float16|fp16|half)(?:[-_](?:mixed|true))?|16-mixed",
    re.IGNORECASE,
)
_PRECISION = regex(
    rf"(?:torch\.|amp_|mixed_|pure_)?(?:{_BITS}|half|(?:16|32)-(?:mixed|true))(?:[-_]\w+)?",
    re.IGNORECASE,
)
_SETTING = regex(
    rf"{_BITS}|tf32|precision|dtype|autocast|(?:^|_)(?:half|amp)(?:$|_)", re.IGNORECASE
)
_SWITCHING = frozenset({"enabled", "enable", "use"})
_SCALER = regex(r"(?:^|_)(?:grad_?scal(?:er|ing)|loss_scaler?)$", re.IGNORECASE)
"""Names of what scales losses against underflow, or switches that on."""
_OF_SCALE = frozenset({"initial_scale_power", "hysteresis"})
"""The first scale of DeepSpeed, as a power of two, and how many overflows lower a scale."""
_CAMEL = regex(r"(?<=[a-z0-9])(?=[A-Z])")
"""Between the words of `useAmp`."""
_ALSO_CHOOSING = regex(
    r"tf32|load_(?:in_)?[48]bit|double_quant$|use_double_quant|loss_scale|(?:fp16|amp)_(?:init(?:ial)?_)?scale",
    re.IGNORECASE,
)
_LEVEL = regex(r"(?:^|_)(?:opt|amp)_level$|(?:^|_)matmul_precision$", re.IGNORECASE)
_MODE = regex(r"(?:^|_)precision$|(?:^|_)fp8_(?:recipe|format)$", re.IGNORECASE)
_MODES = frozenset(
    {"mixed", "pure", "full", "delayed", "tensorwise", "blockwise", "mxfp8", "e4m3", "hybrid"}
)
"""Of FSDP in OLMo, and of TransformerEngine."""
_POLICY = regex(r"(?:[pco]=(?:half|full|b?f(?:p|loat)?\d+),?){1,3}")
"""`p=f32,c=bfloat16`, a policy of jmp."""
_QUANTIZED = regex(r"[Ww]\d{1,2}[Aa]\d{1,2}")
_WIDTH = regex(r"[248][-_]?bits?|u?int[48]|nf4|fp4", re.IGNORECASE)
_LEVELS = frozenset({"O1", "O2", "O3", "medium", "high", "highest"})
"""Of apex, and of `torch.set_float32_matmul_precision`."""
_TYPED = regex(rf"{_BITS}|tf32|mixed_precision|(?:^|_)(?:half|amp)(?:$|_)", re.IGNORECASE)
"""Names whose number 1 is a switch."""
_OF_BITS = regex(_BITS, re.IGNORECASE)
_MEASURED = regex(
    r"(?:^|_)(?:bytes?|bits|[kmg]i?b|[mu]?s|secs?|seconds|time|latency|speed|speedup|throughput"
    r"|t?flops|size|memory|mem|count|total|tokens|samples|params|ratio|compression|score|acc|accuracy"
    r"|loss|err|error|diff|kl|mse|mae|ppl|perplexity|rank)(?:_|$)",
    re.IGNORECASE,
)
"""Names of numbers that come out of a run: `fp16_bytes`, and not `num_fp16_layers`."""
_LOGGED = regex(r"^log_|_to_(?:tensorboard|wandb|mlflow)$", re.IGNORECASE)
"""Names of what is written down: `log_loss_scale_to_tensorboard`."""
_OF_WEIGHTS = regex(
    rf"4bit_quant_(?:type|storage)$|^{_BITS}_(?:models?|modules?|layers)$", re.IGNORECASE
)
"""Names of the type of quantized weights, and of what is loaded in a type: any text is a choice."""
_OF_QUANTIZING = regex(
    r"(?:^|_)(?:[48]_?bits?|int[48]|qlora|quantization|nested_quant)$",
    re.IGNORECASE,
)
"""Names of what quantizes weights: `use_8bit`, `qlora`."""
_OF_WIDTHS = regex(r"(?:^|_)quantization_bits?$|^[wq]?bits$", re.IGNORECASE)
_WIDTHS = frozenset({2, 3, 4, 8})
_OF_SHARDS = regex(r"(?:^|_)(?:mp_policy|(?:fsdp_)?policy_mp|fsdp_mp)$", re.IGNORECASE)
"""Names of the mixed precision of FSDP, which a dtype or null says."""
_PLACE = regex(r"(?:path|dir|file|folder|name|url|repo)s?$", re.IGNORECASE)
_FILE = regex(r"\.(?:json|ya?ml|toml|py|sh|txt|csv|log|pth?|bin|ckpt|safetensors|onnx)$")
_CHOICE = regex(r"[\w.+:,=|-]{1,40}", re.ASCII)
_OF_DATA = frozenset({
    "string", "str", "object", "bool", "boolean", "int", "int16", "int32", "int64", "uint16",
    "uint32", "uint64", "category", "large_string", "datetime", "datetime64", "datetimetz",
    "timedelta", "timedelta64", "number",
})  # fmt: skip
"""Types of columns and labels, which no run computes in."""
_SWITCH = regex(r"(?:^|_)(?:bfloat16|bf16)$", re.IGNORECASE)
_OF_SWITCH = regex(
    rf"{_BITS}|tf32|mixed_precision|half_precision|(?:^|_)(?:half|amp)$", re.IGNORECASE
)
"""Names of switches: `half_res` and `evaluate_precision` are none of precision."""
_FLOAT16_SWITCH = regex(r"(?:^|_)(?:float16|fp16|amp|half)$", re.IGNORECASE)


def mentions_precision(content: bytes) -> bool:
    """True for bytes of a file that may say something of precision."""
    return _MENTIONED.search(content) is not None


def sets_precision_in_json(content: bytes) -> bool:
    """True for bytes of JSON that may, without what answers and captions say ("half of it")."""
    return mentions_precision(b"\n".join({*_IN_JSON.findall(content)}))


def names_bfloat16(value: object) -> bool:
    """True for `bf16`, `torch.bfloat16`, `bf16-mixed`, `amp_bf16` …"""
    return isinstance(value, str) and _BFLOAT16.fullmatch(value.strip()) is not None


def names_float16(value: object) -> bool:
    """True for `fp16`, `torch.float16`, `16-mixed` …"""
    return isinstance(value, str) and _FLOAT16.fullmatch(value.strip()) is not None


def names_precision(value: object) -> bool:
    """True for a string that names a dtype, or a mode that one is chosen by."""
    return isinstance(value, str) and _PRECISION.fullmatch(value.strip()) is not None


def is_about_precision(name: str) -> bool:
    """True for the name of a setting that chooses a dtype, or switches one on."""
    return _SETTING.search(name) is not None


def may_choose_precision(name: str) -> bool:
    """True for the name of an argument that chooses a precision, quantized weights included."""
    return is_about_precision(name) or _ALSO_CHOOSING.search(name) is not None


def is_precise(name: str) -> bool:
    """True for a dotted name that is about precision: `SOLVER.AMP.ENABLED`."""
    return any(map(is_about_precision, name.split(".")))


def chooses_precision(name: str, value: object, section: str = "") -> bool:
    """True for a setting that chooses a precision: its value names one, or its name and value suit.

    `enabled` and `use` say nothing by themselves, but in a section such as `amp` or `fp8`.
    """
    if names_precision(value):
        return True
    name = name.replace("-", "_")
    if _LOGGED.search(name):
        return False
    if isinstance(value, str | None):
        if value is None:
            return False
        is_level = is_level_of_precision(name, value)
        is_mode = value.lower() in _MODES and _MODE.search(name) is not None
        if is_mode or _POLICY.fullmatch(value):
            return True
        return is_level or (_QUANTIZED.fullmatch(value) is not None and is_about_precision(name))
    if _ALSO_CHOOSING.search(name):
        return is_about_precision(section) or not _is_weight(name, value)
    is_switch = isinstance(value, bool) or (isinstance(value, int) and value in _BIT_WIDTHS)
    named = section.replace("-", "_") if name.lower() in _SWITCHING else name
    return is_switch and is_about_precision(named)


def is_level_of_precision(name: str, value: object) -> bool:
    """True for `opt_level: O1` of apex, `float32_matmul_precision: high` of torch."""
    return value in _LEVELS and _LEVEL.search(name) is not None


def is_of_loss_scale(name: str) -> bool:
    """True for `initial_scale_power`: what is named beside it is about the scale of losses."""
    return name == "initial_scale_power"


def _is_weight(name: str, value: object) -> bool:
    """True for `kd_loss_scale: 0.5`, `r_loss_scaler: 3`, the weight of a term of a loss.

    What scales a loss against underflow is a power of two, which rounds nothing, or 0 for a dynamic
    scale; a `loss_scale` without a term that it belongs to may be any number.
    """
    if not name.lower().endswith(("_loss_scale", "_loss_scaler")) or isinstance(value, bool):
        return False
    if isinstance(value, int):
        return value < 0 or value.bit_count() > 1
    is_power = (
        isinstance(value, float) and value > 1 and value.hex().startswith("0x1.0000000000000p")
    )
    return isinstance(value, float) and not is_power and value != 0


def is_setting_of_precision(name: str, value: object, section: str = "") -> bool:
    """True for whatever a person would look at who asks for the precision of a run.

    Besides what chooses one: a name that is about precision with a value that may, such as `auto`,
    or with none that is known. A rule needs `chooses_precision`.
    """
    if chooses_precision(name, value, section) or _is_tf32(value):
        return True
    if isinstance(value, str | None) and _OF_WEIGHTS.search(name.replace("-", "_")):
        return True
    if _is_of_quantizing(name.replace("-", "_"), value):
        return True
    if isinstance(value, str | None) and _OF_SHARDS.search(name.replace("-", "_")):
        return value is None or _CHOICE.fullmatch(value) is not None
    if name in _OF_SCALE and isinstance(value, int):
        return name != "hysteresis" or is_about_precision(section)
    name = (section if name.lower() in _SWITCHING else name).replace("-", "_")
    if _SCALER.search(name) and (isinstance(value, bool) or value == "dynamic"):
        return True
    if not is_about_precision(name):
        name = _CAMEL.sub("_", name)
    if not is_about_precision(name) or _PLACE.search(name) or _LOGGED.search(name):
        return False
    match value:
        case None:
            return True
        case int():
            is_switch = value in (0, 1) and _TYPED.search(name) is not None
            return is_switch or (_OF_BITS.search(name) is not None and not _MEASURED.search(name))
        case str() if value.isdecimal():
            return int(value) in _BIT_WIDTHS
        case str():
            is_choice = _CHOICE.fullmatch(value) and not value.replace(".", "").isdecimal()
            is_choice = is_choice and _FILE.search(value) is None
            return bool(is_choice) and value.lower() not in _OF_DATA
    return False


def _is_of_quantizing(name: str, value: object) -> bool:
    """True for what switches quantized weights on, names how they are made, or how wide."""
    match value:
        case None | bool():
            return _OF_QUANTIZING.search(name) is not None
        case int():
            return value in _WIDTHS and _OF_WIDTHS.search(name) is not None
        case str():
            is_choice = _CHOICE.fullmatch(value) and _FILE.search(value) is None
            return bool(is_choice) and _OF_QUANTIZING.search(name) is not None
    return False


def offers_precision(choices: Iterable[str]) -> bool:
    """True for an option with choices that name dtypes, or widths of quantized weights: `4bit`."""
    return any(names_precision(each) or _WIDTH.fullmatch(each) for each in choices)


def _is_tf32(value: object) -> bool:
    """True for `tf32`, in which products may be computed: it is no dtype."""
    return isinstance(value, str) and value.lower() in ("tf32", "tensorfloat32")


def is_type_of_data(value: object) -> bool:
    """True for the name of a type that columns have: `int64`, `string`."""
    return isinstance(value, str) and value.lower() in _OF_DATA


def switches_precision(name: str) -> bool:
    """True for the name of a boolean of precision: `fp16`, `no_amp`, `use_mixed_precision`."""
    return _OF_SWITCH.search(name.replace("-", "_")) is not None and not _LOGGED.search(name)


def switches_bfloat16(name: str) -> bool:
    """True for the name of a boolean: `bf16`, `use_bf16`, `pure-bf16`."""
    return _SWITCH.search(name.replace("-", "_")) is not None


def switches_float16(name: str) -> bool:
    """True for the name of a boolean: `fp16`, `use_amp`, `half`."""
    return _FLOAT16_SWITCH.search(name.replace("-", "_")) is not None
