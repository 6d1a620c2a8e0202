"""The places in a program that decide a precision in torch's own terms, and what they come to.

These are autocast regions, scalers, casts and loading of networks, dtypes that are looked up by
name, quantized loading and what its weights are computed in, the default dtype, and TF32.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Literal, TypeAlias

from precision_lint.facts.amp.regions.autocast import autocast_call
from precision_lint.facts.amp.scaling.scalers import enabled_position, makes_grad_scaler
from precision_lint.facts.dtypes.syntax.sources import NETWORK_NAME
from precision_lint.facts.frameworks.precision import Part
from precision_lint.facts.runs.interpreter.alternatives import alternatives
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.interpreter.reachable import may_run
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.precision import Precision, precision_of
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted, last_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

SinkKind: TypeAlias = Literal[
    "autocast", "scaler", "weights", "4-bit weights", "8-bit weights", "4-bit products",
    "default dtype", "matmul", "cast", "argument",
]  # fmt: skip
Node: TypeAlias = "ast.Call | ast.Assign | ast.Return"

NOTES: Mapping[SinkKind, str] = {
    "autocast": "the autocast region",
    "scaler": "the scaler",
    "weights": "the weights",
    "4-bit weights": "the loading of weights in 4 bits",
    "8-bit weights": "the loading of weights in 8 bits",
    "default dtype": "the default dtype",
    "4-bit products": "what 4-bit weights are computed in",
    "matmul": "the precision of products",
    "cast": "the cast",
    "argument": "the argument of a call",
}
CLEAR_MARKS = (
    b"autocast", b"GradScaler", b"_dtype", b".half()", b".bfloat16()", b"_tf32", b"_precision(",
    b"load_in_4bit", b"load_in_8bit",
)  # fmt: skip
"""What a file holds that is certainly about a precision."""
MARKS = (*CLEAR_MARKS, b"dtype=", b".to(", b"getattr(torch")
"""What a file holds that has such a place."""

_PARTS: Mapping[SinkKind, Part] = {
    "autocast": "compute", "weights": "weights", "default dtype": "weights", "matmul": "matmul",
}  # fmt: skip
_CASTS = {"half": "float16", "bfloat16": "bfloat16"}
LOADERS = frozenset({"from_pretrained", "from_single_file", "from_config", "load_checkpoint"})
"""Methods that load a network."""
_OF_JAX = frozenset({"jax", "flax"})
_JAX_ARGUMENTS = frozenset({"rngs", "mesh"})
_OF_CONFIGURATION = regex(r"\w*config(?:uration|_class|_cls)?", re.IGNORECASE)
"""Names of classes of configurations."""
_QUANTIZED: Mapping[str, SinkKind] = {
    "load_in_4bit": "4-bit weights", "load_in_8bit": "8-bit weights",
}  # fmt: skip
"""Arguments of loaders, of transformers before 5 and of Unsloth, that switch quantization on."""
_PLAIN_REGION = "torch.cuda.amp.autocast"
_REGIONS = frozenset({_PLAIN_REGION, "torch.autocast", "torch.amp.autocast"})
_OF_DEVICES: Mapping[object, str] = {"cuda": "float16", "cpu": "bfloat16"}
"""The dtypes of regions on devices."""
"""A class of regions that a function may return, or a name may stand for:
`with get_autocast(args.precision)():`.
"""
_SCALERS = ("GradScaler", "ShardedGradScaler")
_CALLS = (
    "autocast", "partial", *_SCALERS, *_CASTS, "to", *sorted(LOADERS), "BitsAndBytesConfig",
    "set_default_dtype", "set_float32_matmul_precision", "getattr",
)  # fmt: skip
_OF_MODELS = frozenset({
    "eval", "train", "parameters", "named_parameters", "load_state_dict", "state_dict",
    "requires_grad_", "named_modules", "enable_gradient_checkpointing",
    "gradient_checkpointing_enable", "modules",
})  # fmt: skip
"""Methods that modules have and tensors do not."""
_PRODUCTS: Mapping[str, Precision] = {"highest": "fp32", "high": "tf32", "medium": "tf32"}
_SWITCHES = frozenset({
    "torch.backends.cuda.matmul.allow_tf32", "torch.backends.cudnn.allow_tf32",
})  # fmt: skip
_MOST_PLACES = 200
_OF_DTYPE = regex(r"dtype|precision")
_OF_ALL = regex(
    r"(?:base_|hf_|gpt_|diffusion_)?(?:model|net|network|unet\d*|transformer|llm|pipe|pipeline)"
)
"""Names of what a program runs as a whole; a reward model and a VAE are only parts of it."""


@frozen(eq=False, slots=False)
class TorchPlace:
    """A place that decides the precision of something.

    `dtype` is the expression that says it, `plain` what holds without one. `enabled` is a condition
    in the call itself, and `subject` what is cast.
    """

    kind: SinkKind
    node: Node
    file: ParsedPython
    dtype: ast.expr | None = None
    plain: str | None = None
    enabled: ast.expr | None = None
    device: ast.expr | None = None
    subject: str = ""
    is_hidden: bool = False
    """Starred arguments may say anything else."""
    is_of_all: bool = True
    """False for the weights of one network among others."""
    is_module: bool = True
    """False if only a name says that something is a network."""

    @property
    def part(self) -> Part | None:
        """What it decides: the computation, the weights, or the products of float32."""
        return _PARTS.get(self.kind)


@fact
def torch_places(file: ParsedPython) -> tuple[TorchPlace, ...]:
    """The places of a file, calls before assignments."""
    return tuple(_places(file))


def running_places(files: Iterable[ParsedPython], program: Program) -> Iterator[TorchPlace]:
    """The places in files of a program that may run when it is started."""
    found = (one for file in files for one in torch_places(file))
    return islice((one for one in found if may_run(one.node, one.file, program)), _MOST_PLACES)


def _places(file: ParsedPython) -> Iterator[TorchPlace]:
    syntax = syntax_tree(file)
    for name in _CALLS:
        for call in syntax.calls(name):
            found = _place(call, name, file, syntax)
            if found is not None and not _is_off(found):
                yield found
            if name in LOADERS:
                yield from _quantized(call, file)
    for node in file.nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr="allow_tf32") as target], value=value):
                if qualified(target, syntax.names) in _SWITCHES:
                    yield TorchPlace("matmul", node, file, plain="tf32", enabled=value)
            case ast.Assign(
                targets=[ast.Attribute(value=owner, attr="native_amp")], value=value
            ) if not isinstance(value, ast.Constant):
                if _is_accelerator(owner, syntax):  # its `autocast()` asks for it
                    yield TorchPlace("autocast", node, file, enabled=value)
            case ast.Return(value=ast.Attribute() | ast.Name() as value):
                if qualified(value, syntax.names) == _PLAIN_REGION:
                    yield TorchPlace("autocast", node, file, plain="float16")
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Attribute() | ast.Name() as value
            ) if qualified(value, syntax.names) == _PLAIN_REGION:
                yield TorchPlace("autocast", node, file, _given_to(name, syntax), plain="float16")
                yield from _entered(name, file, syntax)
            case ast.Assign(targets=[target], value=ast.IfExp() as value):
                if (chosen := _chosen_region(value, syntax)) is not None:
                    enabled, name = chosen
                    dtype = _given_to(last_name(target), syntax)
                    device = _device_of(last_name(target), syntax)
                    plain = _plain(name, device)
                    yield TorchPlace("autocast", node, file, dtype, plain, enabled, device)
            case ast.Return(value=ast.IfExp() as value):
                if (chosen := _chosen_region(value, syntax)) is not None:
                    enabled, name = chosen
                    yield TorchPlace("autocast", node, file, None, _plain(name, None), enabled)


def _is_off(place: TorchPlace) -> bool:
    """True for `autocast(enabled=False)`: what leads there is not computed in half precision."""
    off = place.enabled
    return place.kind == "autocast" and isinstance(off, ast.Constant) and off.value is False


def _is_accelerator(owner: ast.expr, syntax: SyntaxTree) -> bool:
    """True for what is named like an `Accelerator`, in a file that imports accelerate."""
    roots = (path.partition(".")[0] for path in syntax.names.values())
    return last_name(owner).lower().endswith("accelerator") and "accelerate" in roots


def _quantized(call: ast.Call, file: ParsedPython) -> Iterator[TorchPlace]:
    """The switches of `from_pretrained(name, load_in_4bit=…)`."""
    for name, kind in _QUANTIZED.items():
        enabled = _keyword(call, name)
        if enabled is not None:
            yield TorchPlace(kind, call, file, plain="on", enabled=enabled)


def _entered(region: str, file: ParsedPython, syntax: SyntaxTree) -> Iterator[TorchPlace]:
    """The calls of a class of regions under another name that say when they are enabled: after
    `try: autocast = torch.cuda.amp.autocast`, where an older torch gets a class of one's own.
    """
    for call in syntax.calls(region):
        enabled = _keyword(call, "enabled") or next(iter(call.args), None)
        if isinstance(call.func, ast.Name) and enabled is not None:
            yield TorchPlace("autocast", call, file, _keyword(call, "dtype"), "float16", enabled)


def _chosen_region(node: ast.IfExp, syntax: SyntaxTree) -> tuple[ast.expr, str] | None:
    """When the class of regions is chosen, `autocast if args.amp else nullcontext`, and which."""
    if (name := qualified(node.body, syntax.names)) in _REGIONS:
        return node.test, name
    if (name := qualified(node.orelse, syntax.names)) in _REGIONS:
        return ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test), name
    return None


def _device_of(region: str, syntax: SyntaxTree) -> ast.expr | None:
    """The device that is given where a class of regions under another name is called."""
    given = (
        _keyword(call, "device_type") or next(iter(call.args), None)
        for call in syntax.calls(region)
    )
    return next(filter(None, given), None)


def _plain(region: str, device: ast.expr | None) -> str | None:
    """The dtype of a region for which none is given."""
    if region == _PLAIN_REGION:
        return "float16"
    return _OF_DEVICES.get(device.value) if isinstance(device, ast.Constant) else None


def _given_to(region: str, syntax: SyntaxTree) -> ast.expr | None:
    """The dtype that is given where a class of regions under another name is called."""
    given = (_keyword(call, "dtype") for call in syntax.calls(region))
    return next(filter(None, given), None)


def _place(call: ast.Call, name: str, file: ParsedPython, syntax: SyntaxTree) -> TorchPlace | None:
    match name:
        case "autocast":
            return _autocast(call, call, file, syntax)
        case "partial" if call.args and last_name(call.args[0]) == "autocast":
            made = ast.Call(call.args[0], call.args[1:], call.keywords)
            return _autocast(call, ast.copy_location(made, call), file, syntax)
        case "GradScaler" | "ShardedGradScaler":
            return _scaler(call, file, syntax)
        case "BitsAndBytesConfig":
            dtype = _keyword(call, "bnb_4bit_compute_dtype")
            return TorchPlace("4-bit products", call, file, dtype) if dtype is not None else None
        case "set_default_dtype" if call.args:
            is_torch = qualified(call.func, syntax.names) == "torch.set_default_dtype"
            return TorchPlace("default dtype", call, file, call.args[0]) if is_torch else None
        case "set_float32_matmul_precision" if call.args:
            return TorchPlace("matmul", call, file, call.args[0])
        case "getattr" if _looks_up_dtype(call, syntax):
            return TorchPlace("weights", call, file, call, is_module=False)
        case "half" | "bfloat16" if not call.args:
            return _of_network(call, None, _CASTS[name], file, syntax)
        case _ if name == "to" or name in LOADERS:
            dtype = _dtype_argument(call)
            if dtype is not None:
                return _of_network(call, dtype, None, file, syntax)
    return None


def _autocast(
    node: ast.Call, call: ast.Call, file: ParsedPython, syntax: SyntaxTree
) -> TorchPlace | None:
    """`torch.autocast("cuda", dtype=…, enabled=…)`, also by `functools.partial`."""
    made = autocast_call(call, syntax)
    if made is None:
        return None
    dtype = made.argument("dtype")
    if isinstance(dtype, ast.Constant) and dtype.value is None:
        dtype = None
    return TorchPlace(
        "autocast",
        node,
        file,
        dtype,
        _OF_DEVICES.get(made.device or ""),
        made.argument("enabled"),
        made.argument("device_type") if made.is_generic else None,
        is_hidden=made.has_stars,
    )


def _scaler(call: ast.Call, file: ParsedPython, syntax: SyntaxTree) -> TorchPlace | None:
    name = qualified(call.func, syntax.names)
    if not makes_grad_scaler(name):
        return None
    position = enabled_position(name)
    enabled = _keyword(call, "enabled")
    if enabled is None and len(call.args) > position:
        enabled = call.args[position]
    is_hidden = any(keyword.arg is None for keyword in call.keywords) or any(
        isinstance(each, ast.Starred) for each in call.args
    )
    return TorchPlace("scaler", call, file, plain="on", enabled=enabled, is_hidden=is_hidden)


def _looks_up_dtype(call: ast.Call, syntax: SyntaxTree) -> bool:
    """True for `getattr(torch, config.policy_dtype)`."""
    match call.args:
        case [ast.Name() as owner, name] if not isinstance(name, ast.Constant):
            is_torch = qualified(owner, syntax.names) == "torch"
            return is_torch and _OF_DTYPE.search(ast.unparse(name)) is not None
    return False


def _of_network(
    call: ast.Call,
    dtype: ast.expr | None,
    plain: str | None,
    file: ParsedPython,
    syntax: SyntaxTree,
) -> TorchPlace | None:
    """The cast of a module, or of what is named like a whole network, or the loading of one."""
    is_loaded = last_name(call.func) in LOADERS
    if is_loaded and _is_of_jax(call, syntax):
        return None  # its `dtype` is what a module computes in
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if is_loaded and owner is not None and _OF_CONFIGURATION.fullmatch(last_name(owner)):
        return None  # `AutoConfig.from_pretrained(name, torch_dtype=…)` loads no weights
    held = dotted(owner) if owner is not None and not is_loaded else None
    path = held or _target(call, syntax)
    is_module = is_loaded or _is_module(owner, file)
    if not is_module and not NETWORK_NAME.search(path.rpartition(".")[2]):
        return None
    return TorchPlace(
        "weights",
        call,
        file,
        dtype,
        plain,
        subject=path.removeprefix("self.") or (last_name(owner) if is_loaded else "model"),
        is_of_all=_OF_ALL.fullmatch(path.rpartition(".")[2]) is not None,
        is_module=is_module,
    )


def _is_of_jax(call: ast.Call, syntax: SyntaxTree) -> bool:
    """True for the loading of a module of Flax: by its name, its arguments, or in a file without
    torch.
    """
    given = {each.arg for each in call.keywords}
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    roots = {path.partition(".")[0] for path in syntax.names.values()}
    is_of_file = "torch" not in roots and not _OF_JAX.isdisjoint(roots)
    return last_name(owner).startswith("Flax") or not _JAX_ARGUMENTS.isdisjoint(given) or is_of_file


def _is_module(owner: ast.expr | None, file: ParsedPython) -> bool:
    """True if what a method is called on is certainly a module, and no tensor."""
    if owner is not None and dotted(owner) in _modules(file):
        return True
    match owner:
        case ast.Call(func=ast.Attribute(value=inner, attr=method)):
            return method in LOADERS or (
                method in ("cuda", "eval", "train") and _is_module(inner, file)
            )
    return False


@fact
def _modules(file: ParsedPython) -> frozenset[str]:
    """The dotted names whose methods are those of modules."""
    syntax = syntax_tree(file)
    found = set()
    for method in _OF_MODELS:
        for call in syntax.calls(method):
            if isinstance(call.func, ast.Attribute) and (path := dotted(call.func.value)):
                found.add(path)
    for loader in LOADERS:
        for call in syntax.calls(loader):
            if target := _target(call, syntax):
                found.add(target)
    return frozenset(found)


def _target(call: ast.Call, syntax: SyntaxTree) -> str:
    """The name that what a call returns is assigned to, also by way of its methods."""
    for parent in syntax.around(call):
        match parent:
            case ast.Assign(targets=[target, *_]):
                return dotted(target) or ""
            case ast.Call() | ast.Attribute():
                continue
        break
    return ""


def _dtype_argument(call: ast.Call) -> ast.expr | None:
    """The argument that is a dtype, by its name, or because it is looked up in torch."""
    for name in ("dtype", "torch_dtype"):
        if (given := _keyword(call, name)) is not None:
            return given
    if callee_name(call) == "to":
        for argument in call.args:
            name = last_name(argument)
            if "dtype" in name or precision_of(name) is not None or _is_of_torch(argument):
                return argument
    return None


def _is_of_torch(node: ast.expr) -> bool:
    """True for `getattr(torch, name)`."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="torch"), *_]):
            return True
    return False


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


# What they come to


def outcomes(place: TorchPlace, evaluator: Evaluator) -> frozenset[Precision | None]:
    """The precisions that a place may come to in one run: several where the hardware decides, None
    if only run time knows it.
    """
    file = place.file
    if place.enabled is not None:
        holds = evaluator.truth(place.enabled, file)
        if holds is not True:
            return _one("fp32" if holds is False else None)
    if place.dtype is None:
        return _one(precision_of(place.plain or _by_device(place, evaluator)))
    if place.kind == "matmul":
        known = evaluator.value(place.dtype, file)
        return _one(_PRODUCTS.get(str(known.value)) if known is not None else None)
    values = alternatives(place.dtype, file, evaluator)
    return frozenset(map(precision_of, values)) if values else _one(None)


def _by_device(place: TorchPlace, evaluator: Evaluator) -> str:
    """What an autocast region without a dtype runs in."""
    known = evaluator.value(place.device, place.file) if place.device is not None else None
    return "bfloat16" if known is not None and known.value == "cpu" else "float16"


def _one(precision: Precision | None) -> frozenset[Precision | None]:
    return frozenset({precision})
