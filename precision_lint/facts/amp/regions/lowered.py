"""Whether code can hold an operator that autocast runs in half precision.

Autocast leaves sums, divisions and roots in the dtype of their operands, or makes it float32. A
region around nothing else does nothing, on whatever device.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from precision_lint.facts.dtypes._generated.operators import FUNCTIONS, METHODS
from precision_lint.facts.dtypes.operators.factories import FACTORIES
from precision_lint.facts.dtypes.operators.signature import Operator
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import SyntaxTree

_PLAIN = frozenset(
    "len range isinstance int float bool str print max min zip enumerate tuple list dict set "
    "getattr hasattr super".split()
)
_OTHERS = FACTORIES | {"autocast", "cuda.amp.autocast", "no_grad", "inference_mode", "device"}
"""Functions and classes of torch that are no operators."""
_HEADS = ("torch.nn.functional.", "torch.")


def may_hold_lowered(body: Iterable[ast.stmt], syntax: SyntaxTree) -> bool:
    """False if each operator of the statements, and of their class's methods, is known as none."""
    return _may_hold(body, syntax, set())


def _may_hold(body: Iterable[ast.stmt], syntax: SyntaxTree, seen: set[ast.AST]) -> bool:
    for statement in body:
        for node in walk(statement):
            match node:
                case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
                    return True
                case ast.Call() if _may_lower(node, syntax, seen):
                    return True
    return False


def _may_lower(call: ast.Call, syntax: SyntaxTree, seen: set[ast.AST]) -> bool:
    name = qualified(call.func, syntax.names)
    for head in _HEADS:
        if name.startswith(head):
            short = name.removeprefix(head)
            if short in FUNCTIONS:
                return _is_lower(FUNCTIONS[short])
            return short not in _OTHERS
    match call.func:
        case ast.Name(id=plain):
            return plain not in _PLAIN
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=method):
            found = _method(call, method, syntax)
            if found is None:
                return True
            if found in seen:
                return False
            seen.add(found)
            return _may_hold(found.body, syntax, seen)
        case ast.Attribute(attr=method) if method in METHODS:
            return _is_lower(METHODS[method])
    return True


def _is_lower(row: Operator) -> bool:
    return "lower" in {row.cuda, row.cpu}


def _method(call: ast.Call, name: str, syntax: SyntaxTree) -> FunctionDefinition | None:
    owner = enclosing_class(call, syntax)
    for node in owner.body if owner is not None else ():
        if isinstance(node, FunctionDefinition) and node.name == name:
            return node
    return None
