"""Runs of a Trainer that scales the loss of float16 weights, as launch scripts start them.

`--torch_dtype float16 --fp16` loads the weights in float16, and the Trainer's scaler refuses to
unscale their gradients. Adapters can keep the trained weights in float32, so a model counts if a
run without adapters is offered, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from precision_lint.facts.amp.launched_dtypes import float16_given, given_choice
from precision_lint.facts.amp.setting_paths import setting_path
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.origin import Choice
from precision_lint.model.dtypes import FLOAT32
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.syntax import callee_name, dotted
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_ARGUMENTS = regex(r"TrainingArguments$|(?:SFT|DPO|KTO|ORPO|CPO|Reward)Config$")
_OWN_SCALING = regex(r"deepspeed|fsdp", re.IGNORECASE)
"""Backends that accept float16 weights."""
_FLOAT32 = frozenset({FLOAT32})
_ADAPTS = frozenset({"get_peft_model", "add_adapter"})


@frozen
class TrainerRun:
    """A Trainer, the call that loads its model, and what makes that float16 and scales its loss."""

    trainer: ast.Call
    model: str
    loaded: ast.Call
    setting: str
    dtype: Choice
    switch: Choice


def launched_runs(calls: Iterable[Call], file: PythonFile) -> Iterator[TrainerRun]:
    """The runs of a file that load float16 weights and train them with a scaler.

    The flow says at the calls that train whether the weights are cast to float32 before.
    """
    shown = list(calls)
    for run in _runs(file):
        models = [call.models[run.model] for call in shown if run.model in call.models]
        if not any(model.is_widened or model.parameters.must_be(_FLOAT32) for model in models):
            yield run


@fact
def may_be_launched(file: PythonFile) -> bool:
    """True if a launch starts such a run, unless the flow says that the weights are cast."""
    return any(True for _ in _runs(file))


def _runs(file: PythonFile) -> Iterator[TrainerRun]:
    """The runs that load float16 weights, whatever the program does with them then."""
    syntax = syntax_tree(file)
    switch = _switch(file, syntax)
    if switch is None or not _is_without_adapters(syntax):
        return
    script = switch.origin.source.text
    if _OWN_SCALING.search(script):
        return
    for trainer in _trainers(syntax):
        model = _model(trainer)
        loaded = None if model is None else _loaded(model, syntax)
        if model is None or loaded is None:
            continue
        for keyword in loaded.keywords:
            is_dtype = keyword.arg in {"torch_dtype", "dtype"}
            given = float16_given(keyword.value, file) if is_dtype else None
            if given is not None and _gives(script, given[0]):
                yield TrainerRun(trainer, model.id, loaded, *given, switch)


def _switch(file: PythonFile, syntax: SyntaxTree) -> Choice | None:
    """The launch that turns on `fp16` of the training arguments: given one by one, or parsed."""
    for node in file.nodes:
        match node:
            case ast.Call() if _ARGUMENTS.search(callee_name(node)):
                for keyword in node.keywords:
                    path = setting_path(keyword.value) if keyword.arg == "fp16" else None
                    if path is not None:
                        return given_choice(path, file, _is_on)
    if syntax.calls("parse_args_into_dataclasses"):
        return given_choice(("fp16",), file, _is_on)
    return None


def _is_on(value: object) -> bool:
    return str(value).lower() == "true"


def _gives(script: str, setting: str) -> bool:
    """True if the script that turns on fp16 also loads the weights in float16."""
    given = rf"{setting}[\s\"':=]+(?:float16|fp16|half)\b"
    return re.search(given, script.replace("-", "_")) is not None


def _trainers(syntax: SyntaxTree) -> Iterator[ast.Call]:
    """The calls of a Trainer of transformers or trl, or of a class of the file that extends one."""
    roots = {"transformers", "trl"}
    local = {name for name, of in syntax.names.items() if of.partition(".")[0] in roots}
    classes = [node for node in syntax.tree.body if isinstance(node, ast.ClassDef)]
    local |= {node.name for node in classes if any(dotted(one) in local for one in node.bases)}
    for name in sorted(local):
        if name.endswith("Trainer"):
            yield from syntax.calls(name)


def _model(trainer: ast.Call) -> ast.Name | None:
    given = next((one.value for one in trainer.keywords if one.arg == "model"), None)
    given = given or (trainer.args[0] if trainer.args else None)
    return given if isinstance(given, ast.Name) else None


def _loaded(model: ast.Name, syntax: SyntaxTree) -> ast.Call | None:
    """The one call that loads a model which a name holds; what wraps it later is no load."""
    function = syntax.function(model) or syntax.tree
    calls = [
        call
        for store in syntax.stores(function, model.id)
        if isinstance(statement := syntax.parent(store), ast.Assign)
        and isinstance(call := statement.value, ast.Call)
        and callee_name(call) == "from_pretrained"
        and any(keyword.arg in {"torch_dtype", "dtype"} for keyword in call.keywords)
    ]
    return calls[0] if len(calls) == 1 else None


def _is_without_adapters(syntax: SyntaxTree) -> bool:
    """True if some run trains the model itself: no adapter is added, or only under a condition."""
    for name in _ADAPTS:
        for call in syntax.calls(name):
            if not any(isinstance(each, ast.If) for each in syntax.within_function(call)):
                return False
    for node in syntax.nodes:
        match node:
            case ast.keyword(arg="peft_config", value=value):
                if isinstance(value, ast.Call) or not _may_be_none(value, syntax):
                    return False
    return True


def _may_be_none(value: ast.expr, syntax: SyntaxTree) -> bool:
    match value:
        case ast.Constant(value=None):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return _may_be_none(body, syntax) or _may_be_none(orelse, syntax)
        case ast.Name():
            held = binding(value, syntax)
            return isinstance(held, list) and any(_may_be_none(one, syntax) for one in held)
    return False
