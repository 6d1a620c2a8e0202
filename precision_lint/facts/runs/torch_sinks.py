"""The places in a program that decide a precision in torch's own terms, and what they come to.

These are autocast regions, casts and loading of networks, dtypes that are looked up by name, the
default dtype, and TF32.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from precision_lint.facts.dtypes.sources import NETWORK_NAME
from precision_lint.facts.frameworks.precision import Part
from precision_lint.facts.runs.alternatives import alternatives
from precision_lint.facts.runs.evaluation import Evaluator
from precision_lint.model.memo import fact
from precision_lint.model.precision import Precision, precision_of
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import dotted, last_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

MARKS = (
    b"autocast", b".half()", b".bfloat16()", b"dtype=", b"allow_tf32", b"float32_matmul_precision",
    b".to(", b"getattr(torch",
)  # fmt: skip
"""What a file holds that has such a place."""

Node: TypeAlias = "ast.Call | ast.Assign"

_CASTS: Mapping[str, Precision] = {"half": "fp16", "bfloat16": "bf16"}
_CALLS = (
    "autocast", "partial", "half", "bfloat16", "to", "from_pretrained", "set_default_dtype",
    "set_float32_matmul_precision", "getattr",
)  # fmt: skip
_PRODUCTS: Mapping[str, Precision] = {"highest": "fp32", "high": "tf32", "medium": "tf32"}
_OF_DTYPE = re.compile(r"dtype|precision")
_OF_ALL = re.compile(
    r"(?:base_|hf_|gpt_|diffusion_)?(?:model|net|network|unet\d*|transformer|llm|pipe|pipeline)"
)
"""Names of what a program runs as a whole; a reward model and a VAE are only parts of it."""


@dataclass(frozen=True, slots=True)
class TorchPlace:
    """A place and what it decides: the computation, the weights, or the products of float32."""

    node: Node
    part: Part
    is_of_all: bool = True
    """False for the weights of one network among others."""


@fact
def torch_places(file: ParsedPython) -> tuple[TorchPlace, ...]:
    """The places of a file, calls before assignments."""
    return tuple(_places(file))


def _places(file: ParsedPython) -> Iterator[TorchPlace]:
    syntax = syntax_tree(file)
    for name in _CALLS:
        for call in syntax.calls(name):
            found = _place(call, name, syntax)
            if found is not None:
                yield found
    for node in file.nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr="allow_tf32")]):
                yield TorchPlace(node, "matmul")


def _place(call: ast.Call, name: str, syntax: SyntaxTree) -> TorchPlace | None:
    match name:
        case "autocast" if qualified(call.func, syntax.names).startswith("torch."):
            return TorchPlace(call, "compute")
        case "partial" if call.args and last_name(call.args[0]) == "autocast":
            return TorchPlace(call, "compute")
        case "set_default_dtype" if call.args:
            return TorchPlace(call, "weights")
        case "set_float32_matmul_precision" if call.args:
            return TorchPlace(call, "matmul")
        case "getattr" if _looks_up_dtype(call, syntax):
            return TorchPlace(call, "weights")
        case "half" | "bfloat16" if not call.args:
            return _of_network(call, syntax)
        case "to" | "from_pretrained" if _dtype_argument(call) is not None:
            return _of_network(call, syntax)
    return None


def _looks_up_dtype(call: ast.Call, syntax: SyntaxTree) -> bool:
    """True for `getattr(torch, config.policy_dtype)`."""
    match call.args:
        case [ast.Name() as owner, name] if not isinstance(name, ast.Constant):
            is_torch = qualified(owner, syntax.names) == "torch"
            return is_torch and _OF_DTYPE.search(ast.unparse(name)) is not None
    return False


def _of_network(call: ast.Call, syntax: SyntaxTree) -> TorchPlace | None:
    """The cast of what is named like a whole network, or the loading of one."""
    name = _network(call, syntax)
    is_loaded = last_name(call.func) == "from_pretrained"
    if not is_loaded and not NETWORK_NAME.search(name):
        return None
    return TorchPlace(call, "weights", _OF_ALL.fullmatch(name) is not None)


def _network(call: ast.Call, syntax: SyntaxTree) -> str:
    """The name of what a method is called on, or of the variable that gets its result."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    held = dotted(owner) if owner is not None else None
    if held is not None and last_name(call.func) != "from_pretrained":
        return held.rpartition(".")[2]
    for parent in syntax.around(call):
        match parent:
            case ast.Assign(targets=[target, *_]):
                return (dotted(target) or "").rpartition(".")[2]
            case ast.stmt():
                break
    return ""


