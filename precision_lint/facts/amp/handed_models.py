"""What code of other files does with a model that it makes, is given, or has a method of.

A helper may freeze a part of it, add layers that are trained in its place, or give it to a backend
with float32 weights of its own. What the helper calls in its own file counts as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from precision_lint.facts.amp.module_paths import takes_part
from precision_lint.facts.amp.optimizers import names_optimizer
from precision_lint.facts.amp.optional_adapters import names_adapters, runs_without_adapters
from precision_lint.facts.amp.own_sharding import SHARDING, shards_by_itself
from precision_lint.facts.context import PythonFile
from precision_lint.facts.origin import Origin
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.origin_nodes import origin_node
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.branches import are_alternatives
from precision_lint.source.python.code import code_of
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Definition
from precision_lint.source.python.syntax import callee_name, dotted, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_FREEZING = regex(
    r"requires_grad(?:_\(\s*(?:requires_grad\s*=\s*)?|\s*=\s*)(?!\s*True\b)\w|freez",
    re.IGNORECASE,
)
"""What leaves only a part of the weights to be trained."""
_ADDING = regex(
    r"[\w)\]]\.\w+\s*=\s*(?!None\b|True\b|False\b)[\w.]+[(\[]|\bsetattr\("
    r"|\.(?:set_(?!grad)|add_|inject|insert|replace|register_)\w*\("
)
"""What may put layers into a model."""
_CHANGING = regex(
    r"\.data\s*=|master_weight|main_param|fp32_param|stochastic|kahan|galore|hqq|lora|peft"
    r"|(?:add|load|inject)_\w*adapter|load_in_[48]bit|quantization_config|deepspeed|megatron"
    r"|colossalai|fabric\b|lightning|accelerator\b",
    re.IGNORECASE,
)
"""What trains something else than the weights as they are."""
_FLOAT32 = regex(r"(?i)(?:\bfloat|float_?32|fp_?32)$")
"""Names of float32."""

Doing = Callable[[ParsedPython], frozenset[str]]
"""The names of the definitions of a file that do something to models."""
Named = ast.FunctionDef | ast.ClassDef

_MOST = 8
"""Files that are read for the definitions of one name."""


@frozen
class Given:
    """What an optimizer or a trainer is given, where the weights got their dtype, and its call."""

    node: ast.expr
    origin: Origin
    by: Span


def may_be_changed_elsewhere(given: Given, file: PythonFile) -> bool:
    """True if code of another file may change the weights of a model that an optimizer gets."""

    def sharding(home: ParsedPython) -> frozenset[str]:
        return frozenset() if shards_by_itself(home, file.project) else _sharding(home)

    return any(_may_be(doing, given, file) for doing in (_changing, _widening, sharding))


def may_freeze_elsewhere(given: Given, file: PythonFile) -> bool:
    """True if code of another file may freeze some of these weights."""
    return _may_be(_freezing, given, file)


def may_be_given_layers(given: Given, file: PythonFile) -> bool:
    """True if a function of this file or another one may put layers into the model."""
    own = _adding(file)
    return _may_be(_adding, given, file) or any(
        callee_name(call) in own and _takes_part(call, given, file)
        for call in syntax_tree(file).every_call
    )


def _may_be(doing: Doing, given: Given, file: PythonFile) -> bool:
    """True if what makes a model in another file, or is given it there, does something."""
    origin = given.origin
    if origin.source.path != file.text.path:
        found = origin_node(origin, file, file.project)
        if found is None:
            return True
        node, home = found
        around = [each for each in syntax_tree(home).around(node) if isinstance(each, Definition)]
        if any(_does(doing, each, home, file.project) for each in around[-1:]):
            return True
    return any(
        _does(doing, definition, home, file.project)
        for call in syntax_tree(file).every_call
        if _takes_part(call, given, file)
        for definition, home in _called(call, file)
    )


def _takes_part(call: ast.Call, given: Given, file: PythonFile) -> bool:
    is_other = takes_part(call, given.node, file) and file.span_of(call) != given.by
    return is_other and not _is_of_its_optimizer(call, given, file) and _may_be_reached(call, file)


def _is_of_its_optimizer(call: ast.Call, given: Given, file: PythonFile) -> bool:
    """True for a method of the optimizer that is judged, which is one of a library.

    What others do that the variable may hold, and the calls that make them, they do in other runs.
    """
    made = file.node_at(given.by)
    if not isinstance(made, ast.Call) or not names_optimizer(callee_name(made)):
        return False
    syntax = syntax_tree(file)
    match syntax.parent(made), syntax.parent(call):
        case ast.Assign(targets=[ast.Name() as one]), ast.Assign(targets=[ast.Name() as other]):
            if one.id == other.id and are_alternatives(one, other, syntax):
                return True
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    held = binding(owner, syntax) if isinstance(owner, ast.Name) else None
    return isinstance(held, list) and any(each is made for each in held)


def _may_be_reached(call: ast.Call, file: PythonFile) -> bool:
    """False for a call that the runs without adapters do not come to: these are the ones judged."""
    runs = runs_without_adapters(file) if names_adapters(file) else ()
    return not runs or any(run.reaches(call) for run in runs)


def _called(call: ast.Call, file: PythonFile) -> Iterator[tuple[Definition, ParsedPython]]:
    """The functions and classes of other files that a call may call: methods, if a program runs
    both files.
    """
    name, project = callee_name(call), file.project
    if isinstance(call.func, ast.Name) and _definitions(file, name):
        return  # of other files' functions of this name it calls none
    module = qualified(call.func, syntax_tree(file).names).rpartition(".")[0]
    imported = project.locate(file.text.path, module) if module else None
    paths = [*project.defining(name)]
    if isinstance(call.func, ast.Attribute):
        paths = [path for path in paths if project.runs_with(path, file.text.path)]
    for path in dict.fromkeys(([imported] if imported else []) + paths[:_MOST]):
        home = None if path == file.text.path else project.module(path)
        if home is not None:
            yield from ((definition, home) for definition in _definitions(home, name))


def _definitions(file: ParsedPython, name: str) -> list[Named]:
    return [each for each in _every(file) if each.name == name]


def _does(doing: Doing, definition: Definition, file: ParsedPython, project: Recording) -> bool:
    """True if the code of a definition does something, or what it calls in its file, or a function
    or a class that it calls of another one.
    """
    calls = [each for each in walk(definition) if isinstance(each, ast.Call)]
    names = doing(file)
    if definition.name in names or any(callee_name(call) in names for call in calls):
        return True
    return any(_is_imported(call, doing, file, project) for call in calls)


def _is_imported(call: ast.Call, doing: Doing, file: ParsedPython, project: Recording) -> bool:
    """True for a call of what a file imports from another one of the project that does it."""
    if not isinstance(call.func, ast.Name):
        return False
    module, _, name = qualified(call.func, syntax_tree(file).names).rpartition(".")
    path = project.locate(file.text.path, module) if module.strip(".") else None
    home = None if path is None else project.module(path)
    return home is not None and name in doing(home)


@fact
def _changing(file: ParsedPython) -> frozenset[str]:
    """The names of the functions and classes of a file that change what is trained."""
    return _with(_CHANGING, _every(file), file)


@fact
def _sharding(file: ParsedPython) -> frozenset[str]:
    """The names of those that have something of FSDP."""
    return _with(SHARDING, _every(file), file)


@fact
def _widening(file: ParsedPython) -> frozenset[str]:
    """The names of those that cast a module to float32 in its place: what such a cast gives is not
    used, which makes no sense for a tensor.
    """
    syntax = syntax_tree(file)
    return frozenset(
        around.name
        for node in file.nodes_of(ast.Expr)
        if _widens(node.value)
        for around in syntax.around(node)
        if isinstance(around, Named)
    )


def _widens(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="float" | "double"), args=[]):
            return True
        case ast.Call(func=ast.Attribute(attr="to" | "type")):
            given = (*node.args, *(each.value for each in node.keywords if each.arg == "dtype"))
            return any(_FLOAT32.search(dotted(each) or "") for each in given)
    return False


@fact
def _freezing(file: ParsedPython) -> frozenset[str]:
    """The names of those that freeze something."""
    return _with(_FREEZING, _every(file), file)


@fact
def _adding(file: ParsedPython) -> frozenset[str]:
    """The names of functions that may put layers into a module; a class makes its own before."""
    functions = [each for each in _every(file) if not isinstance(each, ast.ClassDef)]
    return _with(_ADDING, functions, file)


def _with(
    pattern: re.Pattern[str], definitions: Iterable[Named], file: ParsedPython
) -> frozenset[str]:
    """The names of the definitions whose code has something."""
    code = code_of(file)
    spans = ((each.name, file.span_of(each)) for each in definitions)
    return frozenset(name for name, span in spans if pattern.search(code, span.start, span.end))


def _every(file: ParsedPython) -> list[Named]:
    functions, classes = file.nodes_of(ast.FunctionDef), file.nodes_of(ast.ClassDef)
    return [each for each in (*functions, *classes) if isinstance(each, Named)]
