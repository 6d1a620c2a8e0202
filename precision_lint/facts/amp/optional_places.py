"""Places of a file that name something which only some runs use, and the runs that come to none.

`LoraConfig() if args.use_peft else None` makes no adapters where the switch is off, and
`deepspeed=args.config` starts no backend where no configuration is given.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from precision_lint.facts.amp.parsed_arguments import parsed_arguments
from precision_lint.facts.amp.plain_runs import PlainRun
from precision_lint.facts.amp.unset_options import is_unset
from precision_lint.facts.context import PythonFile
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.statements import FUNCTIONS
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import syntax_tree

Place = ast.expr | ast.keyword

_SAYING = frozenset({
    "add_argument", "print", "info", "warning", "debug", "error", "field", "hasattr", "getattr",
})  # fmt: skip
"""Calls that declare a switch, ask for it, or say something of it."""
_MOST_HOPS = 4


def is_left_out(node: Place, run: PlainRun, file: PythonFile) -> bool:
    """True if a run certainly does not come to a place, or has nothing there."""
    match node:
        case ast.keyword(value=value) if _is_nothing(value, run, file, _MOST_HOPS):
            return True
        case ast.Name(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
            given = syntax_tree(file).parent(node)
            if isinstance(given, ast.Assign) and _is_nothing(given.value, run, file, _MOST_HOPS):
                return True
        case ast.Name() | ast.Attribute() if run.truth(node) is False or is_unset(node, run, file):
            return True
        case ast.Constant():  # `"lora" in name` tells nothing, `args.tuner == "lora"` may
            test = syntax_tree(file).parent(node)
            if isinstance(test, ast.Compare) and run.truth(test) is False:
                return True
    return not run.reaches(node)


def _is_nothing(value: ast.expr, run: PlainRun, file: PythonFile, hops: int) -> bool:
    """True for an argument that is None or False in a run."""
    if isinstance(value, ast.Constant):
        return not value.value
    if hops == 0:
        return False
    if isinstance(value, ast.IfExp):
        holds = run.truth(value.test)
        chosen = value.body if holds else value.orelse
        return holds is not None and _is_nothing(chosen, run, file, hops - 1)
    if isinstance(value, ast.Name):
        held = binding(value, syntax_tree(file))
        if isinstance(held, list) and held:
            return all(
                _is_nothing(one, run, file, hops - 1) or not run.reaches(one) for one in held
            )
    return run.truth(value) is False or is_unset(value, run, file)


def places_naming(is_named: Callable[[str], bool], file: PythonFile) -> Iterator[Place]:
    """The names of something in code that may use it, or hand it on."""
    syntax = syntax_tree(file)
    for node in file.nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                if not is_named(name) or _only_says(node, file):
                    continue
                held = binding(node, syntax) if isinstance(node, ast.Name) else None
                if isinstance(node, ast.Name) and isinstance(held, list) and held:
                    continue  # what it holds is looked at where it is made
                yield node
            case ast.keyword(arg=str(name)) if is_named(name):
                if not _only_says(node, file):
                    yield node


def _is_option(node: ast.expr, file: PythonFile) -> bool:
    """True for an option of a parser: what it is set to is looked at where it is read."""
    return isinstance(node, ast.Attribute) and parsed_arguments(node.value, file, None) is not None


def _is_sentence(text: str) -> bool:
    """True for the name of an option, and for more than a word; `"lora"` may choose adapters."""
    return text.startswith("-") or " " in text


def _only_says(node: ast.AST, file: PythonFile) -> bool:
    """True for an import, the field of a class, a condition, an annotation, what is printed."""
    if isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return isinstance(node, ast.Name) or _is_option(node, file)
    is_value = isinstance(node, ast.Constant) and not _is_sentence(str(node.value))
    below: ast.AST = node
    for around in syntax_tree(file).around(node):
        match around:
            case ast.If(test=test) | ast.IfExp(test=test):
                if test is below:
                    return not is_value
            case ast.Assert():
                return not is_value
            case ast.Assign(targets=[ast.Attribute() as target]) if _is_option(target, file):
                return isinstance(node, ast.Attribute) and ast.dump(node.value) == ast.dump(
                    target.value
                )
            case ast.Call() if callee_name(around) in _SAYING and below is not around.func:
                return not is_value
            case ast.AnnAssign(annotation=annotation) if annotation is below:
                return True
            case ast.arg() | ast.Raise() | ast.Expr(value=ast.Constant()):
                return True
            case ast.FunctionDef(returns=returns) if returns is below:
                return True
            case ast.ClassDef():
                return not is_value and isinstance(below, ast.Assign | ast.AnnAssign | ast.Expr)
        if isinstance(around, (*FUNCTIONS, ast.Module)):
            return False
        below = around
    return False
