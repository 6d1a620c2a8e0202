"""The names of files that code writes and reads, as far as they are written out."""

from __future__ import annotations

import ast
import re

from precision_lint.facts.dtypes.syntax.definitions import Function, Module
from precision_lint.model.regex import regex
from precision_lint.source.python.statements import own_statements
from precision_lint.source.python.syntax import callee_name

HOLE = "*"
"""What only the run knows: `f"layer_{i}.pt"` is `layer_*.pt`."""

_DEEPEST = 4
"""Variables that are followed, one to the next."""
_GENERIC = regex(
    r"(?:pytorch_|adapter_)?(?:best|cache|checkpoint|ckpt|data|final|last|latest|model|optim(?:izer)?"
    r"|out(?:put)?s?|results?|state(?:_dict)?|t[e]?mp|test|train|val(?:idation)?|weights?)+"
)
_FORMATTED = regex(r"\{[^{}]*\}|%[-\d.]*[sdif]")


def file_name(node: ast.expr, module: Module, function: Function | None) -> str | None:
    """The name of a file, without its folder; None if nothing of it is written out."""
    written = _written(node, module, function, 0)
    name = (written or "").rpartition("/")[2]
    literal = max(name.split(HOLE), key=len, default="")
    return name if re.search(r"[A-Za-z]{2}", _stem(literal)) else None


def name_written(call: ast.Call, module: Module, function: Function | None) -> str | None:
    """The name of the file that `torch.save(value, path)` writes, if it is written out."""
    named = (each.value for each in call.keywords if each.arg in {"f", "filename"})
    match [*call.args, *named]:
        case [_, path, *_]:
            return file_name(path, module, function)
    return None


def is_generic(name: str) -> bool:
    """True for a name that many programs give to what has nothing in common: `model.pt`."""
    stem = re.sub(r"[^A-Za-z_]", "", _stem(name)).strip("_").lower()
    return _GENERIC.fullmatch(stem) is not None or len(stem) < 4


def longest_literal(name: str) -> str:
    """The longest part of a name that is written out."""
    return max(name.split(HOLE), key=len)


def _stem(name: str) -> str:
    return name.rpartition(".")[0] if "." in name else name


def _written(node: ast.expr, module: Module, function: Function | None, depth: int) -> str | None:
    """The path as it is written, with holes; None if nothing of it is."""

    def inner(each: ast.expr) -> str | None:
        return _written(each, module, function, depth)

    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            texts = (each.value if isinstance(each, ast.Constant) else HOLE for each in parts)
            return "".join(map(str, texts))
        case ast.BinOp(left=_, op=ast.Div(), right=right):
            return inner(right)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{inner(left) or HOLE}{inner(right) or HOLE}"
        case (
            ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod())
            | ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"))
        ):
            return _FORMATTED.sub(HOLE, text)
        case ast.Call(args=[*_, last]) if callee_name(node) in {"join", "joinpath", "Path", "str"}:
            return inner(last)
        case ast.Name(id=name) if depth < _DEEPEST:
            assigned = _assigned(name, module, function)
            if assigned is not None:
                return _written(assigned, module, function, depth + 1)
    return None


def _assigned(name: str, module: Module, function: Function | None) -> ast.expr | None:
    """What a variable is assigned, if that is done once."""
    if function is not None and not isinstance(function.node, ast.Lambda):
        found = [
            statement.value
            for statement in own_statements(function.node.body)
            if isinstance(statement, ast.Assign)
            and [each.id for each in statement.targets if isinstance(each, ast.Name)] == [name]
        ]
        if found or name in function.scope.own:
            return found[0] if len(found) == 1 else None
    match module.assignments.get(name):
        case (ast.expr() as value,):
            return value
    return None
