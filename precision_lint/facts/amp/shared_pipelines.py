"""Casts of a pipeline for validation that holds the very model whose training goes on.

`pipeline.to(device, dtype=torch.float16)` casts the modules of the pipeline in place, and the
optimizer holds the parameters of one of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Dtype
from precision_lint.model.dtypes import ALIASES, FLOAT16
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import cached_property
from precision_lint.model.regex import regex
from precision_lint.source.python.statements import FunctionDefinition, Loop
from precision_lint.source.python.syntax import (
    callee_name,
    dotted,
    named_parameters,
    positional_parameters,
    qualified,
)
from precision_lint.source.python.syntax_tree import Scope, calls_by_span, syntax_tree

_UNWRAP = regex(r"unwrap")
_ONLY_FLOAT16 = frozenset({FLOAT16})


@frozen
class PipelineCast:
    """A cast of a pipeline, to float16 in all runs or in some."""

    pipeline: str
    node: ast.Call
    is_certain: bool


def shared_pipelines(calls: Sequence[Call], file: PythonFile) -> Iterator[PipelineCast]:
    """Casts of a pipeline that contains the same model, whose training continues."""
    pipelines = _Pipelines(file)
    for node, pipeline, dtype in pipelines.casts():
        given = pipelines.dtype(dtype, _Scopes(calls, file))
        if given is not None and FLOAT16 in given.dtypes:
            yield PipelineCast(pipeline, node, given.must_be(_ONLY_FLOAT16))


def casts_pipelines(file: PythonFile) -> bool:
    """True if a pipeline with a model that is trained further is cast, to whatever dtype."""
    return any(_Pipelines(file).casts())


class _Scopes:
    """The dtypes that names hold in each function, as the flow knows them at its calls."""

    def __init__(self, calls: Sequence[Call], file: PythonFile) -> None:
        syntax = syntax_tree(file)
        nodes = calls_by_span(file)
        self._known = [
            (syntax.function(nodes[call.span]), call.dtypes) for call in calls if call.span in nodes
        ]

    def dtype(self, name: str, scope: ast.AST | None) -> Dtype | None:
        """What a name holds in a function, or at the top level."""
        found = (dtypes[name] for each, dtypes in self._known if each is scope and name in dtypes)
        return next(found, None)


class _Pipelines:
    """The pipelines that a file makes again and again while it trains."""

    def __init__(self, file: PythonFile) -> None:
        self._file = file
        self.syntax = syntax_tree(file)

    @cached_property
    def _trained(self) -> frozenset[str]:
        return frozenset(filter(None, map(_trained, calls_by_span(self._file).values())))

    def casts(self) -> Iterator[tuple[ast.Call, str, ast.expr]]:
        """The casts of pipelines that contain a model which is trained further, and the dtypes."""
        for node in self.syntax.calls("to"):
            dtype = next((one.value for one in node.keywords if one.arg == "dtype"), None)
            match node.func:
                case ast.Attribute(value=ast.Name() as pipeline) if dtype is not None:
                    if self._is_shared(pipeline):
                        yield node, pipeline.id, dtype

    def dtype(self, node: ast.expr, scopes: _Scopes, hops: int = 2) -> Dtype | None:
        """Which dtypes an expression names: a parameter, what the calls of its function give."""
        name = qualified(node, self.syntax.names).removeprefix("torch.")
        if name in ALIASES:
            return Dtype(frozenset({ALIASES[name]}))
        if not isinstance(node, ast.Name):
            return None
        scope = self.syntax.function(node)
        given = self._given(node.id, scope) if hops else ()
        found = (self.dtype(each, scopes, hops - 1) for each in given)
        return next((one for one in found if one is not None), scopes.dtype(node.id, scope))

    def _given(self, name: str, scope: ast.AST | None) -> Iterator[ast.expr]:
        """What the calls of a function in this file give for a parameter."""
        if not isinstance(scope, FunctionDefinition):
            return
        names = [one.arg for one in positional_parameters(scope.args)]
        for call in self.syntax.calls(scope.name):
            yield from (one.value for one in call.keywords if one.arg == name)
            if name in names:
                yield from call.args[names.index(name) : names.index(name) + 1]

    def _is_shared(self, pipeline: ast.Name) -> bool:
        """True if what a name holds contains a model that is trained further."""
        scope = self.syntax.function(pipeline) or self.syntax.tree
        return any(map(self._holds_trained, self._made(pipeline.id, scope)))

    def _holds_trained(self, made: ast.Call) -> bool:
        """True for `Pipeline.from_pretrained(…, unet=accelerator.unwrap_model(unet))`."""
        for keyword in made.keywords:
            value = keyword.value
            if isinstance(value, ast.Call) and _UNWRAP.search(callee_name(value)) and value.args:
                value = value.args[0]
            if dotted(value) in self._trained:
                return True
        return False

    def _made(self, name: str, scope: Scope) -> Iterator[ast.Call]:
        """The calls that make what a name holds, in its scope or where its parameter is given."""
        if isinstance(scope, FunctionDefinition):
            if any(one.arg == name for one in named_parameters(scope.args)):
                for given in self._given(name, scope):
                    if isinstance(given, ast.Name) and self._is_in_loop(given):
                        yield from self._assigned(given.id, given)[-1:]
                return
            is_repeated = any(map(self._is_in_loop, self.syntax.calls(scope.name)))
        else:
            is_repeated = False
        for node in self._assigned(name, scope):
            if is_repeated or self._is_in_loop(node):
                yield node

    def _assigned(self, name: str, at: ast.AST) -> list[ast.Call]:
        """The calls assigned to a name in a scope; where it is used, those before."""
        scope = at if isinstance(at, Scope) else self.syntax.function(at) or self.syntax.tree
        found = []
        for store in self.syntax.stores(scope, name):
            match self.syntax.parent(store):
                case ast.Assign(value=ast.Call(keywords=[_, *_]) as made):
                    found.append(made)
        if isinstance(at, ast.Name):
            found = [one for one in found if one.lineno < at.lineno]
        return sorted(found, key=lambda one: one.lineno)

    def _is_in_loop(self, node: ast.AST) -> bool:
        return any(isinstance(each, Loop) for each in self.syntax.within_function(node))


def _trained(call: ast.Call) -> str | None:
    """The model that gets an adapter or is put into training mode."""
    match call:
        case (
            ast.Call(func=ast.Attribute(value=model, attr="add_adapter"))
            | ast.Call(func=ast.Attribute(value=model, attr="train"), args=[], keywords=[])
        ):
            return dotted(model)
    return None
