"""Trainable weights that are float16 in a file whose gradients a scaler unscales.

The dtype flow says which dtypes the weights can have where they are trained. The syntax says which
models are trained, where they are cast, under which conditions, and what brings their trainable
parameters back to float32.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from precision_lint.facts.amp.conditions import PathConditions, assuming, truth
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.calls import Call
from precision_lint.facts.dtypes.lattice import reading
from precision_lint.facts.dtypes.values import Dtype, Model, Tensor
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import ALIASES, FLOAT16
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.statements import FunctionDefinition, Loop
from precision_lint.source.python.syntax import (
    callee_name,
    dotted,
    positional_parameters,
    qualified,
)

_FLOAT32 = frozenset({"torch.float32", "torch.float"})
_UPCAST = re.compile(
    r"cast_training_params|prepare_model_for_\w+|upcast|(?:to|cast)_?(?:fp|float)32"
)
_QUANTIZED = re.compile(r"[48]_?bit|qlora|quantiz", re.IGNORECASE)
_OPTIMIZER = re.compile(r"(?:Paged)?(?:Adam|SGD|RMSprop|Adagrad|Adafactor|Lion|LAMB)\w*$")
_UNWRAP = re.compile(r"unwrap")

_ONLY_FLOAT16 = frozenset({FLOAT16})

_OWN_SCALING = frozenset({"deepspeed", "fsdp"})
"""Arguments of a trainer that select a backend which accepts float16 weights."""

Scope = FunctionDefinition | ast.Module


_DEVICE = re.compile(r"device|cuda|cpu|gpu|rank|\"|'", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cast:
    """The call that makes a model float16, or can: `unet.to(device, dtype=weight_dtype)`."""

    model: str
    node: ast.Call
    is_certain: bool
    """False where the dtype is float16 in some runs only."""

    elsewhere: Origin | None = None
    """The place in another file that makes it float16; `node` is then where it is trained."""


class TrainingFile:
    """What a file trains, and in which dtype: `calls` are those that the flow was asked for."""

    def __init__(self, file: PythonFile, calls: Sequence[Call] = ()) -> None:
        self.file = file
        self._facts = {call.span: call for call in calls}
        self.nodes = list(ast.walk(file.tree))
        self.calls = [node for node in self.nodes if isinstance(node, ast.Call)]
        self._parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}
        self._imports = imported_names(file)

    @cached_property
    def uses_accelerator(self) -> bool:
        """True if Accelerate trains, which makes a scaler in float16."""
        return any(callee_name(call) == "Accelerator" for call in self.calls) and any(
            callee_name(call) == "backward" for call in self.calls
        )

    @cached_property
    def scaler(self) -> ast.Call | None:
        """The call that creates an enabled GradScaler of torch; None if there is none.

        A ShardedGradScaler does not count: it unscales float16 gradients, which FSDP produces.
        """
        for call in self.calls:
            name = self.qualified(call.func)
            if name.startswith("torch.") and name.endswith(".GradScaler"):
                given = {keyword.arg: keyword.value for keyword in call.keywords}
                match given.get("enabled"):
                    case ast.Constant(value=False):
                        continue
                return call
        return None

    @cached_property
    def upcasts(self) -> bool:
        """True if something brings parameters to float32: a helper, or `param.data = …`.

        A helper that prepares quantized models alone leaves the others as they are.
        """
        if any(
            _UPCAST.search(callee_name(call).lower()) and not self._is_for_quantized(call)
            for call in self.calls
        ):
            return True
        return any(
            isinstance(node, ast.Assign)
            and any(isinstance(one, ast.Attribute) and one.attr == "data" for one in node.targets)
            and any(self._is_upcast(call) for call in ast.walk(node.value))
            for node in self.nodes
        )

    def _is_for_quantized(self, call: ast.Call) -> bool:
        """True for a call under `if args.load_in_8bit:`."""
        return any(
            holds and _QUANTIZED.search(ast.unparse(test)) for test, holds in self.guards(call)
        )

    def _is_upcast(self, node: ast.AST) -> bool:
        """`param.float()`, `param.to(torch.float32)`."""
        if not isinstance(node, ast.Call):
            return False
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        return (callee_name(node) == "float" and not node.args) or (
            callee_name(node) in {"to", "type"}
            and any(self.qualified(one) in _FLOAT32 for one in given)
        )

    def is_upcast(self, model: str, scope: Scope) -> bool:
        """True if a model, or a part of it, is brought to float32 before its first backward.

        A cast after the training loop, before saving, is too late.
        """
        first = self.first_backward(scope)
        return any(
            self._is_upcast(call)
            and isinstance(call.func, ast.Attribute)
            and f"{dotted(call.func.value) or ''}.".startswith(f"{model}.")
            and (first is None or self.scope(call) is not scope or call.lineno < first)
            for call in self.calls
        )

    @cached_property
    def trained(self) -> frozenset[str]:
        """The models that get an adapter or are put into training mode."""
        found = set()
        for call in self.calls:
            owner = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else None
            if owner and (
                callee_name(call) == "add_adapter"
                or (callee_name(call) == "train" and not call.args and not call.keywords)
            ):
                found.add(owner)
        return frozenset(found)

    @cached_property
    def has_adapters(self) -> bool:
        """True if the file imports PEFT: then it does not train the model as it was loaded."""
        return any(name.partition(".")[0] == "peft" for name in self._imports.values())

    def adapters(self) -> Iterator[tuple[ast.Call, str]]:
        """The calls that add LoRA layers in the dtype of the model, and the model."""
        for call in self.calls:
            if callee_name(call) == "add_adapter" and isinstance(call.func, ast.Attribute):
                model = dotted(call.func.value)
                if model is not None:
                    yield call, model
            elif callee_name(call) == "get_peft_model" and call.args:
                model = dotted(call.args[0])
                if model is not None and not self._is_autocast(call):
                    yield call, model

    def _is_autocast(self, call: ast.Call) -> bool:
        """True if PEFT keeps the adapters of `get_peft_model` in float32, as it does since 0.11."""
        for keyword in call.keywords:
            if keyword.arg == "autocast_adapter_dtype":
                return not (
                    isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                )
        version = self.file.project.version_of("peft")
        return version is None or version >= (0, 11)

    def optimized(self) -> Iterator[tuple[ast.Call, str]]:
        """The calls `model.parameters()` that an optimizer is made from, and the model."""
        for call in self.calls:
            is_optimizer = self.qualified(call.func).startswith("torch.optim.")
            if not is_optimizer and not _OPTIMIZER.match(callee_name(call)):
                continue
            given = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "params")]
            for node in (inner for one in given for inner in ast.walk(one)):
                if isinstance(node, ast.Call) and callee_name(node) == "parameters":
                    owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
                    model = dotted(owner)
                    if model is not None:
                        yield node, model

    def trainers(self) -> Iterator[tuple[ast.Call, str]]:
        """The Hugging Face trainers of a file with `fp16=True`, and what they train."""
        if not any(
            keyword.arg == "fp16"
            and isinstance(keyword.value, ast.Constant)
            and keyword.value.value is True
            for call in self.calls
            if callee_name(call).endswith(("Arguments", "Config"))
            and not any(given.arg in _OWN_SCALING for given in call.keywords)
            for keyword in call.keywords
        ):
            return
        for call in self.calls:
            if self.qualified(call.func) in {"transformers.Trainer", "transformers.Seq2SeqTrainer"}:
                given = next((one.value for one in call.keywords if one.arg == "model"), None)
                given = given or (call.args[0] if call.args else None)
                model = None if given is None else dotted(given)
                if model is not None:
                    yield call, model

    def cast(self, model: str, user: ast.Call) -> Cast | None:
        """The call that makes the weights of a model float16 where `user` trains it, or can.

        None if the flow says that they are not, or if a condition on the way to `user` excludes it.
        """
        weights = self._weights(user)
        if weights is None or FLOAT16 not in weights.dtypes:
            return None
        casts = [
            call
            for call in self.calls
            if _is_cast(call) and self._comes_before(call, user) and model in self.named(call)
        ]
        if not casts:
            return self._cast_elsewhere(model, user, weights)
        assumed = self._assumed(user)
        casts = [
            call
            for call in casts
            if not any(truth(test, assumed) is (not holds) for test, holds in self.guards(call))
        ]
        if not casts:
            return None
        last = max(casts, key=lambda call: call.lineno)
        return Cast(model, last, weights.must_be(_ONLY_FLOAT16))

    def _cast_elsewhere(self, model: str, user: ast.Call, weights: Tensor) -> Cast | None:
        """What another Python file has made float16: a loader of the project."""
        origin = weights.origin
        if origin is None or origin.source.path.suffix != ".py":
            return None
        if origin.source.path == self.file.text.path:
            return None
        return Cast(model, user, weights.must_be(_ONLY_FLOAT16), origin)

    def _weights(self, user: ast.Call) -> Tensor | None:
        """What the flow says of the weights that a call trains; None if it knows no module."""
        call = self._facts.get(self.file.span_of(user))
        if call is None:
            return None
        is_method = call.name in {"add_adapter", "parameters"}
        match reading(call.receiver if is_method else call.value(0, "model")):
            case Model(parameters=weights) | (Tensor() as weights):
                return weights
        return None

    def _assumed(self, user: ast.Call) -> PathConditions:
        """What holds where `user` trains with the scaler of the file."""
        conditions = list(self.guards(user))
        if self.scaler is not None:
            conditions += self.guards(self.scaler)
            conditions += [
                (one.value, True) for one in self.scaler.keywords if one.arg == "enabled"
            ]
        assumed: PathConditions = {}
        for test, holds in conditions:
            assumed = assuming(test, holds, assumed)
        return assumed

    def _comes_before(self, call: ast.Call, user: ast.Call) -> bool:
        """True if a call runs before the first backward of what `user` trains.

        What is cast after the training loop is saved, not trained.
        """
        scope, training = self.scope(call), self.scope(user)
        if scope is training:
            first = self.first_backward(scope)
            return call.lineno < (user.lineno if first is None else first)
        is_constructor = isinstance(scope, FunctionDefinition) and scope.name == "__init__"
        return is_constructor and self._parents.get(scope) is self._parents.get(training)

    def first_backward(self, scope: Scope) -> int | None:
        """The row of the first backward in a scope; None if it is elsewhere."""
        rows = (
            call.lineno
            for call in self.calls
            if callee_name(call) == "backward" and self.scope(call) is scope
        )
        return min(rows, default=None)

    def named(self, call: ast.Call) -> list[str | None]:
        """What a method of a model changes: its receiver, and what its result is assigned to."""
        names = [dotted(call.func.value)] if isinstance(call.func, ast.Attribute) else []
        outer: ast.AST = call
        while isinstance(access := self._parents.get(outer), ast.Attribute):  # `….half().cuda()`
            outer = self._parents[access]
            if not isinstance(outer, ast.Call) or self._is_upcast(outer):
                return []
        statement = self._parents.get(outer)
        if isinstance(statement, ast.Assign):
            names += map(dotted, statement.targets)
        return names

    def dtype(self, node: ast.expr, at: ast.AST, hops: int = 2) -> Dtype | None:
        """Which dtypes an expression names: by itself, or as the flow knows its name in the scope.

        A parameter is what the calls of its function in this file give.
        """
        name = self.qualified(node).removeprefix("torch.")
        if name in ALIASES:
            return Dtype(frozenset({ALIASES[name]}))
        if not isinstance(node, ast.Name):
            return None
        scope = self.scope(at)
        if isinstance(scope, FunctionDefinition) and hops:
            for one, call in self._given(scope, node.id):
                if (given := self.dtype(one, call, hops - 1)) is not None:
                    return given
        return next(
            (
                fact.dtypes[node.id]
                for call in self.calls
                if (fact := self._facts.get(self.file.span_of(call))) is not None
                and node.id in fact.dtypes
                and self.scope(call) is scope
            ),
            None,
        )

    def _given(
        self, function: FunctionDefinition, parameter: str
    ) -> Iterator[tuple[ast.expr, ast.Call]]:
        """What the calls of a function in this file give for a parameter."""
        names = [one.arg for one in positional_parameters(function.args)]
        for call in self.callers(function):
            for keyword in call.keywords:
                if keyword.arg == parameter:
                    yield keyword.value, call
            if parameter in names and names.index(parameter) < len(call.args):
                yield call.args[names.index(parameter)], call

    def callers(self, function: Scope) -> Iterator[ast.Call]:
        """The calls of a function of this file by its name."""
        for call in self.calls:
            name = function.name if isinstance(function, FunctionDefinition) else None
            if isinstance(call.func, ast.Name) and call.func.id == name:
                yield call

    def shared_pipelines(self) -> Iterator[Cast]:
        """Casts of a pipeline that contains the same model, whose training continues."""
        for call in self.calls:
            if callee_name(call) != "to" or not isinstance(call.func, ast.Attribute):
                continue
            pipeline, scope = call.func.value, self.scope(call)
            dtype = next((one.value for one in call.keywords if one.arg == "dtype"), None)
            if not isinstance(pipeline, ast.Name) or dtype is None:
                continue
            made = list(self._made(pipeline.id, scope))
            named = self.dtype(dtype, call) if any(map(self._is_shared, made)) else None
            if named is not None and FLOAT16 in named.dtypes:
                yield Cast(pipeline.id, call, named.must_be(_ONLY_FLOAT16))

    def _made(self, name: str, scope: Scope) -> Iterator[ast.Call]:
        """The calls that make what a name holds, in its scope or where its parameter is given."""
        if isinstance(scope, FunctionDefinition) and name in [one.arg for one in scope.args.args]:
            for given, call in self._given(scope, name):
                if isinstance(given, ast.Name) and self._is_in_loop(call):
                    yield from self._assigned(given.id, call)
            return
        for node in self._assigned(name, scope):
            is_repeated = any(map(self._is_in_loop, self.callers(scope)))
            if is_repeated or self._is_in_loop(node):
                yield node

    def _assigned(self, name: str, at: ast.AST) -> Iterator[ast.Call]:
        """The calls assigned to a name; for a call that uses it, the last one before."""
        scope = at if isinstance(at, Scope) else self.scope(at)
        found = [
            node.value
            for node in self.nodes
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
            and self.scope(node) is scope
            and node.value.keywords
        ]
        if isinstance(at, ast.Call):
            found = [one for one in found if one.lineno < at.lineno]
            found = sorted(found, key=lambda one: one.lineno)[-1:]
        yield from found

    def _is_shared(self, made: ast.Call) -> bool:
        """True if a pipeline holds a trained model: `unet=accelerator.unwrap_model(unet)`."""
        for keyword in made.keywords:
            value = keyword.value
            if isinstance(value, ast.Call) and _UNWRAP.search(callee_name(value)) and value.args:
                value = value.args[0]
            if dotted(value) in self.trained:
                return True
        return False

    def guards(self, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
        """The conditions of the `if`s around a node in its scope, and whether they hold there."""
        scope = self.scope(node)
        inner, around = node, self._parents.get(node)
        while around is not None and inner is not scope:
            if isinstance(around, ast.If | ast.IfExp) and inner is not around.test:
                body = around.body if isinstance(around.body, list) else [around.body]
                yield around.test, inner in body
            inner, around = around, self._parents.get(around)

    def _is_in_loop(self, node: ast.AST) -> bool:
        scope = self.scope(node)
        around: ast.AST | None = node
        while around is not None and around is not scope:
            if isinstance(around, Loop):
                return True
            around = self._parents.get(around)
        return False

    def scope(self, node: ast.AST) -> Scope:
        """The function that contains a node, or the module."""
        around = self._parents.get(node)
        while around is not None and not isinstance(around, Scope):
            around = self._parents.get(around)
        return around if isinstance(around, Scope) else self.file.tree

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that contains a node."""
        around: ast.AST | None = node
        while around is not None and not isinstance(around, ast.stmt):
            around = self._parents.get(around)
        return around

    def qualified(self, node: ast.expr) -> str:
        """A dotted name as the imports have it; "" for anything else."""
        return qualified(node, self._imports)


def _is_cast(call: ast.Call) -> bool:
    """True for a call that gives a module a dtype, or loads it in one."""
    match callee_name(call):
        case "half":
            return True
        case "to":
            first = [one for one in call.args[:1] if not _DEVICE.search(ast.unparse(one))]
            return bool(first or call.args[1:] or any(one.arg == "dtype" for one in call.keywords))
        case "from_pretrained":
            return any(one.arg in {"torch_dtype", "dtype"} for one in call.keywords)
    return False
