"""Reads of the old settings of TF32 that raise, because the new ones were written before.

torch 2.9 brought `fp32_precision`. Writing the old names after it is allowed, and sets both;
reading them raises where what was written cannot be said in the old terms. This was measured.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.facts.context import PythonFile
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.compatibility import is_for_another_version
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import Reference, scopes_in
from precision_lint.source.python.statements import AnyFunction
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MATMUL = "torch.backends.cuda.matmul.allow_tf32"
_CUDNN = "torch.backends.cudnn.allow_tf32"
_GETTER = "torch.get_float32_matmul_precision"
_SETTER = "torch.set_float32_matmul_precision"

_OF_PRODUCTS = frozenset({_MATMUL, _GETTER})
RAISING: Mapping[tuple[str, str], frozenset[str]] = {
    ("torch.backends.fp32_precision", "tf32"): _OF_PRODUCTS,
    ("torch.backends.fp32_precision", "ieee"): frozenset({_CUDNN}),
    ("torch.backends.cuda.matmul.fp32_precision", "tf32"): _OF_PRODUCTS,
    ("torch.backends.cudnn.fp32_precision", "ieee"): frozenset({_CUDNN}),
    ("torch.backends.cudnn.conv.fp32_precision", "ieee"): frozenset({_CUDNN}),
    ("torch.backends.cudnn.rnn.fp32_precision", "ieee"): frozenset({_CUDNN}),
}
"""By what is written where, the old settings that cannot be read any more (torch 2.13)."""

OLD = frozenset({_MATMUL, _CUDNN, _GETTER})
_SETS = {_MATMUL: _OF_PRODUCTS, _CUDNN: frozenset({_CUDNN}), _SETTER: _OF_PRODUCTS}
"""What can be read again after an old setting is written."""


@frozen
class Written:
    """A setting that a file writes: its qualified name, and the literal."""

    name: str
    value: str
    node: ast.expr
    scope: AnyFunction | None


@frozen
class RaisingRead:
    """A read of an old setting, and the write of a new one before it."""

    node: ast.expr
    name: str
    written: Written
    is_certain: bool


def raising_reads(file: PythonFile) -> Iterator[RaisingRead]:
    """The reads of a file that raise after a write in the same file."""
    syntax = syntax_tree(file)
    for reference in scopes_in(file).references:
        name = reference.qualified or ""
        if name not in OLD or is_for_another_version(reference.node, reference.at, file.text):
            continue
        if syntax.may_fail_on_purpose(reference.node):
            continue
        scope = syntax.function(reference.node)
        for written in writes(file):
            if name not in RAISING.get((written.name, written.value), ()):
                continue
            is_before = _is_before(written, reference, scope, syntax)
            if is_before and not _is_set_again(name, written, reference, file):
                is_certain = not _is_conditional(reference.node, syntax) and (
                    scope is written.scope or _certainly_follows(scope, written.scope, syntax)
                )
                yield RaisingRead(reference.node, name, written, is_certain)
                break


@fact
def writes(file: ParsedPython) -> tuple[Written, ...]:
    """The settings of the precision of float32 that a file assigns, in source order."""
    syntax = syntax_tree(file)
    found = []
    for node in file.nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute() as target], value=value):
                name = qualified(target, syntax.names)
                is_new = name.startswith("torch.") and name.endswith(".fp32_precision")
                if name in _SETS or is_new:
                    text = value.value if isinstance(value, ast.Constant) else ""
                    scope = syntax.function(node)
                    found.append(Written(name, str(text), value, scope))
            case ast.Call(args=[ast.Constant(value=text) as value, *_]):
                if qualified(node.func, syntax.names) == _SETTER:
                    found.append(Written(_SETTER, str(text), value, syntax.function(node)))
    return tuple(sorted(found, key=lambda one: (one.node.lineno, one.node.col_offset)))


def _is_before(
    written: Written, read: Reference, scope: AnyFunction | None, syntax: SyntaxTree
) -> bool:
    """True if a write runs before a read: above it, when the file is imported, or in a function
    that the file calls."""
    if written.scope is scope:
        return written.node.lineno < read.node.lineno
    if written.scope is None:
        return scope is not None
    name = getattr(written.scope, "name", "")
    calls = [call for call in syntax.calls(name) if isinstance(call.func, ast.Name)]
    if scope is None:
        return any(call.lineno < read.node.lineno for call in calls)
    return bool(calls)


def _is_set_again(name: str, written: Written, read: Reference, file: ParsedPython) -> bool:
    """True if an old setting is written as well: in the same function, only between the two."""
    for one in writes(file):
        if name in _SETS.get(one.name, ()):
            rows = range(written.node.lineno, read.node.lineno)
            if one.scope is not written.scope or one.node.lineno in rows:
                return True
    return False


def _certainly_follows(
    reading: AnyFunction | None, writing: AnyFunction | None, syntax: SyntaxTree
) -> bool:
    """True if the top level of the file calls one function, and the other one before it."""
    written, read = (
        [
            call.lineno
            for call in syntax.calls(getattr(function, "name", ""))
            if syntax.function(call) is None and not _is_conditional(call, syntax)
        ]
        for function in (writing, reading)
    )
    return bool(written and read) and min(written) < max(read)


def _is_conditional(node: ast.AST, syntax: SyntaxTree) -> bool:
    return any(isinstance(each, ast.If | ast.IfExp) for each in syntax.within_function(node))
