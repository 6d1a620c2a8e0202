"""What functions of the standard library make that programs hold and use later."""

from __future__ import annotations

import ast
from dataclasses import replace
from keyword import iskeyword

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    ClassObject,
    Constant,
    FunctionValue,
    Instance,
    Model,
    Partial,
    Sequence,
    Symbol,
    Value,
)
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate
from precision_lint.facts.origin import Choice, Setting
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk

QUEUES = frozenset(
    f"{module}.{name}"
    for module, names in {
        "queue": "LifoQueue PriorityQueue Queue SimpleQueue",
        "multiprocessing": "JoinableQueue Queue SimpleQueue",
        "torch.multiprocessing": "JoinableQueue Queue SimpleQueue",
        "asyncio": "LifoQueue PriorityQueue Queue",
    }.items()
    for name in names.split()
)
"""Classes whose objects start empty, and hand on what is put into them."""


NAMESPACES = frozenset(
    {
        "addict.Dict",
        "argparse.Namespace",
        "collections.OrderedDict",
        "easydict.EasyDict",
        "munch.Munch",
        "types.SimpleNamespace",
    }
)
"""Classes whose objects hold what they are made with, under its names."""

_OF_OUTPUTS = regex(r"^(?:transformers|diffusers)\.(?:\w+\.)*[A-Z]\w*Output\w*$")


def is_of_outputs(name: str, given: CallSite) -> bool:
    """True for a class of what models return, whose object holds what it is made with by name."""
    return not given.arguments and _OF_OUTPUTS.search(name) is not None


def environment_variable(evaluator: Evaluate, given: CallSite) -> Value:
    match given.first:
        case Constant(value=str(name)):
            found = evaluator.analysis.configuration.variable(evaluator.frame.module, name)
            if found is not None:
                return found
            default = given.argument(1, "default")
            if isinstance(default, Constant) and isinstance(default.value, str):
                origin = given.origin(f"the default of `{name}`", "dtype")
                return Setting((Choice(default.value, origin),))
            return default
    return UNKNOWN


def partial(given: CallSite) -> Value:
    """`functools.partial(function, *arguments, **keywords)`."""
    if any(argument.starred for argument in given.arguments) or "**" in given.keywords:
        return UNKNOWN
    arguments = tuple(given.values[1:])
    keywords = {name: argument.value for name, argument in given.keywords.items()}
    match reading(given.first):
        case Partial(function=function, arguments=before, keywords=others):
            return Partial(
                function, before + arguments, tuple({**dict(others), **keywords}.items())
            )
        case FunctionValue() | ClassObject() | Symbol() | Model() | Instance() as function:
            return Partial(function, arguments, tuple(keywords.items()))
    return UNKNOWN


def with_arguments(partial: Partial, given: CallSite, arguments: tuple[Argument, ...]) -> CallSite:
    """A call of the function of a partial, with the arguments of both."""
    before = tuple(Argument(value, given.span) for value in partial.arguments)
    keywords = {name: Argument(value, given.span) for name, value in partial.keywords}
    return replace(given, arguments=(*before, *arguments), keywords={**keywords, **given.keywords})


def named_tuple(evaluate: Evaluate, node: ast.Call, given: CallSite) -> Value:
    """`namedtuple("Point", ["x", "y"])`: a class whose objects have these fields."""
    match given.argument(0, "typename"), given.argument(1, "field_names"):
        case Constant(value=str(name)), Constant(value=str(text)):
            fields = text.replace(",", " ").split()
        case Constant(value=str(name)), Sequence(items=tuple(items)):
            fields = [str(one.value) for one in items if isinstance(one, Constant)]
        case _:
            return UNKNOWN
    module = evaluate.frame.module
    if not all(each.isidentifier() and not iskeyword(each) for each in (name, *fields)):
        return UNKNOWN  # it raises

    def made() -> ast.ClassDef:
        body = [f"    {field}: object" for field in fields] or ["    pass"]
        tree = ast.parse("\n".join([f"class {name}(NamedTuple):", *body]))
        definition = tree.body[0]
        assert isinstance(definition, ast.ClassDef)
        for each in walk(definition):
            ast.copy_location(each, node)
        return definition

    return ClassObject(module.class_(module.fact((named_tuple, node), made), name))
