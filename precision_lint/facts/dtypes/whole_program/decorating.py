"""What functions are after the decorators of the project: mostly a wrapper that calls them.

Decorators of libraries (`torch.no_grad`, `functools.lru_cache`) leave what a function takes and
returns as it is, and so do those that cast nothing, or of which it is not known what they make.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    ClassObject,
    FunctionValue,
    Instance,
    Partial,
    Value,
)
from precision_lint.facts.dtypes.interpreter.expressions import Evaluator
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.invocation import applied
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.whole_program.callbacks import keeping
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import dotted, innermost_name, parameters

_CAST = regex(r"\.(?:to|float|half|bfloat16|double|type|cast)\(|autocast")

_Callable = FunctionValue | Instance | Partial


class Decorating:
    """Applies the decorators of functions."""

    def __init__(self, analysis: Interprocedural) -> None:
        self._analysis = analysis
        self._found: dict[Function, _Callable | None] = {}

    def wrapper(self, routine: FunctionValue) -> _Callable | None:
        """What the name of a function is bound to, if that is another one."""
        definition = routine.definition
        if routine.is_bare or not _is_decorated_here(definition) or definition.is_class_method:
            return None
        if routine.closure is not None:
            return self._wrapper(routine)
        if definition not in self._found:
            self._found[definition] = self._wrapper(replace(routine, receiver=None))
        return self._found[definition]

    def _wrapper(self, routine: FunctionValue) -> _Callable | None:
        definition = routine.definition
        frame = Frame(definition.module, closure=routine.closure)
        evaluate, env = Evaluator(self._analysis, frame), Environment()
        bare = replace(routine, is_bare=True)
        value: Value = bare
        called = (
            each.func if isinstance(each, ast.Call) else each for each in definition.decorators
        )
        if not any(_casts(evaluate.read(each, env)) for each in called):
            return None
        for decorator in reversed(definition.decorators):
            function = evaluate.read(decorator, env)
            if not isinstance(function, _Callable | ClassObject):
                continue
            made = reading(applied(evaluate, *_call(evaluate, decorator, function, value), env))
            value = _keeping(made, value) if isinstance(function, ClassObject) else made
            if not isinstance(value, _Callable):
                return None
        is_same = isinstance(value, FunctionValue) and value.definition is definition
        return None if is_same or not isinstance(value, _Callable) else value


def _casts(decorator: Value) -> bool:
    """True for a function or a class of the project with a word for a cast in it."""
    if not isinstance(decorator, FunctionValue | ClassObject):
        return False
    module, node = decorator.definition.module, decorator.definition.node
    return module.fact(
        (_casts, node),
        lambda: _CAST.search(module.file.text.text, *module.file.span_of(node)) is not None,
    )


def _call(
    evaluate: Evaluator, decorator: ast.expr, function: Value, value: Value
) -> tuple[ast.Call, Value, Value, CallSite]:
    """The call that a decorator is: its node, its receiver, what is called and what it is given."""
    span = evaluate.span_of(decorator)
    node = ast.copy_location(ast.Call(ast.Name("decorator", ast.Load()), [], []), decorator)
    given = CallSite(evaluate.source, span, (Argument(value, span),), {})
    return node, value, function, given


def _keeping(made: Value, function: Value) -> Value:
    """An object that wraps a function, with the attributes in which its `__init__` keeps it."""
    if not isinstance(made, Instance):
        return UNKNOWN
    initialiser = made.definition.methods.get("__init__")
    if initialiser is None or len(initialiser.parameters) < 2:
        return UNKNOWN
    kept = [*keeping(initialiser, initialiser.parameters[1].arg)]
    fields = tuple((name, function) for name in kept)
    return replace(made, fields=fields) if kept else UNKNOWN


def given_to_wrapper(routine: FunctionValue, given: CallSite) -> CallSite:
    """What the wrapper of a function gets: the object first, where it is that of a method."""
    if routine.receiver is None or routine.definition.is_static:
        return given
    own = Argument(routine.receiver, given.span)
    return replace(given, arguments=(own, *given.arguments))


def hands_on(wrapper: Value) -> bool:
    """True for a wrapper that calls the function with what it is given itself, and nothing else."""
    match wrapper:
        case FunctionValue(definition=definition, closure=closure):
            held = {name for name, value in (closure or {}).items() if _is_bare(value)}
        case Instance(definition=Class(methods={"__call__": definition}), fields=fields):
            held = {f"self.{name}" for name, value in fields if _is_bare(value)}
        case _:
            return False
    own = {each.arg for each in parameters(definition.node.args)}
    own -= {name for effect in definition.def_uses for name in effect.writes}
    calls = [
        node
        for node in walk(definition.node)
        if isinstance(node, ast.Call) and dotted(node.func) in held
    ]
    given = [
        one.value if isinstance(one, ast.Starred) else one
        for call in calls
        for one in (*call.args, *(keyword.value for keyword in call.keywords))
    ]
    return bool(calls) and all(isinstance(one, ast.Name) and one.id in own for one in given)


def _is_bare(value: Value) -> bool:
    return isinstance(value, FunctionValue) and value.is_bare


def _is_decorated_here(definition: Function) -> bool:
    """True for a decorator that may be a function or a class of the project: few are."""
    decorators = definition.decorators
    return bool(decorators) and any(
        _may_be_own(definition.module, definition, innermost_name(each)) for each in decorators
    )


def _may_be_own(module: Module, definition: Function, name: str) -> bool:
    if name in module.top:
        return True
    if name in module.imports:
        return module.imports[name].partition(".")[0] not in _LIBRARIES
    return definition.enclosing is not None and name in definition.enclosing.scope.own


_LIBRARIES = frozenset(
    {
        "abc", "click", "contextlib", "dataclasses", "functools", "hydra", "jax", "numba",
        "numpy", "pytest", "torch", "transformers", "triton", "typing", "typing_extensions",
    }
)  # fmt: skip
"""Packages whose decorators are not looked up in the project."""
