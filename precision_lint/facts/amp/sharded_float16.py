"""Models that FSDP computes in float16, and that the file trains.

`MixedPrecision(param_dtype=torch.float16)` casts parameters and inputs, so that the gradients of
activations are float16, whatever `reduce_dtype` says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.amp.optimizers import OPTIMIZERS
from precision_lint.facts.amp.regions.chosen import options_naming
from precision_lint.facts.amp.sharded_models import (
    holders_of_model,
    is_conditional,
    keyword_of,
    wrapped_models,
)
from precision_lint.facts.context import PythonFile
from precision_lint.model.dtypes import FLOAT16
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import arguments_of, binding, default_of
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import callee_name, dotted, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

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
    for call, policy in wrapped_models(file):
        dtype = _dtype(policy, syntax)
        if dtype is None or not _is_trained(call, file):
            continue
        if qualified(dtype, syntax.names) in _FLOAT16:
            if not is_conditional(policy, syntax):
                yield ShardedModel(call, ())
        elif options := options_naming(dtype, policy, FLOAT16, file):
            yield ShardedModel(call, options)


def _dtype(policy: ast.Call, syntax: SyntaxTree) -> ast.expr | None:
    """The dtype of a policy: of a parameter, the default, if no call of the file gives another."""
    given = keyword_of(policy, "param_dtype")
    held = binding(given, syntax) if isinstance(given, ast.Name) else None
    if not isinstance(held, ast.arg):
        return given
    calls = [*arguments_of(held, syntax)]
    is_default = all(value is None and not _unpacks(call) for call, value in calls)
    return default_of(held, syntax) if calls and is_default else None


def _unpacks(call: ast.Call) -> bool:
    is_starred = any(isinstance(each, ast.Starred) for each in call.args)
    return is_starred or any(each.arg is None for each in call.keywords)


def _is_trained(call: ast.Call, file: PythonFile) -> bool:
    """True if an optimizer gets what is wrapped."""
    names = {name for _, name in holders_of_model(call, file)}
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
