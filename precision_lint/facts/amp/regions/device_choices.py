"""Devices other than CUDA that a program chooses: `device = "mps"`, an option with `"xpu"`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice, takewhile
from pathlib import Path

from precision_lint.facts.context import PythonFile
from precision_lint.model.finding import Related
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name, dotted, last_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

ACCELERATORS = frozenset({"mps", "xpu", "npu", "hpu", "mlu", "musa"})
"""Devices other than CUDA that models are meant for. The CPU does not count."""

_CHOOSES = (
    rb"(?:(?:evice|EVICE|ccelerator|CCELERATOR)[\w\"']*\s*(?::[^\n=]*)?=(?!=)[^\n]*"
    rb"|return (?:torch\.device\()?(?:[\"'][^\n]*)?|Literal\[[^\]\n]*|choices ?=[^\n]*)"
    rb"[\"'](?:mps|xpu|npu|hpu|mlu|musa)[\"':]"
)
"""Files without a match choose no such device, or do so in several lines."""

_DEVICE = regex(r"device|accelerator", re.IGNORECASE)
NEEDS_CUDA = (
    r"\.cuda\(|set_device\(|torch\.cuda\.(?:device|current_device|synchronize|Event|Stream)\("
    r"|(?:\.to|torch\.device)\(\s*f?[\"']cuda|device\s*=\s*f?[\"']cuda"
)
"""Code that does not run without CUDA."""

_MOST_FILES = 24


def chosen_device(file: PythonFile) -> tuple[str, Related] | None:
    """Where a program that a file is a part of chooses an accelerator other than CUDA."""
    path = file.text.path
    matching = file.project.python_sources_matching(_CHOOSES)
    closest = sorted(matching, key=lambda other: -_shared(other, path))
    others = (other for other in closest if other != path and file.project.concerns(other, path))
    if (own := next(_choices(file), None)) is not None:
        return own
    if any(file.project.uses(other, path) for other in _needing_cuda(file)):
        return None
    for other in islice(others, _MOST_FILES):
        parsed = file.project.module(other)
        found = None if parsed is None else next(_choices(parsed), None)
        if found is not None:
            return found
    return None


def _needing_cuda(file: PythonFile) -> tuple[Path, ...]:
    return file.project.python_sources_matching(NEEDS_CUDA.encode())


def _shared(one: Path, other: Path) -> int:
    """How many folders two files have in common."""
    pairs = zip(one.parts, other.parts, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _choices(file: ParsedPython) -> Iterator[tuple[str, Related]]:
    """The devices other than CUDA that a file gives to a variable, an option or a field."""
    syntax = syntax_tree(file)
    for node in _named_accelerators(file):
        name = _receiver(node, syntax)
        if name is not None and _DEVICE.search(name):
            place = file.text.place(file.span_of(node))
            yield f'"{node.value!s}"', Related(place, "the device is chosen here")


@fact
def _named_accelerators(file: ParsedPython) -> tuple[ast.Constant, ...]:
    return tuple(
        node
        for node in file.nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.partition(":")[0] in ACCELERATORS
    )


def _receiver(node: ast.expr, syntax: SyntaxTree) -> str | None:
    """The name of what gets a value: a variable, a parameter, an option, a function's result."""
    inner: ast.AST = node
    for parent in syntax.around(node):
        match parent:
            case ast.IfExp(test=test) if inner is test:
                return None
            case ast.IfExp() | ast.BoolOp() | ast.Tuple() | ast.List() | ast.Set():
                pass
            case ast.Call(func=func) if last_name(func) == "device":
                pass
            case ast.Subscript(value=owner) if last_name(owner) == "Literal":
                pass
            case ast.keyword(arg="choices" | "default"):
                call = syntax.parent(parent)
                return _option(call) if isinstance(call, ast.Call) else None
            case ast.keyword(arg=name):
                return name
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
                return dotted(target)
            case ast.Return():
                function = syntax.function(parent)
                return function.name if isinstance(function, FunctionDefinition) else None
            case _:
                return None
        inner = parent
    return None


def _option(call: ast.Call) -> str | None:
    """The flag of `parser.add_argument("--device", …)`."""
    match call.args:
        case [ast.Constant(value=str(flag)), *_] if callee_name(call) == "add_argument":
            return flag
    return None
