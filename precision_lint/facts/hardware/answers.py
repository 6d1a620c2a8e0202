"""Where a program uses what it asked of the GPU: at the question, by a name, through a helper.

`use_bf16 = torch.cuda.is_bf16_supported()` holds the answer, and so does a call of a function that
does nothing but ask: `return torch.cuda.is_available() and torch.cuda.is_bf16_supported()`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from precision_lint.facts.context import PythonFile
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition, own_nodes
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_OF_A_GPU = frozenset({"is_available", "is_bf16_supported", "hasattr"})
_MOST_FILES = 12
"""Files in which the calls of a helper are looked for."""


@frozen
class Answer:
    """An expression that is what a question gave."""

    node: ast.expr
    module: ParsedPython


def answers(question: ast.Call, file: PythonFile) -> Iterator[Answer]:
    """The question itself, the names that hold its answer, and the calls of its helper."""
    syntax = syntax_tree(file)
    whole = _whole(question, syntax)
    for each in (question, whole, *_names_of(whole, syntax)):
        yield Answer(each, file)
    helper = _helper(whole, syntax)
    if helper is None:
        return
    importing = islice(file.project.importing(file.text.path, helper.name), _MOST_FILES)
    for module in (file, *filter(None, map(file.project.module, importing))):
        inner = syntax_tree(module)
        if module is not file and _defines(helper.name, module):
            continue
        for call in inner.calls(helper.name):
            whole = _whole(call, inner)
            for each in (call, whole, *_names_of(whole, inner)):
                yield Answer(each, module)


def asks_for_a_gpu(test: ast.BoolOp, answer: ast.expr, syntax: SyntaxTree) -> bool:
    """True for `torch.cuda.is_available() and …` and `device.type == "cuda" and …`, which say
    nothing more of a dtype than the answer.
    """
    return isinstance(test.op, ast.And) and all(
        each is answer or _is_of_a_gpu(each, syntax) for each in test.values
    )


def _is_of_a_gpu(test: ast.expr, syntax: SyntaxTree) -> bool:
    match test:
        case ast.Call():
            return callee_name(test) in _OF_A_GPU
        case ast.Compare(
            left=ast.Name() | ast.Attribute() as left,
            ops=[ast.Eq()],
            comparators=[ast.Constant(value="cuda")],
        ):
            return "device" in ast.unparse(left)
        case ast.Name():
            match binding(test, syntax):
                case [(ast.Call() | ast.Compare()) as held]:
                    return _is_of_a_gpu(held, syntax)
    return False


def _whole(answer: ast.expr, syntax: SyntaxTree) -> ast.expr:
    """The answer with what else is asked of the GPU beside it, as a truth value."""
    match syntax.parent(answer):
        case ast.BoolOp() as test if asks_for_a_gpu(test, answer, syntax):
            return _whole(test, syntax)
        case ast.Call(func=ast.Name(id="bool"), args=[_]) as call:
            return _whole(call, syntax)
    return answer


def _names_of(whole: ast.expr, syntax: SyntaxTree) -> Iterator[ast.expr]:
    """Where a variable is read that holds nothing but an answer."""
    match syntax.parent(whole):
        case ast.Assign(targets=[ast.Name(id=name)]) as statement:
            scope = syntax.function(statement) or syntax.tree
            for read in syntax.reads(scope, name):
                if isinstance(read, ast.Name) and binding(read, syntax) == [whole]:
                    yield read


def _helper(whole: ast.expr, syntax: SyntaxTree) -> FunctionDefinition | None:
    """The function at the top level of the file that returns an answer, or else False."""
    returned, function = syntax.parent(whole), syntax.function(whole)
    if not isinstance(function, FunctionDefinition) or not isinstance(returned, ast.Return):
        return None
    others = (node for node in own_nodes(function) if isinstance(node, ast.Return))
    is_one = all(
        each is returned or (isinstance(each.value, ast.Constant) and each.value.value is False)
        for each in others
    )
    return function if is_one and function in syntax.tree.body else None


def _defines(name: str, module: ParsedPython) -> bool:
    return any(isinstance(each, FunctionDefinition) and each.name == name for each in module.nodes)
