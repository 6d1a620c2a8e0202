"""Attributes about precision that a program reads of its parsed arguments, and no option makes.

Only where all that makes attributes is in sight: one parser of argparse with each of its options,
the names of the namespace in this file, and all that the program does with it. Whatever may set the
attribute later, anywhere in the program, counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.named import named
from precision_lint.facts.runs.code.namespaces import is_in_sight, stays_at_home
from precision_lint.facts.runs.code.written_down import RECORDING
from precision_lint.facts.runs.interpreter.program import Program, keyword_of
from precision_lint.facts.settings.fixed_switches import gives_values
from precision_lint.facts.settings.option_calls import destination, flag_of, names_of
from precision_lint.facts.settings.vocabulary import is_about_precision, may_choose_precision
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import arguments_of, binding, position_of, share_a_loop
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import AnyFunction, FunctionDefinition
from precision_lint.source.python.syntax import (
    last_name,
    parameters,
    positional_parameters,
    qualified,
)
from precision_lint.source.python.syntax_tree import Scope, SyntaxTree, syntax_tree

_ACTIONS = frozenset({
    "", "store", "store_true", "store_false", "store_const", "append", "append_const", "count",
    "extend", "version", "help", "BooleanOptionalAction",
})  # fmt: skip
"""Actions that give a value to the attribute of their option, and to no other one."""
_GROUPS = ("add_argument_group", "add_mutually_exclusive_group")
_ASKING = frozenset({
    "parse_args", "error", "exit", "print_help", "format_help", "print_usage", "format_usage",
    "get_default",
})  # fmt: skip
"""Methods of a parser that make no option."""
_RETURNING = (ast.Return, ast.Yield, ast.YieldFrom)
_SETTERS = ("setattr", "hasattr", "getattr", "delattr", "__setattr__")
_MOST_STEPS = 8
"""How often a namespace or a parser may be handed on."""
_LIKE = 3
"""Options that a message names."""


@frozen
class Made:
    """The options of a parser: the attributes, how a command line calls those about precision, and
    the call that makes it.
    """

    attributes: frozenset[str]
    options: tuple[str, ...]
    parser: ast.Call
    file: ParsedPython


@frozen
class UnmadeOption:
    """A read of an attribute that no option makes."""

    node: ast.Attribute
    made: Made

    @property
    def like(self) -> Sequence[str]:
        return self.made.options[:_LIKE]


def unmade_options(file: ParsedPython, project: Recording) -> Iterator[UnmadeOption]:
    """The attributes about precision that nothing in sight makes."""
    program = Program(file.text.path, project)
    syntax = syntax_tree(file)
    for node in file.nodes_of(ast.Attribute):
        match node:
            case ast.Attribute(value=ast.Name() as holder, attr=name, ctx=ast.Load()) if (
                may_choose_precision(name)
            ):
                pass
            case _:
                continue
        made = namespace_of(holder, file, project)
        if made is None or name in made.attributes or syntax.may_fail_on_purpose(node):
            continue
        is_seen = _is_new(holder, file, project) or stays_at_home(program) or is_in_sight(program)
        if is_seen and not _may_be_set(name, program):
            yield UnmadeOption(node, made)


def namespace_of(holder: ast.expr, file: ParsedPython, project: Recording) -> Made | None:
    """The options whose values a name or an expression holds; None if it may be something else."""
    return _of_namespace(holder, file, project, _MOST_STEPS)


def _of_namespace(
    holder: ast.expr, file: ParsedPython, project: Recording, steps: int
) -> Made | None:
    syntax = syntax_tree(file)
    if steps == 0:
        return None
    match holder:
        case ast.Name():
            bound = binding(holder, syntax)
            if isinstance(bound, ast.arg):
                return _of_parameter(bound, file, project, steps - 1)
            values = bound or []
            return _of_namespace(values[0], file, project, steps - 1) if len(values) == 1 else None
        case ast.Call(func=ast.Attribute(value=ast.Name() as parser, attr="parse_args")):
            is_new = len(holder.args) < 2 and keyword_of(holder, "namespace") is None
            return _of_parser(parser, file, project) if is_new else None
        case ast.Call(func=ast.Name() as function):
            found = named(function, file, project)
            returned = _returned(found.node, found.file) if found is not None else None
            if found is None or returned is None:
                return None
            return _of_namespace(returned, found.file, project, steps - 1)
    return None


def _of_parameter(
    parameter: ast.arg, file: ParsedPython, project: Recording, steps: int
) -> Made | None:
    """The options of the one namespace that all calls of a function give, which only this file
    calls.
    """
    syntax = syntax_tree(file)
    function = next(
        (e for e in syntax.around(parameter) if isinstance(e, FunctionDefinition)), None
    )
    if function is None or function.decorator_list or project.users(file.text.path):
        return None
    calls = [*arguments_of(parameter, syntax)]
    mentions = syntax.reads(syntax.tree, function.name)
    if not calls or len(mentions) != len(calls):
        return None
    found = [
        _of_namespace(given, file, project, steps) if given is not None else None
        for _, given in calls
    ]
    return found[0] if all(each == found[0] for each in found) else None


def _returned(node: ast.AST, file: ParsedPython) -> ast.expr | None:
    """What a plain function returns; None if it has several ways to return something."""
    if not isinstance(node, FunctionDefinition) or node.decorator_list:
        return None
    syntax = syntax_tree(file)
    inner = [each for each in walk(node) if isinstance(each, _RETURNING)]
    match [each for each in inner if syntax.function(each) is node]:
        case [ast.Return(value=ast.expr() as value)]:
            return value
    return None


# Whether anybody else may have got the namespace


def _is_new(holder: ast.Name, file: ParsedPython, project: Recording) -> bool:
    """True if nothing but attributes of a namespace was used before a name is read: nobody else had
    it who could give it more.
    """
    syntax = syntax_tree(file)
    scope: Scope = syntax.function(holder) or syntax.tree
    values = binding(holder, syntax)
    if not isinstance(values, list) or len(syntax.stores(scope, holder.id)) != 1:
        return False
    for read in syntax.reads(scope, holder.id):
        inner = syntax.function(read)
        if inner is not None and inner is not scope:
            is_before = not _is_local(holder.id, inner, syntax)
        else:
            is_before = position_of(read) < position_of(holder) or share_a_loop(
                read, holder, syntax
            )
        if is_before and not _is_plain(read, syntax):
            return False
    match values[0]:
        case ast.Call(func=ast.Name() as function):
            found = named(function, file, project)
            returned = _returned(found.node, found.file) if found is not None else None
            if found is not None and isinstance(returned, ast.Name):
                return _is_new(returned, found.file, project)
    return True


def _is_plain(read: ast.AST, syntax: SyntaxTree) -> bool:
    """True for an attribute of a namespace, and for a namespace that is written down."""
    parent = syntax.parent(read)
    match parent, syntax.parent(parent) if parent is not None else None:
        case ast.Attribute(), ast.Call(func=called):
            return called is not parent
        case ast.Attribute(attr=name), _:
            return name != "__dict__"
        case ast.FormattedValue(), _:
            return True
        case ast.Call(args=args) as call, _:
            return read in args and last_name(call.func) in RECORDING
    return False


# The options of a parser


def _of_parser(parser: ast.Name, file: ParsedPython, project: Recording) -> Made | None:
    """All options of the parser that a name holds; None if some may be out of sight."""
    syntax = syntax_tree(file)
    scope: Scope = syntax.function(parser) or syntax.tree
    match binding(parser, syntax):
        case [ast.Call() as made] if len(syntax.stores(scope, parser.id)) == 1:
            pass
        case _:
            return None
    is_own = qualified(made.func, syntax.names) == "argparse.ArgumentParser"
    if not is_own or keyword_of(made, "parents") or any(each.arg is None for each in made.keywords):
        return None
    calls = _calls_on(parser.id, scope, file, project, _MOST_STEPS)
    if calls is None:
        return None
    attributes: set[str] = set()
    options: list[str] = []
    for call in calls:
        names = _attributes(call)
        if names is None:
            return None
        attributes |= names
        flag = flag_of(call) if last_name(call.func) == "add_argument" else ""
        options += [flag] if any(map(is_about_precision, names)) and flag else []
    return Made(frozenset(attributes), tuple(options), made, file)


def _calls_on(
    name: str, scope: Scope, file: ParsedPython, project: Recording, steps: int
) -> list[ast.Call] | None:
    """The calls of `add_argument` and `set_defaults` of a parser, or of a group of one, that a name
    of a scope holds; None if anything else is done with it.
    """
    syntax = syntax_tree(file)
    found: list[ast.Call] = []
    for read in syntax.reads(scope, name):
        if not isinstance(read, ast.Name) or steps == 0:
            return None
        inner = syntax.function(read)
        if inner is not None and inner is not scope:
            if _is_local(name, inner, syntax):
                continue
            return None  # a function in it may be called at any time
        parent = syntax.parent(read)
        call = syntax.parent(parent) if parent is not None else None
        match parent, call:
            case ast.Attribute(attr=method), ast.Call(func=func) if func is parent:
                more = _of_method(method, call, scope, file, project, steps)
            case ast.Call(args=args), _ if read in args:
                more = _of_helper(parent, args.index(read), file, project, steps)
            case _:
                return None
        if more is None:
            return None
        found += more
    return found


def _is_local(name: str, function: AnyFunction, syntax: SyntaxTree) -> bool:
    """True for a variable of a function that has the name as well."""
    own = any(each.arg == name for each in parameters(function.args))
    return own or bool(syntax.stores(function, name))


def _of_method(
    method: str, call: ast.Call, scope: Scope, file: ParsedPython, project: Recording, steps: int
) -> list[ast.Call] | None:
    syntax = syntax_tree(file)
    if method in ("add_argument", "set_defaults"):
        # What a parser returns of an option may be changed.
        return [call] if isinstance(syntax.parent(call), ast.Expr) else None
    if method in _ASKING:
        return []
    if method not in _GROUPS:
        return None
    parent = syntax.parent(call)
    match parent, syntax.parent(parent) if parent is not None else None:
        case ast.Assign(targets=[ast.Name(id=group)]), _:
            if len(syntax.stores(scope, group)) > 1:
                return _of_groups(group, scope, file, project, steps)
            return _calls_on(group, scope, file, project, steps - 1)
        case ast.Attribute(attr="add_argument"), ast.Call() as chained:
            return [chained]
        case ast.Expr(), _:
            return []
    return None


def _of_groups(
    name: str, scope: Scope, file: ParsedPython, project: Recording, steps: int
) -> list[ast.Call] | None:
    """The same for a name that several groups have, one after the other."""
    syntax = syntax_tree(file)
    for store in syntax.stores(scope, name):
        match syntax.parent(store):
            case ast.Assign(targets=[_], value=ast.Call(func=ast.Attribute(attr=method))) if (
                method in _GROUPS
            ):
                continue
        return None
    return _calls_on(name, scope, file, project, steps - 1)


def _of_helper(
    call: ast.Call, at: int, file: ParsedPython, project: Recording, steps: int
) -> list[ast.Call] | None:
    """The calls in a function that adds options to a parser which it is given."""
    if not isinstance(call.func, ast.Name) or any(isinstance(e, ast.Starred) for e in call.args):
        return None
    found = named(call.func, file, project)
    node = found.node if found is not None else None
    if found is None or not isinstance(node, FunctionDefinition) or node.decorator_list:
        return None
    taken = positional_parameters(node.args)
    if at >= len(taken) or syntax_tree(found.file).stores(node, taken[at].arg):
        return None
    return _calls_on(taken[at].arg, node, found.file, project, steps - 1)


def _attributes(call: ast.Call) -> frozenset[str] | None:
    """The attributes that an option makes, or a default; None if they are not written."""
    if any(each.arg is None for each in call.keywords):
        return None
    if last_name(call.func) == "set_defaults":
        return frozenset(str(each.arg) for each in call.keywords)
    action = keyword_of(call, "action")
    kind = action.value if isinstance(action, ast.Constant) else last_name(action)
    dest = keyword_of(call, "dest")
    is_plain = dest is None or isinstance(dest, ast.Constant)
    if not is_plain or not names_of(call) or (action is not None and kind not in _ACTIONS - {""}):
        return None
    return frozenset({destination(call)})


# What may set an attribute later


def _may_be_set(name: str, program: Program) -> bool:
    """True if any file of a program, or one that imports its first file, may set an attribute."""
    project = program.project
    users = (project.module(path) for path in project.users(program.path))
    files = [*program.mentioning(name), *(one for one in users if one and name in one.text.text)]
    return any(_sets(file, name) for file in files)


def _sets(file: ParsedPython, name: str) -> bool:
    for node in file.nodes:
        match node:
            case ast.Attribute(value=owner, attr=attribute, ctx=ast.Store() | ast.Del()) if (
                attribute == name and last_name(owner) not in ("self", "cls")
            ):
                return True
            case ast.Subscript(slice=ast.Constant(value=key), ctx=ast.Store()) if key == name:
                return True
            case ast.keyword(arg=key) if key == name:
                if gives_values(syntax_tree(file).parent(node)):
                    return True
            case ast.Call(args=args) if last_name(node.func) in _SETTERS:
                if any(isinstance(each, ast.Constant) and each.value == name for each in args):
                    return True
    return False
