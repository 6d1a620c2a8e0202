"""What a file of a program reads, defines and decides: the steps of the ways of settings."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from precision_lint.facts.amp.regions.autocast import autocast_call
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.taking_calls import is_option_of_precision, written_out
from precision_lint.facts.runs.code.torch_sinks import TorchPlace, torch_places
from precision_lint.facts.runs.interpreter.started import offered
from precision_lint.facts.settings.vocabulary import names_precision
from precision_lint.model.dtypes import ALIASES
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name, dotted, last_name, parameters
from precision_lint.source.python.syntax_tree import syntax_tree

_GETTER = regex(r"(?:^|_)(?:get|select|lookup)(?:_|$)|^r?getattr$|(?:^|_)get$")
"""Functions that read a member by its name, and their first argument is what holds it."""
_CASTS = frozenset({"float", "half", "bfloat16", "double"})
_CONVERTING = regex(r"(?:convert_)?to_(fp16|bf16|fp32|float16|bfloat16|float32|half)")
"""Methods of networks that cast what they hold: `model.convert_to_fp16()`."""
_SHORT = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}


def cast_by(method: str) -> str:
    """The type that a method casts to by its name; empty for any other method."""
    match = _CONVERTING.fullmatch(method)
    name = match[1] if match is not None else method if method in _CASTS else ""
    return ALIASES.get(name) or _SHORT.get(name, name)


@fact
def decided(file: ParsedPython) -> Mapping[ast.expr, TorchPlace]:
    """The places of a file by the expressions that decide them."""
    return {
        node: place
        for place in torch_places(file)
        if place.is_module
        for node in (place.dtype, place.enabled)
        if node is not None
    }


def places_within(node: ast.expr | ast.stmt, file: ParsedPython) -> Iterator[TorchPlace]:
    """The places in a part of a file."""
    start, end = node.lineno, node.end_lineno or 0
    known = set()
    for place in torch_places(file):
        known.add(place.node)
        if start <= place.node.lineno <= end:
            if place.is_module:
                yield place
            elif place.kind == "weights" and place.subject:  # only its name says what it is
                yield TorchPlace("cast", place.node, file, subject=place.subject)
    for each in walk(node):
        match each:
            case ast.Call(func=ast.Attribute(attr="float"), args=[]) if _is_in_full(each, file):
                pass  # what is computed in float32 on purpose
            case ast.Call(func=ast.Attribute(value=cast, attr=method), args=[]) if cast_by(method):
                yield TorchPlace("cast", each, file, subject=dotted(cast) or "a tensor")
            case ast.Call(func=ast.Attribute(value=cast, attr="to" | "type")) if (
                each not in known and _is_to_float(each)
            ):  # `batch.to(torch.bfloat16)`
                subject = dotted(cast) or "a tensor"
                yield TorchPlace("cast", each, file, subject=subject, is_module=False)
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Call(func=ast.Attribute(attr="scale"), args=[_]) as scaled,
                    attr="backward",
                )
            ):  # `scaler.scale(loss).backward()`
                yield TorchPlace("scaler", scaled, file)
            case ast.Call():
                yield from written_out(each, file)


def _is_in_full(node: ast.AST, file: ParsedPython) -> bool:
    """True for what stands in `with autocast(enabled=False):`."""
    return any(map(partial(switches_off, file=file), syntax_tree(file).within_function(node)))


def switches_off(statement: ast.AST, file: ParsedPython) -> bool:
    """True for `with autocast(enabled=False):`."""
    items = statement.items if isinstance(statement, ast.With) else ()
    made = (autocast_call(item.context_expr, syntax_tree(file)) for item in items)
    return any(each is not None and each.is_off for each in made)


def _is_to_float(call: ast.Call) -> bool:
    """True for a cast to a type of torch that is written out: `.to(dtype=torch.float16)`."""
    given = [*call.args, *(each.value for each in call.keywords if each.arg == "dtype")]
    names = ((dotted(each) or "").split(".") for each in given)
    return any(len(name) == 2 and name[0] == "torch" and names_precision(name[1]) for name in names)


def option_before(
    node: ast.expr, items: Sequence[ast.expr], file: ParsedPython
) -> Iterator[TorchPlace]:
    """`["accelerate", "launch", "--mixed_precision", node]`: another program gets it."""
    index = items.index(node)
    match items[index - 1] if index else None:
        case ast.Constant(value=str(option)) if is_option_of_precision(option):
            at = _statement(node, file)
            if at is not None:
                yield TorchPlace("argument", at, file, node, subject=f"a command ({option})")


def _statement(node: ast.expr, file: ParsedPython) -> ast.Call | ast.Assign | ast.Return | None:
    for each in syntax_tree(file).around(node):
        if isinstance(each, ast.Call | ast.Assign | ast.Return):
            return each
    return None


@fact
def members(file: ParsedPython) -> Mapping[str, list[tuple[ast.expr, ast.expr]]]:
    """The reads of members by their names, each with what holds it."""
    found: dict[str, list[tuple[ast.expr, ast.expr]]] = {}
    for node in file.nodes:
        match node:
            case ast.Attribute(value=holder, attr=name, ctx=ast.Load()):
                pass
            case ast.Subscript(value=holder, slice=ast.Constant(value=str(name)), ctx=ast.Load()):
                pass
            case ast.Call(
                func=ast.Attribute(value=holder, attr="get" | "pop"),
                args=[ast.Constant(value=str(path)) as text, *_],
            ):  # `config.get("training.amp")`
                name = path.rpartition(".")[2]
                holder = text if name != path else holder
            case ast.Call(
                func=ast.Attribute(value=holder, attr="get_parsed_content"),
                args=[ast.Constant(value=str(path)), *_],
            ):  # MONAI: `parser.get_parsed_content("training#amp")`
                name = path.rpartition("#")[2]
            case ast.Call(args=[holder, ast.Constant(value=str(path)) as text, *_]) if (
                _GETTER.search(callee_name(node))
            ):  # `getattr(args, "amp")`, `get_value(config, "training.amp")`
                name = path.rpartition(".")[2]
                holder = text if name != path else holder
            case _:
                continue
        found.setdefault(name, []).append((node, holder))
    return found


@fact
def spread(file: ParsedPython) -> tuple[tuple[ast.Call, ast.expr], ...]:
    """The calls of a file that unpack something into their arguments, each with what that is."""
    return tuple(
        (node, each.value)
        for node in file.nodes
        if isinstance(node, ast.Call)
        for each in node.keywords
        if each.arg is None
    )


@fact
def definitions(file: ParsedPython) -> Mapping[str, list[FunctionDefinition]]:
    """The functions of a file by the names that they are called by."""
    found: dict[str, list[FunctionDefinition]] = {}
    syntax = syntax_tree(file)
    for node in file.nodes:
        if isinstance(node, FunctionDefinition):
            name, owner = node.name, syntax.parent(node)
            if name == "__init__" and isinstance(owner, ast.ClassDef):
                name = owner.name
            found.setdefault(name, []).append(node)
    return found


def functions_meant(
    call: ast.Call, file: ParsedPython, project: Recording
) -> list[tuple[ParsedPython, FunctionDefinition]]:
    """The functions that a call by a plain name means, if its file defines them, or imports them
    from one of the project; none if that is not seen. Other modules may have others of the name.
    """
    if not isinstance(call.func, ast.Name):
        return []
    syntax, name = syntax_tree(file), call.func.id
    around = syntax.function(call)
    while around is not None:
        is_given = any(each.arg == name for each in parameters(around.args))
        if is_given or syntax.stores(around, name):
            return []
        around = syntax.function(around)
    if own := _at_top(name, file):
        return own if name not in _imports(file) else []
    original, home = _imported(name, file, project)
    return _at_top(original, home) if home is not None else []


def _imported(name: str, file: ParsedPython, project: Recording) -> tuple[str, ParsedPython | None]:
    """The name in the module of the project that the one import of a name takes it from, and that
    module.
    """
    module, _, original = syntax_tree(file).names.get(name, "").rpartition(".")
    path = None
    if module and _imports(file)[name] == 1:  # of two, either may be the one
        path = project.locate(file.text.path, module)
    return original, project.module(path) if path is not None else None


def may_mean_another(node: ast.expr, file: ParsedPython, project: Recording) -> bool:
    """True for a plain name that its file, or the one that it is imported from, binds in several
    ways: `if fast: from other import build`, `build = build_fast`.
    """
    if not isinstance(node, ast.Name):
        return False
    if _is_bound_again(node.id, file):
        return True
    name, home = _imported(node.id, file, project)
    return home is not None and _is_bound_again(name, home)


def _is_bound_again(name: str, file: ParsedPython) -> bool:
    """True for a name of a module that is defined and bound otherwise, or bound twice."""
    syntax = syntax_tree(file)
    rows = [
        node.lineno
        for node in file.nodes
        if isinstance(node, FunctionDefinition | ast.ClassDef)
        and node.name == name
        and isinstance(syntax.body(node), ast.Module)
    ]
    others = len(syntax.stores(syntax.tree, name)) + _imports(file)[name]
    if others + bool(rows) > 1:
        return True
    stars = (
        node.lineno
        for node in file.nodes
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    )
    return bool(rows) and any(row > max(rows) for row in stars)


@fact
def _imports(file: ParsedPython) -> Counter[str]:
    """How often the names of a file are imported."""
    return Counter(
        each.asname or each.name
        for node in file.nodes
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    )


def class_meant(
    node: ast.expr, file: ParsedPython, project: Recording
) -> tuple[ParsedPython, ast.ClassDef] | None:
    """The class of the project that a plain name stands for, by the file itself or an import."""
    if not isinstance(node, ast.Name):
        return None
    if own := _class_at_top(node.id, file):
        return own if node.id not in _imports(file) else None
    name, home = _imported(node.id, file, project)
    return _class_at_top(name, home) if home is not None else None


def _class_at_top(name: str, file: ParsedPython) -> tuple[ParsedPython, ast.ClassDef] | None:
    found = [each for each in file.tree.body if isinstance(each, ast.ClassDef)]
    named = [each for each in found if each.name == name]
    return (file, named[0]) if len(named) == 1 else None


def _at_top(name: str, file: ParsedPython) -> list[tuple[ParsedPython, FunctionDefinition]]:
    """The functions of a file with a name, but for methods and those within others; of classes,
    their `__init__`.
    """
    syntax = syntax_tree(file)
    return [
        (file, each)
        for each in definitions(file).get(name, ())
        if syntax.function(each) is None
        if each.name != name or not isinstance(syntax.parent(each), ast.ClassDef)
    ]


@fact
def commands(file: ParsedPython) -> tuple[tuple[str, FunctionDefinition], ...]:
    """The functions whose parameters are options of a command line, or settings of a file: of
    click, typer, Fire, fastargs. Each has the name that it is called by.
    """
    names = offered(file)
    found = (
        (_called(node, file), node) for node in file.nodes if isinstance(node, FunctionDefinition)
    )
    return tuple(
        (name, node)
        for name, node in found
        if name in names
        or any(
            last_name(each.func if isinstance(each, ast.Call) else each)
            in ("command", "option", "callback", "autocommand", "param")
            for each in node.decorator_list
        )
    )


def _called(function: FunctionDefinition, file: ParsedPython) -> str:
    owner = syntax_tree(file).parent(function)
    if function.name == "__init__" and isinstance(owner, ast.ClassDef):
        return owner.name
    return function.name


def key_of_holder(holder: ast.expr) -> str:
    """The last name of what holds something: `training` of `cfg["training"]`, and of the path
    `training.amp`.
    """
    match holder:
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case ast.Constant(value=str(path)):
            return path.rpartition(".")[0].rpartition(".")[2]
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
            return name
    return last_name(holder)
