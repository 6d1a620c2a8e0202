"""Code that deals with more than one version of torch, and so names an old API on purpose."""

from __future__ import annotations

import ast
import re

from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.scopes import Step
from precision_lint.source.python.statements import Leaving, TryStar
from precision_lint.source.text.text import SourceText

_VERSION = regex(
    r"torch(?!\.version\.(?:cuda|hip)).*(?:version|signature) | (?:version|signature).*torch"
    r"| hasattr\(\s*torch | getattr\(\s*torch\.(?:\w+\.)?amp | torch\w*\d",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_LONGEST = 2_000
"""Characters of a condition or an assignment that are looked at."""
_MISSING = {"ImportError", "ModuleNotFoundError", "AttributeError"}
_ANY = {"TypeError", "Exception", "BaseException", ""}
_EXPECTS_WARNINGS = {"warns", "deprecated_call", "assertWarns", "assertWarnsRegex"}


def is_for_another_version(node: ast.AST, at: Step, text: SourceText) -> bool:
    """True for a node that runs under some versions of torch only, or whose warning is wanted.

    That is: under `if torch.__version__ …` or `hasattr(torch.amp, …)`, after such an `if` that
    leaves, in a `try` that catches what a missing API raises, or under `pytest.warns`.
    """
    below = node
    for step in at.upwards:
        match step.node:
            case ast.If(test=test) | ast.IfExp(test=test) if step.field != "test":
                if _asks_for_version(test, text):
                    return True
            case ast.Try(handlers=handlers) | TryStar(handlers=handlers):
                caught = {name for handler in handlers for name in _caught(handler)}
                if caught & (_MISSING | _ANY if step.field == "handlers" else _MISSING):
                    return True
            case ast.With(items=items) | ast.AsyncWith(items=items):
                if any(_expects_warnings(item.context_expr) for item in items):
                    return True
        siblings = getattr(step.node, step.field)
        if isinstance(below, ast.stmt) and isinstance(siblings, list):
            before = siblings[: siblings.index(below)]
            if any(_leaves(one) and _asks_for_version(one.test, text) for one in before):
                return True
        below = step.node
    return False


def _asks_for_version(test: ast.expr, text: SourceText) -> bool:
    """True if a condition asks for torch's version, or is a name that was assigned from one."""
    source = ast.unparse(test)
    names = {node.id for node in walk(test) if isinstance(node, ast.Name)}
    assigned = re.compile(rf"^[ \t]*(?:{'|'.join(map(re.escape, names))})[ \t]*=(.*)", re.MULTILINE)
    sources = [source, *(assigned.findall(text.text) if names else ())]
    return any(_VERSION.search(one[:_LONGEST]) for one in sources)


def _leaves(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and isinstance(statement.body[-1], Leaving)


def _caught(handler: ast.ExceptHandler) -> list[str]:
    """The last names of the exceptions that a handler catches; "" for all of them."""
    match handler.type:
        case None:
            return [""]
        case ast.Tuple(elts=types):
            return [ast.unparse(one).rpartition(".")[2] for one in types]
        case one:
            return [ast.unparse(one).rpartition(".")[2]]


def _expects_warnings(context: ast.expr) -> bool:
    match context:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in _EXPECTS_WARNINGS
    return False
