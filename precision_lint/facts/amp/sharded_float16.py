"""Models that FSDP computes in float16, and that the file trains.

`MixedPrecision(param_dtype=torch.float16)` casts parameters and inputs, so that the gradients of
activations are float16, whatever `reduce_dtype` says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.amp.optimizers import OPTIMIZERS
from precision_lint.facts.amp.regions.chosen import options_naming
from precision_lint.facts.context import PythonFile
from precision_lint.model.dtypes import FLOAT16
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import arguments_of, binding, default_of
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name, dotted, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_OF_FSDP = r"torch\.distributed\.(?:_composable\.)?fsdp\.(?:\w+\.)*"
_WRAPPER = regex(_OF_FSDP + r"(?:FullyShardedDataParallel|fully_shard)")
_POLICY = regex(_OF_FSDP + r"(?:MixedPrecision|MixedPrecisionPolicy)")
_FLOAT16 = frozenset({"torch.float16", "torch.half"})
_MAKES_OPTIMIZER = regex(r"(?i)optim")


@frozen(eq=False)
class ShardedModel:
    """A model that FSDP computes in float16; `options` choose that, or else every run has it."""

    wrapped: ast.Call
    options: tuple[Related, ...]


def float16_shards(file: PythonFile) -> Iterator[ShardedModel]:
    """The models of a file that FSDP computes in float16, and that an optimizer of it gets."""
    syntax = syntax_tree(file)
    for call in file.nodes_of(ast.Call):
        if _WRAPPER.fullmatch(qualified(call.func, syntax.names)) is None:
            continue
        policy = _policy(call, syntax)
        dtype = None if policy is None else _dtype(policy, syntax)
        if policy is None or dtype is None or not _is_trained(call, file, syntax):
            continue
        if qualified(dtype, syntax.names) in _FLOAT16:
            if not _is_conditional(policy, syntax):
                yield ShardedModel(call, ())
        elif options := options_naming(dtype, policy, FLOAT16, file):
            yield ShardedModel(call, options)


def _argument(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _dtype(policy: ast.Call, syntax: SyntaxTree) -> ast.expr | None:
    """The dtype of a policy: of a parameter, the default, if no call of the file gives another."""
    given = _argument(policy, "param_dtype")
    held = binding(given, syntax) if isinstance(given, ast.Name) else None
    if not isinstance(held, ast.arg):
        return given
    calls = [*arguments_of(held, syntax)]
    is_default = all(value is None and not _unpacks(call) for call, value in calls)
    return default_of(held, syntax) if calls and is_default else None


def _unpacks(call: ast.Call) -> bool:
    is_starred = any(isinstance(each, ast.Starred) for each in call.args)
    return is_starred or any(each.arg is None for each in call.keywords)


def _policy(call: ast.Call, syntax: SyntaxTree) -> ast.Call | None:
    """The policy that a model is wrapped with, if it can be one only."""
    given = _argument(call, "mixed_precision") or _argument(call, "mp_policy")
    if isinstance(given, ast.Name):
        held = binding(given, syntax)
        given = held[0] if isinstance(held, list) and len(held) == 1 else None
    match given:
        case ast.Call(func=func) if _POLICY.fullmatch(qualified(func, syntax.names)):
            return given
    return None


def _is_conditional(node: ast.AST, syntax: SyntaxTree) -> bool:
    return any(isinstance(each, ast.If | ast.IfExp) for each in syntax.within_function(node))


def _is_trained(call: ast.Call, file: PythonFile, syntax: SyntaxTree) -> bool:
    """True if an optimizer gets what is wrapped."""
    names = _held(call, syntax)
    for made in file.nodes_of(ast.Call):
        given = [*made.args, *(keyword.value for keyword in made.keywords)]
        name = callee_name(made)
        if name in OPTIMIZERS:
            owners = {
                dotted(each.func.value)
                for argument in given
                for each in walk(argument)
                if isinstance(each, ast.Call)
                and isinstance(each.func, ast.Attribute)
                and each.func.attr in {"parameters", "named_parameters"}
            }
            if owners & names:
                return True
        elif _MAKES_OPTIMIZER.search(name) and {*map(dotted, given)} & names:
            return True
    return False


def _held(call: ast.Call, syntax: SyntaxTree) -> set[str]:
    """What the file calls a model that is wrapped, here or by the calls of this function."""
    if callee_name(call) == "fully_shard":
        return {name for each in call.args[:1] if (name := dotted(each)) is not None}
    names = _targets(call, syntax)
    function = syntax.function(call)
    if isinstance(function, FunctionDefinition) and _is_returned(call, names, syntax):
        for each in syntax.calls(function.name):
            names |= _targets(each, syntax)
    return names


def _targets(call: ast.Call, syntax: SyntaxTree) -> set[str]:
    match syntax.parent(call):
        case ast.Assign(targets=targets):
            return {name for each in targets if (name := dotted(each)) is not None}
    return set()


def _is_returned(call: ast.Call, names: set[str], syntax: SyntaxTree) -> bool:
    if isinstance(syntax.parent(call), ast.Return):
        return True
    returned = (
        node.value
        for node in walk(syntax.body(call))
        if isinstance(node, ast.Return) and node.value is not None
    )
    return any(dotted(each) in names for each in returned)
