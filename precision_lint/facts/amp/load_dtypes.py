"""Models that are loaded in a dtype that does not suit what the same program does with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Literal

from precision_lint.facts.amp.own_trainers import TRAINERS
from precision_lint.facts.amp.trainer_setups import trainer_setups
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Constant
from precision_lint.facts.dtypes.operators.conversions import as_dtype
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import BFLOAT16, FLOAT16, FLOAT32
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.syntax import callee_name

LOADING = TRAINERS | {"from_pretrained", "train"}
"""The calls that show it."""

_FLASH = frozenset({"flash_attention_2", "flash_attention_3"})
_SETS_HALF = regex(
    r"float16|fp16|bf16|half\(|autocast|mixed_precision|quantization|load_in_|deepspeed"
    r"|\.to\((?!\s*(?:[\"'](?:cuda|cpu|mps)|(?:\w+\.)*device\s*\)))",
    re.IGNORECASE,
)
"""What may run a model in half precision that was not loaded so."""
_PARTLY_TRAINED = regex(
    r"\blora|peft|load_in_[48]bit|quantization_config|unsloth|deepspeed|fsdp|requires_grad",
    re.IGNORECASE,
)
"""What trains something else than the weights as they were loaded, or scales by itself."""


@frozen
class LoadDtype:
    """A model in `dtype` and what contradicts it: `setting`, at the place `other`.

    `dtype` is "" where none was given.
    """

    span: Span
    form: Literal["scaled", "not scaled", "flash"]
    dtype: str
    setting: str
    other: Related
    origin: Origin | None = None


def load_dtypes(calls: Sequence[Call], file: PythonFile) -> Iterator[LoadDtype]:
    """The models of a file that do not suit their trainer or their attention."""
    if _PARTLY_TRAINED.search(file.text.text) is None:
        yield from _trained(calls, file)
    for call in calls:
        if call.name == "from_pretrained":
            found = _with_flash_attention(call, file)
            if found is not None:
                yield found


def _trained(calls: Sequence[Call], file: PythonFile) -> Iterator[LoadDtype]:
    """bfloat16 weights with `fp16=True`, float16 weights with `bf16=True`."""
    if not any(call.name == "train" for call in calls):
        return
    for setup in trainer_setups(calls, file):
        weights = setup.model.parameters
        origin = weights.origin
        if setup.model.is_widened or origin is None or origin.kind != "dtype":
            continue
        for dtype, switch in ((BFLOAT16, "fp16"), (FLOAT16, "bf16")):
            given = setup.argument(switch)
            if given is not None and setup.is_on(switch) and weights.must_be(frozenset({dtype})):
                form: Literal["scaled", "not scaled"] = (
                    "scaled" if dtype == BFLOAT16 else "not scaled"
                )
                place = file.related(file.span_of(given), f"`{switch}=True` is given here")
                yield LoadDtype(setup.call.span, form, dtype, f"{switch}=True", place, origin)


def _with_flash_attention(call: Call, file: PythonFile) -> LoadDtype | None:
    """FlashAttention with float32 weights, by request or because transformers loads them so."""
    given = call.keywords.get("attn_implementation")
    match given and given.value:
        case Constant(value=str(name)) if name in _FLASH:
            pass
        case _:
            return None
    assert given is not None
    if not (call.function or "").startswith("transformers.") or "**" in call.keywords:
        return None
    asked = call.keywords.get("dtype") or call.keywords.get("torch_dtype")
    if _SETS_HALF.search(file.text.text) is not None or _is_set_elsewhere(file):
        return None
    version = file.project.version_of("transformers")
    if asked is None and (version is None or version >= (5, 0)):
        return None
    if asked is not None and not as_dtype(asked.value).must_be(frozenset({FLOAT32})):
        return None
    place = file.related(given.span, f"`{name}` is chosen here")
    dtype = "" if asked is None else FLOAT32
    return LoadDtype(call.span, "flash", dtype, name, place)


def _is_set_elsewhere(file: PythonFile) -> bool:
    """True if a trainer of the file gets arguments that the file does not show.

    `bf16=True` may be among them, and the trainer then runs the model under autocast.
    """
    for node in file.nodes:
        if isinstance(node, ast.Call):
            name = callee_name(node) or ""
            is_whole = all(keyword.arg is not None for keyword in node.keywords)
            if name in _PARSERS or (name.endswith(_OF_TRAINERS) and not is_whole):
                return True
    return False


_PARSERS = frozenset({"HfArgumentParser", "TrlParser"})
_OF_TRAINERS = ("Arguments", "Config", "Trainer")
