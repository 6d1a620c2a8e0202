"""What holds on a machine with a GPU of NVIDIA that computes in bfloat16.

`torch.bfloat16 if torch.cuda.is_available() else torch.float32` names the dtype of a run that every
owner of such a GPU starts, without any option.
"""

from __future__ import annotations

import ast
from functools import partial

from precision_lint.facts.origin import Origin
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.origin_nodes import origin_node
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree
from precision_lint.source.python.truth import truth

_HOPS = 4
"""Variables between a condition and what it asks."""
_HOLDING = frozenset({"torch.cuda.is_available", "torch.cuda.is_bf16_supported"})
_FAILING = frozenset({"torch.backends.mps.is_available", "torch.xpu.is_available"})
_OTHER_DEVICES = frozenset({"cpu", "mps", "xpu", "npu", "hpu"})


def is_chosen_on_cuda(origin: Origin, file: ParsedPython, project: Recording) -> bool:
    """True if the code at an origin runs on a GPU, and conditions on the device are all around."""
    found = origin_node(origin, file, project)
    if found is None:
        return False
    node, module = found
    syntax = syntax_tree(module)
    conditions = _around(node, syntax)
    return bool(conditions) and all(holds_on_cuda(test, syntax) is met for test, met in conditions)


def holds_on_cuda(test: ast.expr, syntax: SyntaxTree) -> bool | None:
    """Whether a condition holds on such a machine; None if that alone does not decide it."""
    return truth(test, partial(_holds, syntax=syntax, hops=_HOPS))


def _around(node: ast.AST, syntax: SyntaxTree) -> list[tuple[ast.expr, bool]]:
    """The conditions around a node within its function, and whether they hold there."""
    found, inner = list[tuple[ast.expr, bool]](), node
    for outer in syntax.within_function(node):
        match outer:
            case ast.If(test=test, body=body) if inner is not test:
                found.append((test, inner in body))
            case ast.IfExp(test=test, body=chosen) if inner is not test:
                found.append((test, inner is chosen))
        inner = outer
    return found


def _holds(test: ast.expr, *, syntax: SyntaxTree, hops: int) -> bool | None:
    """Whether a part of a condition holds on such a machine; None if it is about something else."""
    match test:
        case ast.Call(func=ast.Attribute(attr="startswith"), args=[ast.Constant(value=str(name))]):
            return _is_cuda(name)
        case ast.Call(func=func):
            name = qualified(func, syntax.names)
            return True if name in _HOLDING else False if name in _FAILING else None
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]):
            named = next(filter(None, map(_device, (left, right))), None)
            is_cuda = None if named is None else _is_cuda(named)
            return is_cuda if isinstance(op, ast.Eq) or is_cuda is None else not is_cuda
        case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In()]):
            return _is_cuda(name)
        case ast.Name() if hops:
            held = binding(test, syntax)
            of_value = partial(_holds, syntax=syntax, hops=hops - 1)
            values = {truth(each, of_value) for each in held} if isinstance(held, list) else set()
            return values.pop() if len(values) == 1 else None
    return None


def _device(node: ast.expr) -> str | None:
    """The device that a text names."""
    match node:
        case ast.Constant(value=str(name)) if _is_cuda(name) is not None:
            return name
    return None


def _is_cuda(name: str) -> bool | None:
    kind = name.partition(":")[0]
    return True if kind == "cuda" else False if kind in _OTHER_DEVICES else None