def _dtype_argument(call: ast.Call) -> ast.expr | None:
    """The argument that is a dtype, by its name."""
    for keyword in call.keywords:
        if keyword.arg in ("dtype", "torch_dtype"):
            return keyword.value
    if last_name(call.func) == "to":
        for argument in call.args:
            name = last_name(argument)
            if "dtype" in name or precision_of(name) is not None:
                return argument
    return None


# What they come to


def outcomes(
    place: TorchPlace, file: ParsedPython, evaluator: Evaluator
) -> frozenset[Precision | None]:
    """The precisions that a place may come to in one run: several where the hardware decides, None
    if only run time knows it.
    """
    match place.node:
        case ast.Assign(value=value):
            holds = evaluator.truth(value, file)
            return _one(None if holds is None else "tf32" if holds else "fp32")
        case ast.Call() as call:
            return _of_call(call, file, evaluator)
    return _one(None)


def _one(precision: Precision | None) -> frozenset[Precision | None]:
    return frozenset({precision})


def _of_call(
    call: ast.Call, file: ParsedPython, evaluator: Evaluator
) -> frozenset[Precision | None]:
    match last_name(call.func):
        case "autocast":
            return _autocast(call, call.func, call.args, file, evaluator)
        case "partial":
            return _autocast(call, call.args[0], call.args[1:], file, evaluator)
        case "half" | "bfloat16" as name:
            return _one(_CASTS[name])
        case "set_default_dtype":
            return _values(call.args[0], file, evaluator)
        case "getattr":
            return _values(call, file, evaluator)
        case "set_float32_matmul_precision":
            known = evaluator.value(call.args[0], file)
            return _one(_PRODUCTS.get(str(known.value)) if known is not None else None)
    given = _dtype_argument(call)
    return _values(given, file, evaluator) if given is not None else _one(None)


def _values(
    node: ast.expr, file: ParsedPython, evaluator: Evaluator
) -> frozenset[Precision | None]:
    values = alternatives(node, file, evaluator)
    return frozenset(map(precision_of, values)) if values else _one(None)


def _autocast(
    call: ast.Call,
    function: ast.expr,
    arguments: list[ast.expr],
    file: ParsedPython,
    evaluator: Evaluator,
) -> frozenset[Precision | None]:
    """The precision of an autocast region: float32 if it is off."""
    name = qualified(function, syntax_tree(file).names)
    of_device = name.startswith(("torch.cuda.amp.", "torch.cpu.amp."))
    order = ["enabled", "dtype"] if of_device else ["device_type", "dtype", "enabled"]
    given = dict(zip(order, arguments, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if "enabled" in given:
        holds = evaluator.truth(given["enabled"], file)
        if holds is not True:
            return _one("fp32" if holds is False else None)
    dtype = given.get("dtype")
    if dtype is not None and not (isinstance(dtype, ast.Constant) and dtype.value is None):
        return _values(dtype, file, evaluator)
    device = evaluator.value(given["device_type"], file) if "device_type" in given else None
    is_cpu = name.startswith("torch.cpu.") or (device is not None and device.value == "cpu")
    return _one("bf16" if is_cpu else "fp16")
