"""Whether a program reads the bytes of an array: then another dtype is another meaning.

`x.numpy().tobytes()`, a hash of an array, `array.view(np.int16)`: a fix that widens the array turns
an error into bytes of twice the length, without a word.
"""

from __future__ import annotations

import ast
import re

from precision_lint.model.finding import Span
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import dotted
from precision_lint.source.python.syntax_tree import SyntaxTree, calls_by_span, syntax_tree

_MEMBERS = frozenset(
    {"__array_interface__", "byteswap", "ctypes", "data", "tobytes", "tofile", "tostring", "view"}
)
"""Attributes of an array that show its bytes."""

_READERS = re.compile(
    r"(?:^|\.)(?:memoryview|bytes|bytearray|crc32|adler32|b64encode|frombuffer)$"
    r"|^(?:hashlib|xxhash|zlib|hmac|struct)\."
    r"|(?:^|[._])(?:h|m|md5|sha\d*|hash\w*|digest|crc)\.update$"
)
"""Functions that take the bytes of what they are given."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
_MOST_NAMES = 3
"""How many variables are followed, one assigned from the other."""


def are_read(file: ParsedPython, span: Span) -> bool:
    """True if the bytes of the array that the call at `span` gives are used."""
    call = calls_by_span(file).get(span)
    return call is not None and _are_read(call, syntax_tree(file), _MOST_NAMES)


def _are_read(node: ast.AST, syntax: SyntaxTree, names: int) -> bool:
    parent = syntax.parent(node)
    match parent:
        case ast.Attribute(attr=attribute) if attribute in _MEMBERS:
            return True
        case ast.Attribute(attr="astype" | "dtype" | "shape" | "size" | "ndim"):
            return False  # `astype` says which bytes are wanted
        case ast.Attribute() | ast.Subscript() | ast.IfExp() | ast.NamedExpr():
            return _are_read(parent, syntax, names)
        case ast.Call(func=function) if function is node:
            return _are_read(parent, syntax, names)
        case ast.Call(func=function):
            name = dotted(function) or ""
            if _READERS.search(name):
                return True
            is_array = name.startswith(("np.", "numpy.")) and not _names_dtype(parent)
            return is_array and _are_read(parent, syntax, names)
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return names > 0 and any(
                _are_read(use, syntax, names - 1)
                for use in syntax.reads(_scope(parent, syntax), name)
            )
    return False


def _names_dtype(call: ast.Call) -> bool:
    return any(keyword.arg == "dtype" for keyword in call.keywords)


def _scope(node: ast.AST, syntax: SyntaxTree) -> ast.AST:
    return next(each for each in syntax.around(node) if isinstance(each, _SCOPES))
