"""Where a program decides its precision: autocast regions, scalers, casts of models, matmuls."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from precision_lint.facts.amp.autocast import autocast_call
from precision_lint.facts.amp.scalers import enabled_position, makes_grad_scaler
from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted, last_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

SinkKind: TypeAlias = Literal[
    "autocast", "scaler", "weights", "4-bit products", "default dtype", "matmul"
]

NOTES: Mapping[SinkKind, str] = {
    "autocast": "the autocast region",
    "scaler": "the scaler",
    "weights": "the weights",
    "default dtype": "the default dtype",
    "4-bit products": "what 4-bit weights are computed in",
    "matmul": "the precision of products",
}

MARKS = ("autocast", "GradScaler", "_dtype", ".half()", ".bfloat16()", "_tf32", "_precision(")
"""A file without any of these decides nothing."""

_CASTS = {"half": "float16", "bfloat16": "bfloat16"}
_DTYPES = ("torch_dtype", "dtype")
_LOADERS = frozenset({"from_pretrained", "from_single_file", "from_config", "load_checkpoint"})
_OF_MODELS = frozenset({
    "eval", "train", "parameters", "named_parameters", "load_state_dict", "state_dict",
    "requires_grad_", "named_modules", "enable_gradient_checkpointing",
    "gradient_checkpointing_enable", "modules",
})  # fmt: skip
"""Methods that modules have and tensors do not."""
_MATMULS = {
    "torch.backends.cuda.matmul.allow_tf32": ("high", "highest"),
    "torch.backends.cudnn.allow_tf32": ("high", "highest"),
}


@dataclass(frozen=True, eq=False)
class Sink:
    """A place that decides the precision of something.

    `dtype` is the expression that says it, `plain` what holds without one. `enabled` is a condition
    in the call itself, and `subject` what is cast.
    """

    kind: SinkKind
    node: ast.expr
    file: ParsedPython
    dtype: ast.expr | None = None
    plain: str | None = None
    enabled: ast.expr | None = None
    subject: str = ""
    is_hidden: bool = False
    """Starred arguments may say anything else."""

    @property
    def takes_names(self) -> bool:
        """True for calls of transformers, which look names of dtypes up in `torch`."""
        if not isinstance(self.node, ast.Call):
            return False
        called = qualified(self.node.func, syntax_tree(self.file).names)
        return called.startswith("transformers.")


@dataclass(frozen=True)
class Use:
    """What a sink is given in one run.

    `value` is None if that is not known. It `is_certain` that it is reached if all conditions
    around it are known to hold. `settings` are those that were read to find out.
    """

    sink: Sink
    value: str | None
    is_certain: bool
    settings: tuple[Occurrence, ...]
    written: Occurrence | None
    """The setting that decides it; None for what the program says itself."""


@fact
def sinks(file: ParsedPython) -> tuple[Sink, ...]:
    """The places of a file that decide a precision, in source order."""
    if not any(mark in file.text.text for mark in MARKS):
        return ()
    found = list(_found(file, syntax_tree(file)))
    return tuple(sorted(found, key=lambda sink: (sink.node.lineno, sink.node.col_offset)))


def _found(file: ParsedPython, syntax: SyntaxTree) -> Iterator[Sink]:
    for name in ("autocast", "partial"):
        for call in syntax.calls(name):
            yield from _autocast(call, file, syntax)
    for name in ("GradScaler", "ShardedGradScaler"):
        for call in syntax.calls(name):
            yield from _scaler(call, file, syntax)
    for name in _LOADERS:
        for call in syntax.calls(name):
            for keyword in call.keywords:
                if keyword.arg in _DTYPES:
                    subject = _target(call, syntax) or last_name(_owner(call))
                    yield Sink("weights", call, file, keyword.value, subject=subject)
    yield from _casts(file, syntax)
    for call in syntax.calls("BitsAndBytesConfig"):
        for keyword in call.keywords:
            if keyword.arg == "bnb_4bit_compute_dtype":
                yield Sink("4-bit products", call, file, keyword.value)
    for call in syntax.calls("set_default_dtype"):
        if qualified(call.func, syntax.names) == "torch.set_default_dtype" and call.args:
            yield Sink("default dtype", call, file, call.args[0])
    for call in syntax.calls("set_float32_matmul_precision"):
        if call.args:
            yield Sink("matmul", call, file, call.args[0])
    if "allow_tf32" in file.text.text:
        yield from _matmuls(file, syntax)


def _autocast(call: ast.Call, file: ParsedPython, syntax: SyntaxTree) -> Iterator[Sink]:
    """`torch.autocast("cuda", dtype=…, enabled=…)`, also by `functools.partial`."""
    made = autocast_call(call, syntax.names)
    if made is not None:
        plain = {None: None, "cuda": "float16", "cpu": "bfloat16"}.get(made.device)
        dtype, enabled = made.argument("dtype"), made.argument("enabled")
        if isinstance(dtype, ast.Constant) and dtype.value is None:
            dtype = None
        yield Sink("autocast", call, file, dtype, plain, enabled, is_hidden=made.has_stars)
    elif callee_name(call) == "partial" and call.args and last_name(call.args[0]) == "autocast":
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        is_cuda = ".cuda." in qualified(call.args[0], syntax.names)
        yield Sink(
            "autocast",
            call,
            file,
            given.get("dtype"),
            "float16" if is_cuda else None,
            given.get("enabled"),
            is_hidden=None in given,
        )


def _scaler(call: ast.Call, file: ParsedPython, syntax: SyntaxTree) -> Iterator[Sink]:
    name = qualified(call.func, syntax.names)
    if not makes_grad_scaler(name):
        return
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    position = enabled_position(name)
    enabled = given.get("enabled")
    if enabled is None and len(call.args) > position:
        enabled = call.args[position]
    is_hidden = None in given or any(isinstance(each, ast.Starred) for each in call.args)
    yield Sink("scaler", call, file, None, "on", enabled, is_hidden=is_hidden)


def _casts(file: ParsedPython, syntax: SyntaxTree) -> Iterator[Sink]:
    """`model.half()`, `model.to(device, dtype=…)` of what is certainly a module."""
    models = _models(file)
    for method, dtype in _CASTS.items():
        for call in syntax.calls(method):
            if not call.args and (subject := _model(call, models, syntax)):
                yield Sink("weights", call, file, None, dtype, subject=subject)
    for call in syntax.calls("to"):
        subject = _model(call, models, syntax)
        if not subject:
            continue
        named = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
        given = named or [each for each in call.args if not isinstance(each, ast.Constant)]
        if given:
            yield Sink("weights", call, file, given[-1], subject=subject)


def _model(call: ast.Call, models: frozenset[str], syntax: SyntaxTree) -> str:
    """The name of the module whose method is called; empty if it may be a tensor."""
    owner = _owner(call)
    path = dotted(owner) if owner is not None else None
    if path in models:
        return path.removeprefix("self.")
    match owner:
        case ast.Call() if callee_name(owner) in {*_LOADERS, "cuda", "eval", "train"}:
            is_loaded = callee_name(owner) in _LOADERS
            return _target(call, syntax) or "model" if is_loaded else _model(owner, models, syntax)
    return ""


@fact
def _models(file: ParsedPython) -> frozenset[str]:
    """The dotted names whose methods are those of modules."""
    syntax = syntax_tree(file)
    found = set()
    for method in _OF_MODELS:
        for call in syntax.calls(method):
            owner = _owner(call)
            if owner is not None and (path := dotted(owner)):
                found.add(path)
    for loader in _LOADERS:
        for call in syntax.calls(loader):
            if target := _target(call, syntax, is_whole=True):
                found.add(target)
    return frozenset(found)


def _owner(call: ast.Call) -> ast.expr | None:
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def _target(call: ast.Call, syntax: SyntaxTree, *, is_whole: bool = False) -> str:
    """The name that what a call returns is assigned to."""
    for parent in syntax.around(call):
        match parent:
            case ast.Assign(targets=[target]):
                path = dotted(target) or ""
                return path if is_whole else path.removeprefix("self.")
            case ast.Call() | ast.Attribute():
                continue
        break
    return ""


def _matmuls(file: ParsedPython, syntax: SyntaxTree) -> Iterator[Sink]:
    for node in file.nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr="allow_tf32") as target], value=value):
                if qualified(target, syntax.names) in _MATMULS:
                    yield Sink("matmul", target, file, None, "tf32", value)
