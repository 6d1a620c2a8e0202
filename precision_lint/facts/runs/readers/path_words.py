"""By which word of its command line a program gets the path of a file that it loads.

`yaml.safe_load(open(args.config))` is followed back to `--config`, through variables, the streams
that are opened, and the functions of the program that get the path.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.facts.project.own_folders import PATH_METHODS, PATHS
from precision_lint.facts.runs.code.ways import definitions
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.settings.given import normal
from precision_lint.facts.settings.option_calls import destination, flag_of
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import (
    callee_name,
    last_name,
    named_parameters,
    positional_parameters,
    qualified,
)
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_HOPS = 8
_SAME = PATHS | PATH_METHODS | {
    "open", "PosixPath", "expandvars", "safe_load", "read", "read_text", "load", "loads",
}  # fmt: skip
"""Calls that give the path, or the stream of a file, that they get."""
_OF_COMMANDS = frozenset({"option", "argument"})


def word_for(node: ast.expr, file: ParsedPython, program: Program) -> str:
    """What of the command line says a path, as a person calls it: an option, an argument by its
    name, a word by its number. Empty if none is seen to.
    """
    return _word(node, file, program, _MOST_HOPS)


def _word(node: ast.expr, file: ParsedPython, program: Program, hops: int) -> str:
    if not hops:
        return ""
    match node:
        case ast.Call(func=ast.Attribute(value=owner), args=[]) if callee_name(node) in _SAME:
            return _word(owner, file, program, hops - 1)
        case ast.Call(func=ast.Attribute(value=owner, attr="open")):
            return _word(owner, file, program, hops - 1)
        case ast.Call(args=[path, *_]) if callee_name(node) in _SAME:
            return _word(path, file, program, hops - 1)
        case ast.BoolOp(values=values):
            return _first(values, file, program, hops)
        case ast.IfExp(body=body, orelse=orelse):
            return _first((body, orelse), file, program, hops)
        case ast.Subscript(value=words, slice=ast.Constant(value=int(index))) if (
            qualified(words, syntax_tree(file).names) == "sys.argv"
        ):
            return "" if index < 1 else "first word" if index == 1 else f"word {index}"
        case ast.Attribute(value=ast.Name(id="self" | "cls")):
            return ""
        case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return _option(name, program)
        case ast.Name():
            return _of_name(node, file, program, hops)
    return ""


def _first(nodes: Sequence[ast.expr], file: ParsedPython, program: Program, hops: int) -> str:
    return next(filter(None, (_word(each, file, program, hops - 1) for each in nodes)), "")


def _option(name: str, program: Program) -> str:
    """An option of the program's parser by the name of its attribute."""
    calls = (call for _, call in program.calls("add_argument"))
    found = {_named(flag_of(call)) for call in calls if flag_of(call) and destination(call) == name}
    return found.pop() if len(found) == 1 else ""


def _named(option: str) -> str:
    return f"`{option}`" if option.startswith("-") else f"argument `{option}`"


def _of_name(node: ast.Name, file: ParsedPython, program: Program, hops: int) -> str:
    """A variable that is assigned, a stream that is opened, or a parameter."""
    syntax, name = syntax_tree(file), node.id
    scope = syntax.body(node)
    own = [*syntax.stores(scope, name)] if not isinstance(scope, ast.ClassDef) else []
    function = scope if isinstance(scope, FunctionDefinition) else None
    given = function is not None and any(
        each.arg == name for each in named_parameters(function.args)
    )
    if not own and not given and not isinstance(scope, ast.Module):
        own = [*syntax.stores(syntax.tree, name)]
    around = [item for each in syntax.around(node) for item in getattr(each, "items", ())]
    for store in own:
        match syntax.parent(store):
            case ast.withitem(context_expr=opened) as item if item in around or len(own) == 1:
                return _word(opened, file, program, hops - 1)
    for store in own:
        match syntax.parent(store):
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                if found := _word(value, file, program, hops - 1):
                    return found
    if function is None or not given:
        return ""
    return _of_command(name, function) or _of_callers(name, function, program, hops)


def _of_command(name: str, function: FunctionDefinition) -> str:
    """`@click.option("--config")` of a function that click calls."""
    for each in function.decorator_list:
        match each:
            case ast.Call(func=func, args=[*args]) if last_name(func) in _OF_COMMANDS:
                said = [one.value for one in args if isinstance(one, ast.Constant)]
                names = [one for one in said if isinstance(one, str)]
                long = next((one for one in names if one.startswith("--")), "")
                if any(normal(one.lstrip("-")) == name for one in names):
                    return _named(long or names[0])
    return ""


def _of_callers(name: str, function: FunctionDefinition, program: Program, hops: int) -> str:
    """What the program's calls of a function give: the same word in all of them that give one."""
    found = set()
    for value, home in _given(name, function, program):
        if word := _word(value, home, program, hops - 1):
            found.add(word)
    return found.pop() if len(found) == 1 else ""


def _given(
    name: str, function: FunctionDefinition, program: Program
) -> Iterator[tuple[ast.expr, ParsedPython]]:
    names = [each.arg for each in positional_parameters(function.args)]
    if names[:1] in (["self"], ["cls"]):
        names = names[1:]
    for home in program.mentioning(function.name):
        if function in definitions(home).get(function.name, ()) or function.name in (
            syntax_tree(home).names
        ):
            for call in syntax_tree(home).calls(function.name):
                by_name = (each.value for each in call.keywords if each.arg == name)
                index = names.index(name) if name in names else len(call.args)
                for value in (*by_name, *call.args[index : index + 1]):
                    yield value, home
