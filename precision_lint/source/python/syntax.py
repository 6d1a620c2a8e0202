"""What expressions and parameters say by their syntax alone: dotted names, places, defaults."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from precision_lint.model.finding import Span
from precision_lint.source.text.text import SourceText


def dotted(node: ast.expr) -> str | None:
    """`self.batch['ids']` for a chain of names and constant keys; None for anything else."""
    match node:
        case ast.Subscript(value=owner, slice=ast.Constant(value=key)):
            path = dotted(owner)
            return None if path is None else f"{path}[{key!r}]"
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=attr):
            path = dotted(owner)
            return None if path is None else f"{path}.{attr}"
    return None


def last_name(node: ast.expr | None) -> str:
    """The last component of a dotted name; "" for anything else."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def callee_name(node: ast.Call) -> str:
    """The last component of what is called."""
    return last_name(node.func)


def compared_with_texts(test: ast.expr) -> tuple[ast.expr, list[str], bool] | None:
    """What is compared in `x == "a"` or `x not in ("a", "b")`, the texts, and False if negated."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]):
            items = [right]
        case ast.Compare(
            left=left,
            ops=[ast.In() | ast.NotIn() as op],
            comparators=[ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items)],
        ):
            pass
        case _:
            return None
    texts = [
        one.value for one in items if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    return (left, texts, isinstance(op, ast.Eq | ast.In)) if len(texts) == len(items) else None


def innermost_name(node: ast.expr) -> str:
    """The last name of what is called or indexed: `dataclass` of `@dataclasses.dataclass(…)`."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return last_name(node)


def resolved(path: str, names: Mapping[str, str]) -> str:
    """A dotted name with what its first component was imported as."""
    root, dot, rest = path.partition(".")
    return f"{names.get(root, root)}{dot}{rest}"


def qualified(node: ast.expr, names: Mapping[str, str]) -> str:
    """What a dotted name stands for: `amp.autocast` to `torch.cuda.amp.autocast`; "" for others."""
    return resolved(dotted(node) or "", names)


def positional_parameters(arguments: ast.arguments) -> list[ast.arg]:
    """The parameters that can be given by position, in order."""
    return [*arguments.posonlyargs, *arguments.args]


def named_parameters(arguments: ast.arguments) -> list[ast.arg]:
    """The parameters that take one value each: all but `*args` and `**kwargs`."""
    return [*positional_parameters(arguments), *arguments.kwonlyargs]


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """All the parameters, those with stars last."""
    starred = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*named_parameters(arguments), *starred]


def with_defaults(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """The parameters that take one value each, with their defaults."""
    missing = len(positional_parameters(arguments)) - len(arguments.defaults)
    defaults = [*[None] * missing, *arguments.defaults, *arguments.kw_defaults]
    return [*zip(named_parameters(arguments), defaults, strict=True)]


def span_of(
    text: SourceText, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias
) -> Span:
    """The span of an `ast` node."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Span(
        text.offset_of_utf8(node.lineno, node.col_offset),
        text.offset_of_utf8(node.end_lineno, node.end_col_offset),
    )


def is_main(node: ast.If) -> bool:
    """True for `if __name__ == "__main__":`."""
    match node.test:
        case (
            ast.Compare(left=ast.Name(id="__name__"))
            | ast.Compare(comparators=[ast.Name(id="__name__")])
        ):
            return True
    return False
