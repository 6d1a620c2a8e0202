"""The modules that a file imports by calls, as patterns of names: `import_module("app." + name)`.

`*` stands for what only run time knows; a name that goes through a list that is written out has
each of its texts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import product

from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name, named_parameters
from precision_lint.source.python.syntax_tree import syntax_tree

ANY = "*"
_MOST_TEXTS = 256
_MOST_HOPS = 6
_FIELD = regex(r"\{[^{}]*\}|%[sdr]")
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
_REPEATING = (ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@frozen(slots=False)
class ModuleName:
    """A dotted name with `*` for unknown parts; relative names keep their dots.

    `is_each` is true where a loop imports all that the name may mean, and none is chosen.
    """

    pattern: str
    is_each: bool


@fact
def imported_names(file: ParsedPython) -> tuple[ModuleName, ...]:
    """What the calls of `import_module` in a file get."""
    return tuple(dict.fromkeys(_imported(file)))


def _imported(file: ParsedPython) -> Iterator[ModuleName]:
    for call in syntax_tree(file).calls("import_module"):
        given = call.args[0] if call.args else None
        package = next((each.value for each in call.keywords if each.arg == "package"), None)
        package = call.args[1] if len(call.args) > 1 else package
        # Without a package, `__name__` is what stands before a dot.
        is_own = package is None or last_name(package) in ("__name__", "__package__")
        for text in _texts(given, file, _MOST_HOPS) if given is not None else ():
            if (
                package is not None and text.startswith(".") and not is_own
            ):  # below a package that is not known
                for base in _texts(package, file, _MOST_HOPS):
                    yield ModuleName(f"{base}{text}", _is_each(call, file))
            else:
                yield ModuleName(text, _is_each(call, file))


def _is_each(call: ast.Call, file: ParsedPython) -> bool:
    """True for a call in a loop, or in a comprehension: it is made for all that there is."""
    return any(isinstance(each, _REPEATING) for each in syntax_tree(file).within_function(call))


def _texts(node: ast.expr, file: ParsedPython, hops: int) -> list[str]:
    """What a text may be."""
    if not hops:
        return [ANY]
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            parts = [
                _texts(each.value if isinstance(each, ast.FormattedValue) else each, file, hops - 1)
                for each in values
            ]
            return _joined(parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined([_texts(left, file, hops - 1), _texts(right, file, hops - 1)])
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return [_FIELD.sub(ANY, text)]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return [_FIELD.sub(ANY, text)]
        case ast.Name(id="__name__" | "__package__"):
            return [""]  # what follows is relative to the file
        case ast.Name():
            found = dict.fromkeys(_assigned(node, file, hops))
            return [*found][:_MOST_TEXTS] or [ANY]
    return [ANY]


def _joined(parts: list[list[str]]) -> list[str]:
    count = 1
    for each in parts:
        count *= len(each)
    if count > _MOST_TEXTS:
        parts = [each if len(each) == 1 else [ANY] for each in parts]
    return ["".join(each) for each in product(*parts)]


def _assigned(name: ast.Name, file: ParsedPython, hops: int) -> Iterator[str]:
    """The texts that a variable may hold."""
    syntax = syntax_tree(file)
    function = syntax.function(name)
    if isinstance(function, FunctionDefinition) and any(
        each.arg == name.id for each in named_parameters(function.args)
    ):
        yield ANY
        return
    for store in _stores(name, file):
        match parent := syntax.parent(store):
            case ast.Assign(targets=[target], value=value) if target is store:
                yield from _texts(value, file, hops - 1)
            case ast.For() | ast.AsyncFor() | ast.comprehension() if parent.target is store:
                yield from _items(parent.iter, None, file, hops)
            case ast.Tuple(elts=targets) if isinstance(loop := syntax.parent(parent), _LOOPS):
                yield from _items(loop.iter, targets.index(store), file, hops)
            case _:
                yield ANY


def _items(source: ast.expr, at: int | None, file: ParsedPython, hops: int) -> Iterator[str]:
    """The texts among the items of what a loop goes through, or at an index of each item."""
    lists = [*_lists(source, file, hops - 1)]
    for row in (row for rows in lists for row in rows.elts):
        item = row if at is None else _item(row, at)
        yield item.value if isinstance(item, ast.Constant) and isinstance(item.value, str) else ANY
    if not lists:
        yield ANY


def _lists(
    source: ast.expr, file: ParsedPython, hops: int
) -> Iterator[ast.List | ast.Tuple | ast.Set]:
    """The lists that an expression may be, where they are written out."""
    match source:
        case ast.List() | ast.Tuple() | ast.Set():
            yield source
        case ast.Name() if hops:
            for store in _stores(source, file):
                match syntax_tree(file).parent(store):
                    case ast.Assign(targets=[target], value=value) if target is store:
                        yield from _lists(value, file, hops - 1)
                    case ast.Tuple(elts=targets) as parent:
                        loop = syntax_tree(file).parent(parent)
                        rows = _lists(loop.iter, file, hops - 1) if isinstance(loop, _LOOPS) else ()
                        for row in (row for each in rows for row in each.elts):
                            item = _item(row, targets.index(store))
                            yield from _lists(item, file, hops - 1) if item is not None else ()


def _item(row: ast.expr, at: int) -> ast.expr | None:
    match row:
        case ast.Tuple(elts=elements) | ast.List(elts=elements) if at < len(elements):
            return elements[at]
    return None


def _stores(name: ast.Name, file: ParsedPython) -> Sequence[ast.Name]:
    """Where a variable gets its value: in the function around it, or at the top of the file."""
    syntax = syntax_tree(file)
    function = syntax.function(name)
    own = syntax.stores(function, name.id) if function is not None else []
    return own or syntax.stores(syntax.tree, name.id)
