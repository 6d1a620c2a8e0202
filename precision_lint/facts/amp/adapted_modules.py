"""The modules that a file adds adapters to, where the dtype flow sees each call that does so.

PEFT freezes such a module and makes its adapters float32, but for releases before 0.12 and where an
argument turns that off (`autocast_adapter_dtype=False`): the flow then says that they have the
dtype of the module. What is trained beside it may be in half
precision for all that: in one function, a module that has no call in common with it that made it
(see `kin`); in others, one that another call casts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.facts.amp.module_paths import takes_part
from precision_lint.facts.amp.optional_adapters import adapting, names_adapters
from precision_lint.facts.amp.optional_places import is_left_out
from precision_lint.facts.amp.parameter_groups import ParameterGroup, parameter_groups
from precision_lint.facts.amp.plain_runs import PlainRun, plain_runs
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.dtypes.domain.kin import kin_of
from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import Instance, Model
from precision_lint.facts.dtypes.domain.weights import as_module
from precision_lint.facts.origin import Origin
from precision_lint.model.memo import fact
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import callee_name, last_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

ADDING = frozenset({"get_peft_model", "PeftModel"})
"""The calls of PEFT that add adapters to a model, which they get first."""

_OF_WEIGHTS = frozenset({"parameters", "named_parameters"})
_HANDING_ON = frozenset({"list", "tuple", "filter", "sorted", "chain"})
_MOST_HOPS = 3


@fact
def adds_by_calls_alone(file: PythonFile) -> bool:
    """True if every place that names adapters is a part of a call that adds some to a model.

    What the flow says of these calls decides.
    """
    return names_adapters(file) and all(_is_of_call(each, file) for each in adapting(file))


def takes_dtype_of_model(adapter: Origin, file: PythonFile) -> bool:
    """True for adapters that a call of PEFT certainly leaves in the dtype of the model, where no
    other place of the file adds some or quantizes in all runs.
    """
    name = file.node_at(adapter.span) if adapter.source.path == file.text.path else None
    call = None if name is None else syntax_tree(file).parent(name)
    is_adding = call is not None and _is_adding(call, file)
    return is_adding and (adds_by_calls_alone(file) or bool(runs_adding_by_calls(file)))


@fact
def runs_adding_by_calls(file: PythonFile) -> tuple[PlainRun, ...]:
    """The plain runs that come to no other place which may add adapters or quantize."""
    others = [each for each in adapting(file) if not _is_of_call(each, file)]
    return tuple(
        run for run in plain_runs(file) if all(is_left_out(each, run, file) for each in others)
    )


def trains_beside_adapters(given: Argument, calls: Sequence[Call], file: PythonFile) -> bool:
    """True if an optimizer gets a group of parameters of modules that certainly get no adapters."""
    groups = parameter_groups(given, file)
    if groups:
        return any(_is_beside(each.weights, calls, file) for each in groups)
    node = file.node_at(given.span)
    return node is not None and _is_beside(node, calls, file)


def beside_adapters(
    groups: tuple[ParameterGroup, ...], calls: Sequence[Call], file: PythonFile
) -> tuple[ParameterGroup, ...]:
    """The groups of parameters of modules that certainly get no adapters; all if there are none."""
    return tuple(each for each in groups if _is_beside(each.weights, calls, file)) or groups


def _is_beside(given: ast.expr, calls: Sequence[Call], file: PythonFile) -> bool:
    if not adds_by_calls_alone(file):
        return False
    seen = {call.span for call in calls if call.name in ADDING}
    trained = [*_weights(given, file, _MOST_HOPS)]
    return (
        bool(trained)
        and all(file.span_of(call) in seen for call in _calls(file))
        and not any(_may_be_adapted(each, calls, file) for each in trained)
    )


def _weights(given: ast.expr, file: PythonFile, hops: int) -> Iterator[ast.Call | None]:
    """The calls that give the parameters that an expression holds; None for what is not seen."""
    inside = [
        each
        for each in walk(given)
        if isinstance(each, ast.Call) and callee_name(each) in _OF_WEIGHTS
    ]
    if inside:
        yield from inside
        return
    match given:
        case ast.Name() if hops:
            held = binding(given, syntax_tree(file))
            for value in held if isinstance(held, list) and held else [None]:
                yield from [None] if value is None else _weights(value, file, hops - 1)
        case ast.Call(args=[*values]) if callee_name(given) in _HANDING_ON:
            for value in values:
                yield from _weights(value, file, hops)
        case ast.List(elts=values) | ast.Dict(values=values):
            for value in values:
                yield from _weights(value, file, hops)
        case ast.Constant() | ast.Lambda():
            return
        case _:
            yield None


def _may_be_adapted(node: ast.Call | None, calls: Sequence[Call], file: PythonFile) -> bool:
    """True unless a module is another one than each that gets adapters."""
    if node is None:
        return True
    shown = [call for call in calls if call.span == file.span_of(node)]
    adding = [call for call in calls if call.name in ADDING]
    return not shown or any(_may_share(one, call, file) for one in shown for call in adding)


def _may_share(trained: Call, adding: Call, file: PythonFile) -> bool:
    """True unless a module that is trained is another one than a module that gets adapters."""
    given = adding.argument(0, "model")
    adapted = None if given is None else reading(given.value)
    if not isinstance(adapted, Model | Instance):
        return True
    if trained.scope == adding.scope:
        own, other = kin_of(trained.receiver), kin_of(adapted)
        if not own or not other or not own.isdisjoint(other):
            return True
        return any(_may_copy(file.node_at(span)) for _, span in own)
    weights = as_module(trained.receiver)
    cast = weights.cast if isinstance(weights, Model) else None
    return cast is None or cast in _casts(adapted) or _may_be_cast(cast, adding, file)


def _may_copy(made: ast.expr | None) -> bool:
    """True for `deepcopy(model)`: what it gives has the adapters of the model."""
    called = made.func if isinstance(made, ast.Call) else made
    return called is None or last_name(called) == "deepcopy"


def _casts(module: Model | Instance) -> Iterator[Origin | None]:
    """Where a module and its parts got their dtypes."""
    yield module.cast
    parts = module.members if isinstance(module, Model) else [part for _, part in module.fields]
    for part in parts:
        if isinstance(part, Model | Instance):
            yield from _casts(part)


def _may_be_cast(cast: Origin, adding: Call, file: PythonFile) -> bool:
    """True if a call that casts a module may cast what another call adds adapters to, or gets it
    from a caller.
    """
    is_own = cast.source.path == file.text.path
    node, other = file.node_at(cast.span) if is_own else None, file.node_at(adding.span)
    method = node.func if isinstance(node, ast.Call) else node
    if not isinstance(method, ast.Attribute) or not isinstance(other, ast.Call):
        return True
    owner = method.value
    given = next((one.value for one in other.keywords if one.arg == "model"), None)
    adapted = given or (other.args[0] if other.args else None)
    if not _is_made_here(owner, file) or not _is_made_here(adapted, file):
        return True
    return takes_part(other, owner, file)


def _is_made_here(module: ast.expr | None, file: PythonFile) -> bool:
    """True for what a call gives, or for a variable that only calls give its value: it is no
    parameter, and no choice.
    """
    held = binding(module, syntax_tree(file)) if isinstance(module, ast.Name) else [module]
    return isinstance(held, list) and all(isinstance(each, ast.Call) for each in held)


def _calls(file: PythonFile) -> Iterator[ast.Call]:
    syntax = syntax_tree(file)
    for name in sorted(ADDING):
        for call in syntax.calls(name):
            if _is_adding(call, file):
                yield call


def _is_adding(node: ast.AST, file: PythonFile) -> bool:
    return (
        isinstance(node, ast.Call)
        and callee_name(node) in ADDING
        and qualified(node.func, syntax_tree(file).names).startswith("peft.")
    )


def _is_of_call(node: ast.AST, file: PythonFile) -> bool:
    """True for a part of a call that adds adapters, or of a configuration that only such get."""
    syntax = syntax_tree(file)
    for around in (node, *syntax.around(node)):
        if _is_adding(around, file):
            return True
        match around:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as made):
                made_by = qualified(made.func, syntax.names)
                if not (made_by.startswith("peft.") and made_by.endswith("Config")):
                    return False
                reads = syntax.reads(syntax.body(around), name)
                return all(
                    any(_is_adding(each, file) for each in syntax.around(read)) for read in reads
                )
            case ast.stmt():
                return False
    return False
