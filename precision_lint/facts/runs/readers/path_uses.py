"""Whether a program does anything with the path that an option gives but load the file once.

Only then is what it does with that load all that it does with the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.project.own_folders import PATH_METHODS, PATHS
from precision_lint.facts.runs.code.table_uses import is_of_library
from precision_lint.facts.runs.code.ways import functions_meant, members
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.written.loads import Load
from precision_lint.facts.settings.given import normal
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name, positional_parameters
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_HOPS = 4
_HIDDEN = regex(r"\bvars\(|__dict__|\basdict\(|\bsys\.argv\b|\bparse_known_args\(")
"""How a program may get the option by another name."""
_SHOWING = frozenset({
    "print", "info", "debug", "warning", "error", "exists", "isfile", "is_file", "basename",
    "dirname", "splitext", "isinstance", "len", "bool",
})  # fmt: skip
"""Functions that read nothing of a file by its path."""
_PARTS = frozenset({"name", "stem", "suffix", "parent", "endswith", "startswith", "exists"})


def is_loaded_once(word: str, load: Load, program: Program) -> bool:
    """True if one load is all that a program does with the file that a word names."""
    name = normal(word.strip("`").removeprefix("argument `").lstrip("-"))
    if not name.isidentifier():
        return False
    texts = map(program.project.config_files.text, program.paths)
    if any(_HIDDEN.search(text) for text in texts if "parse_args(" in text):
        return False
    rows = [
        (read, holder, file)
        for file in program.mentioning(name)
        for read, holder in members(file).get(name, ())
    ]
    if not rows or any(_is_given_away(holder, file, program) for _, holder, file in rows):
        return False
    return all(_is_known(read, file, load, program, _MOST_HOPS) for read, _, file in rows)


def _is_given_away(holder: ast.expr, file: ParsedPython, program: Program) -> bool:
    """True if a library gets all options: `deepspeed.initialize(args=args)`."""
    return isinstance(holder, ast.Name) and any(
        is_of_library(call, file, program.project)
        for call in syntax_tree(file).every_call
        for each in (*call.args, *(one.value for one in call.keywords))
        if isinstance(each, ast.Name) and each.id == holder.id and callee_name(call) not in _SHOWING
    )


def _is_known(node: ast.expr, file: ParsedPython, load: Load, program: Program, hops: int) -> bool:
    """True where a path is only shown, compared, or given to the load."""
    syntax = syntax_tree(file)
    match syntax.parent(node):
        case (
            ast.FormattedValue() | ast.UnaryOp(op=ast.Not()) | ast.Compare() | ast.If()
            | ast.Assert()
        ):  # fmt: skip
            return True
        case ast.BoolOp() as either:
            return _is_known(either, file, load, program, hops)
        case ast.Attribute(attr=name):
            return name in _PARTS
        case ast.Call() as call if node in call.args:
            name = callee_name(call)
            if call is load.call or name in _SHOWING:
                return True
            if name == "open":
                return syntax.function(call) is syntax_tree(load.file).function(load.call)
            if name in PATHS | PATH_METHODS:
                return _is_known(call, file, load, program, hops)
            return hops > 0 and _is_known_in(call, call.args.index(node), file, load, program, hops)
    return False


def _is_known_in(
    call: ast.Call, index: int, file: ParsedPython, load: Load, program: Program, hops: int
) -> bool:
    """The same in the functions of the project that a call gives the path to."""
    found = functions_meant(call, file, program.project)
    return bool(found) and all(
        _is_known(read, home, load, program, hops - 1)
        for home, function in found
        for read in _reads(function, index, load, home)
    )


def _reads(
    function: FunctionDefinition, index: int, load: Load, file: ParsedPython
) -> Iterator[ast.Name]:
    """Where a function reads a parameter, before what is loaded takes its name."""
    syntax = syntax_tree(file)
    for parameter in positional_parameters(function.args)[index : index + 1]:
        replaced = [
            store.lineno
            for store in syntax.stores(function, parameter.arg)
            if syntax.parent(store) is syntax.parent(load.call)
        ]
        for each in syntax.reads(function, parameter.arg):
            match each:
                case ast.Name(ctx=ast.Load()) if each.lineno <= min(replaced, default=each.lineno):
                    yield each
