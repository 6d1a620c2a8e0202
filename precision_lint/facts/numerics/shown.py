"""Whether a program only shows what it makes of a value: it draws it, or prints numbers of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from precision_lint.facts.numerics.uses import holders, holders_of_names, names_of, reads_any
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import DEFINITIONS, FunctionDefinition, own_nodes
from precision_lint.source.python.syntax import callee_name, last_name, named_parameters
from precision_lint.source.python.syntax_tree import SyntaxTree

_PRINTING = frozenset({"print", "pprint", "set_postfix", "set_description", "display"})
_LOGGERS = frozenset({"logger", "logging", "log"})
_LEVELS = frozenset({"debug", "info", "warning"})
_DRAWN_ON = regex(r"plt|pyplot|sns|seaborn|ax(?:is|es)?\d*|fig(?:ure)?\d*")
"""What figures, axes, and libraries that draw are called."""

_DEBUGGING = regex(r"(?i)debug|verbose")

_KEEPING = frozenset({"append", "extend"})
_LIBRARIES = frozenset({"F", "math", "np", "numpy", "torch"})
"""Their functions compute something; others may store what they are given, or decide by it."""

_FUNCTIONS = frozenset(
    {"entropy", "enumerate", "float", "int", "kl_div", "len", "list", "range", "reversed", "round",
     "str", "tuple", "zip"}
)  # fmt: skip
_SUMMING = frozenset({"cumsum", "log", "logsumexp", "mean", "prod", "std", "sum", "var"})
"""What makes one result of many scores: an average, a perplexity."""


def is_only_shown(made: ast.expr, syntax: SyntaxTree) -> bool:
    """True if a body draws what it makes of a value, or prints single numbers, and no more.

    A figure has no digits, and nothing depends on a number that is printed next to a token. Sums
    and averages that are printed are results.
    """
    body = syntax.body(made)
    figures = {name for node in own_nodes(body) for name in _figures(node)}
    held = holders_of_names(holders(made, syntax), made, syntax) - figures
    if any("." in name for name in held) or not held.isdisjoint(_parameters(body)):
        return False
    kinds = {
        "drawn" if _is_debugging(node, syntax) and _prints(node) else _kind(node, made, held)
        for node in own_nodes(body)
        if isinstance(node, ast.stmt) and any(_reads(each, made, held) for each in _parts(node))
    }
    kinds.discard("kept")
    return kinds in ({"drawn"}, {"printed"}, {"drawn", "printed"}, {"drawn", "summed"})


def _kind(node: ast.stmt, made: ast.expr, held: set[str]) -> str:
    """What a statement does with the value: "drawn", "printed", "kept", "summed" or "used"."""
    match node:
        case ast.Expr(value=ast.Call() as call) | ast.Assign(value=ast.Call() as call) if _draws(
            call
        ):
            return "drawn"
        case ast.Expr(value=value) if _prints(node):
            return "used" if _sums(value) else "printed"
        case ast.If(test=ast.Compare(ops=[ast.Is() | ast.IsNot()])):
            return "kept"
        case ast.Assign(targets=targets, value=value) if all(_is_local(x, held) for x in targets):
            return _computed(value, made, held)
        case ast.For(iter=value):
            return _computed(value, made, held)
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(), attr=method), args=[value])
        ) if method in _KEEPING:
            return _computed(value, made, held)
    return "used"


def _computed(value: ast.expr, made: ast.expr, held: set[str]) -> str:
    """What an expression is whose result stays in names of the body, where it is followed."""
    if any(map(partial(_hands_out, made=made, held=held), walk(value))):
        return "used"
    return "summed" if _sums(value) else "kept"


def _hands_out(node: ast.AST, made: ast.expr, held: set[str]) -> bool:
    """True for a call that gives the value to code that is not seen, and for what waits for it."""
    match node:
        case _ if node is made:
            return False
        case ast.Yield() | ast.YieldFrom() | ast.Await() | ast.Lambda():
            return _reads(node, made, held)
        case ast.Call(func=ast.Name(id=name)):
            return name not in _FUNCTIONS and _reads(node, made, held)
        case ast.Call(func=ast.Attribute(value=owner)) if _root(owner) not in _LIBRARIES:
            is_own = _reads(owner, made, held)
            return not is_own and _reads(node, made, held)
    return False


def _prints(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=level))) if (
            _root(owner) in _LOGGERS
        ):
            return level in _LEVELS
        case ast.Expr(value=ast.Call() as call):
            return callee_name(call) in _PRINTING and prints_to_console(call)
    return False


def prints_to_console(call: ast.Call) -> bool:
    """False for `print(score, file=results)`."""
    files = (keyword.value for keyword in call.keywords if keyword.arg == "file")
    return all(last_name(each) in {"stderr", "stdout"} for each in files)


def _is_debugging(node: ast.stmt, syntax: SyntaxTree) -> bool:
    """True for a place that only a switch for debugging leads to."""
    return any(
        isinstance(each, ast.If) and _DEBUGGING.search(ast.unparse(each.test)) is not None
        for each in syntax.within_function(node)
    )


def _draws(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and bool(_DRAWN_ON.fullmatch(_root(call)))


def _figures(node: ast.AST) -> Iterator[str]:
    """The names of what a statement draws, of which no numbers are read."""
    match node:
        case ast.Assign(targets=targets, value=ast.Call() as call) if _draws(call):
            for target in targets:
                yield from names_of(target)


def _sums(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Call) and callee_name(each) in _SUMMING for each in walk(node))


def _reads(node: ast.AST, made: ast.expr, held: set[str]) -> bool:
    return any(each is made for each in walk(node)) or reads_any(node, held)


def _parts(node: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement without its blocks; of a function or class, all of it."""
    if isinstance(node, DEFINITIONS):
        yield node
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.expr | ast.withitem | ast.keyword):
            yield each


def _is_local(target: ast.expr, held: set[str]) -> bool:
    """True for names of the body, and for entries of what they hold."""
    match target:
        case ast.Subscript(value=ast.Name(id=name)):
            return name in held
        case ast.Name() | ast.Tuple() | ast.List():
            return all("." not in name for name in names_of(target))
    return False


def _root(node: ast.expr) -> str:
    """The name that an expression starts from: `axes` of `axes[0].plot(x)`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _parameters(body: ast.AST) -> set[str]:
    if not isinstance(body, FunctionDefinition):
        return set()
    return {each.arg for each in named_parameters(body.args)}
