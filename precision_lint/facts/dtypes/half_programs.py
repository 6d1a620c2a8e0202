"""What programs give to the models whose weights they make half, as far as none of it is autocast.

Nothing is said of a program that may open a region, hands the model to a library that does, or
casts a model, or parts of it, to float32.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.cast_programs import names_of_model, programs_hold
from precision_lint.facts.dtypes.domain.values import Tensor
from precision_lint.facts.dtypes.syntax import sources
from precision_lint.facts.dtypes.syntax.bodies import module_of_body
from precision_lint.facts.dtypes.syntax.definitions import Module
from precision_lint.facts.dtypes.syntax.mutations import CASTING, changed
from precision_lint.facts.dtypes.whole_program.moving import ModuleCast
from precision_lint.facts.origin import Origin
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.code import code_of
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted, last_name
from precision_lint.source.python.syntax_tree import syntax_tree

_CASTING_OTHERS = (
    r"Trainer\b|LightningModule|\bFabric\b|\bAccelerator\b|mixed_precision|amp\.initialize|colossalai"
    r"|set_default_(?:dtype|tensor_type)|modules_to_save|FullyShardedDataParallel|fully_shard"
    r"|megatron|transformer_engine|peft[^#]{0,200}prepare_model_for_"
)
"""What opens regions around models, casts layers to float32, or chooses dtypes by itself."""

_OF_LIBRARIES = regex(_CASTING_OTHERS)
_OPENING = b"autocast|" + _CASTING_OTHERS.encode()
_VISITING = frozenset(
    "modules named_modules children named_children parameters named_parameters".split()
)
_VISITS = rb"\.(?:named_)?(?:modules|children|parameters)\("
_WIDE = regex(r"float32|float64|torch\.(?:float|double)\b")
_ENGINE = regex(r"(?:^|_)engine$")
_TRAINING = rb"\.backward\("
_MOST_FILES = 24


@frozen
class HalfProgram:
    """A program that makes the weights of a model half, and the names that it calls the model."""

    module: Module
    names: frozenset[str]
    weights: Tensor
    """The dtypes that it gives the weights."""
    origin: Origin
    """Where it chooses them."""
    is_conditional: bool
    """The weights are half in some of its runs only."""
    trains: bool

    def gives(self, needed: frozenset[str], order: Sequence[str], file: PythonFile) -> bool:
        """True if it calls the model with some parameters of `forward`, whose order is given."""
        return any(
            all(self._gives(call, each, order) for each in needed) for call in self._calls(file)
        )

    def _gives(self, call: ast.Call, name: str, order: Sequence[str]) -> bool:
        given = {keyword.arg for keyword in call.keywords}
        if name in given or (None in given and self.trains):  # of a batch that has it, or fails
            return True
        return name in order and len(call.args) > order.index(name)

    def _calls(self, file: PythonFile) -> Iterator[ast.Call]:
        """The calls of the model, by its names or by one that a model goes by."""
        path = self.module.file.text.path
        called = rb"(?:model|net|engine|%s)\(" % "|".join(sorted(self.names)).encode()
        found = [
            other
            for other in file.project.python_sources_matching(called)
            if other == path or file.project.runs_with(other, path)
        ]
        for other in found[:_MOST_FILES]:
            parsed = self.module.file if other == path else file.project.module(other)
            for node in () if parsed is None else parsed.nodes_of(ast.Call):
                name = callee_name(node)
                if name in self.names or _is_called_model(name):
                    yield node


def _is_called_model(name: str) -> bool:
    return (sources.MODEL_NAME.search(name) or _ENGINE.search(name)) is not None


def half_program(made: ModuleCast, file: PythonFile) -> HalfProgram | None:
    """The program of a call that makes weights half; None if it may compute in float32 anyway."""
    origin = made.weights.origin
    if made.body is None or origin is None:
        return None
    module = module_of_body(made.body)
    if file.project.is_secondary(module.file.text.path):
        return None
    names = frozenset(names_of_model(made.call, made.body))
    of_class = made.definition.module.file.text.path
    if not names or _widens(module.file, names) or _may_open(module, of_class, file):
        return None
    if any(_casts_what_it_visits(each) for each in _visiting(module, file)):
        return None
    is_conditional = _is_conditional(made.call, module)
    trains = programs_hold(module, _TRAINING, file)
    return HalfProgram(module, names, made.weights, origin, is_conditional, trains)


def _is_conditional(call: ast.Call, module: Module) -> bool:
    """True under a condition, but for the one of a file that is started."""
    around = syntax_tree(module.file).within_function(call)
    tests = (each.test for each in around if isinstance(each, ast.If | ast.IfExp))
    return any("__name__" not in ast.unparse(test) for test in tests)


def _may_open(module: Module, of_class: Path, file: PythonFile) -> bool:
    """True if a program may open a region around the model, or hand it to what casts it.

    A region that `forward` of another module opens is around the parts of that module alone.
    """
    path = module.file.text.path
    for other in file.project.python_sources_matching(_OPENING):
        if other == path or file.project.runs_with(other, path):
            parsed = module.file if other == path else file.project.module(other)
            is_holder = other == path or file.project.uses(other, of_class)
            if parsed is None or _opens(parsed, is_holder=is_holder):
                return True
    return False


def _opens(parsed: ParsedPython, *, is_holder: bool) -> bool:
    code = code_of(parsed)
    if _OF_LIBRARIES.search(code) is not None:
        return True
    if is_holder:
        return "autocast" in code
    syntax = syntax_tree(parsed)
    named = (*parsed.nodes_of(ast.Attribute), *parsed.nodes_of(ast.Name))
    return any(
        not any(_is_network(each) for each in syntax.around(node))
        for node in named
        if last_name(node) == "autocast"
    )


def _is_network(node: ast.AST) -> bool:
    """True for a class with a `forward` that calls no model which it was given."""
    if not isinstance(node, ast.ClassDef):
        return False
    methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    called = {callee_name(each) for each in walk(node) if isinstance(each, ast.Call)}
    return "forward" in methods and called.isdisjoint(_GIVEN)


_GIVEN = frozenset({"model", "module", "net", "network"})


def _visiting(module: Module, file: PythonFile) -> Iterator[ParsedPython]:
    """The files of the programs of a module that visit the layers of a model."""
    path = module.file.text.path
    yield module.file
    for other in file.project.python_sources_matching(_VISITS):
        is_linked = other != path and file.project.runs_with(other, path)
        parsed = file.project.module(other) if is_linked else None
        if parsed is not None:
            yield parsed


@fact
def _casts_what_it_visits(file: ParsedPython) -> bool:
    """True if a loop over the layers of a model, or its parameters, may cast them to float32."""
    return any(
        isinstance(node, ast.Call) and callee_name(node) in CASTING and _may_be_wide(node)
        for visit in file.nodes_of(ast.For)
        if any(
            isinstance(each, ast.Call) and callee_name(each) in _VISITING
            for each in walk(visit.iter)
        )
        for node in walk(visit)
    )


def _widens(file: ParsedPython, names: frozenset[str]) -> bool:
    """True if a file may cast a model to float32, or a part of it, or makes a part anew."""
    return any(_replaces_part(node, names) for node in file.nodes_of(ast.Assign)) or any(
        _casts_to_float32(node, names) for node in file.nodes_of(ast.Call)
    )


def _casts_to_float32(node: ast.Call, names: frozenset[str]) -> bool:
    """True for `model.float()`, and for a part that may be cast to float32: `model.head.to(dtype)`.

    `model.apply(f)` may do so as well.
    """
    if callee_name(node) == "apply":
        return not names.isdisjoint((dotted(node.func) or "").split("."))
    if callee_name(node) not in CASTING:
        return False
    path = (dotted(changed(node)[0]) or "").split(".")
    if names.isdisjoint(path):
        return False
    return _may_be_wide(node) if path[-1] not in names else _is_wide(node)


def _is_wide(node: ast.Call) -> bool:
    """True for a cast to what is written as float32."""
    return callee_name(node) in {"float", "double"} or _WIDE.search(ast.unparse(node)) is not None


def _may_be_wide(node: ast.Call) -> bool:
    """The same for a dtype that has another name, too."""
    return _is_wide(node) or (callee_name(node) == "to" and "dtype" in ast.unparse(node))


def _replaces_part(node: ast.Assign, names: frozenset[str]) -> bool:
    """True for `model.head = nn.Linear(…)`, which is in float32 whatever the model is in."""
    made, _ = changed(node.value)
    makes = isinstance(made, ast.Call) and callee_name(made)[:1].isupper()
    return makes and any(
        not names.isdisjoint((dotted(target) or "").split(".")[:-1]) for target in node.targets
    )
