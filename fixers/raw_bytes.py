"""Whether a program reads the bytes of an array: then another dtype is another meaning.

`x.numpy().tobytes()`, a hash of an array, `array.view(np.int16)`: a fix that widens the array turns
an error into bytes of twice the length, without a word. The array is followed within its file:
through variables, attributes, what functions return, and what they are given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.model.finding import Span
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.functions import functions_named
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name, dotted, positional_parameters
from precision_lint.source.python.syntax_tree import SyntaxTree, calls_by_span, syntax_tree

_MEMBERS = frozenset(
    {
        *("__array_interface__", "byteswap", "ctypes", "data", "itemsize", "nbytes", "tobytes"),
        *("tofile", "tostring", "view"),
    }
)
"""Attributes of an array that show its bytes."""

_READERS = regex(
    r"(?:^|\.)(?:memoryview|bytes|bytearray|crc32|adler32|b64encode|frombuffer)$"
    r"|^(?:hashlib|xxhash|zlib|hmac|struct)\."
    r"|(?:^|[._])(?:h|m|md5|sha\d*|hash\w*|digest|crc)\.update$"
)
"""Functions that take the bytes of what they are given."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
_BUFFER_WRITERS = frozenset({"send", "sendall", "write"})
"""Methods that write a buffer as it is, if it is all that they are given."""

_MOST_STEPS = 3
"""How many variables, attributes and functions are followed, one after the other."""


def are_read(file: ParsedPython, span: Span) -> bool:
    """True if the bytes of the array that the call at `span` gives are used."""
    call = calls_by_span(file).get(span)
    return call is not None and _are_read(call, file, _MOST_STEPS)


def _are_read(node: ast.AST, file: ParsedPython, steps: int) -> bool:
    parent = syntax_tree(file).parent(node)
    match parent:
        case ast.Attribute(attr=attribute) if attribute in _MEMBERS:
            return True
        case ast.Attribute(attr="astype" | "dtype" | "shape" | "size" | "ndim"):
            return False  # `astype` says which bytes are wanted
        case ast.Attribute() | ast.Subscript() | ast.IfExp() | ast.NamedExpr():
            return _are_read(parent, file, steps)
        case ast.Call(func=function) if function is node:
            return _are_read(parent, file, steps)
        case ast.Call(func=function):
            name = dotted(function) or ""
            if _READERS.search(name) or _writes_buffer(parent):
                return True
            is_array = name.startswith(_ARRAYS) and not _names_dtype(parent)
            return (is_array and _are_read(parent, file, steps)) or any(
                _are_read(use, file, steps - 1)
                for use in (_uses_of_argument(parent, node, file) if steps else ())
            )
        case ast.Assign() | ast.AnnAssign() | ast.Return() if steps:
            return any(_are_read(use, file, steps - 1) for use in _uses(parent, file))
    return False


_ARRAYS = ("np.", "numpy.", "torch.from_numpy", "torch.as_tensor")
"""Functions whose result has the bytes of the array that they are given."""


def _writes_buffer(call: ast.Call) -> bool:
    is_writer = isinstance(call.func, ast.Attribute) and call.func.attr in _BUFFER_WRITERS
    return is_writer and len(call.args) == 1 and not call.keywords


def _names_dtype(call: ast.Call) -> bool:
    return any(keyword.arg == "dtype" for keyword in call.keywords)


def _uses(
    statement: ast.Assign | ast.AnnAssign | ast.Return, file: ParsedPython
) -> Iterator[ast.AST]:
    """Where the value of a statement is used."""
    syntax = syntax_tree(file)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            yield from syntax.reads(_scope(statement, syntax), name)
        case ast.Assign(targets=[ast.Attribute(attr=name)]):
            yield from _attributes_read(file).get(name, ())
        case ast.Return():
            function = syntax.function(statement)
            if isinstance(function, FunctionDefinition):
                yield from syntax.calls(function.name)


@fact
def _attributes_read(file: ParsedPython) -> Mapping[str, list[ast.Attribute]]:
    """Where attributes are read, by their names: one walk for all findings of a file."""
    found: dict[str, list[ast.Attribute]] = {}
    for node in file.nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            found.setdefault(node.attr, []).append(node)
    return found


def _uses_of_argument(call: ast.Call, node: ast.AST, file: ParsedPython) -> Iterator[ast.AST]:
    """Where a function of the file uses what it is given at a call."""
    for function in functions_named(file, callee_name(call)):
        parameters = [each.arg for each in positional_parameters(function.args)]
        if isinstance(call.func, ast.Attribute) and parameters[:1] in (["self"], ["cls"]):
            parameters = parameters[1:]
        if node in call.args and call.args.index(node) < len(parameters):
            yield from syntax_tree(file).reads(function, parameters[call.args.index(node)])


def _scope(node: ast.AST, syntax: SyntaxTree) -> ast.AST:
    return next(each for each in syntax.around(node) if isinstance(each, _SCOPES))
