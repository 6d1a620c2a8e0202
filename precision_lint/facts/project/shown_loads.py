"""Classes of the project that a document loads in bfloat16, or casts after it has loaded them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from precision_lint.facts.settings.vocabulary import names_bfloat16
from precision_lint.model.finding import Related
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import head, own_statements, single_targets
from precision_lint.source.python.syntax import last_name, qualified

if TYPE_CHECKING:
    from precision_lint.facts.project.facts import Recording
    from precision_lint.source.python.examples import Example

_LOADING = "from_pretrained"
_STAYING = frozenset({"to", "cuda", "cpu", "eval", "train", "half", "float", "bfloat16"})
"""Methods of a model, or of a pipeline, that give back the same one."""


def shown_load(name: str, path: Path, project: Recording) -> Related | None:
    """Where a document gives the weights of a class, which a file defines, bfloat16."""
    for document in project.documents(path, name):
        for example in project.examples(document):
            for node in _loads(name, example, document, project):
                message = f"the documentation loads `{name}` in bfloat16 here"
                return Related(example.text.place(example.span_of(node)), message)
    return None


def _loads(name: str, example: Example, document: Path, project: Recording) -> Iterator[ast.Call]:
    imports = imported_names(example)

    def is_own(node: ast.expr) -> bool:
        module = qualified(node, imports).rpartition(".")[0]
        is_named = last_name(node) == name
        return is_named and bool(module) and project.locate(document, module) is not None

    known: dict[str, ast.expr] = {}
    for statement in own_statements(example.tree.body):
        for node in (inner for each in head(statement) for inner in walk(each)):
            match node:
                case ast.Call(func=ast.Attribute(value=owner, attr=called)) if _casts(node, known):
                    loaded = owner if called == _LOADING else _loaded(owner, known)
                    if loaded is not None and is_own(loaded):
                        yield node
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in (one for each in targets for one in single_targets(each)):
                    if isinstance(target, ast.Name):
                        known[target.id] = _value(value, known)


def _casts(call: ast.Call, known: Mapping[str, ast.expr]) -> bool:
    """True for a call that loads or casts weights, and that says bfloat16."""
    dtypes = [each.value for each in call.keywords if each.arg in {"torch_dtype", "dtype"}]
    match last_name(call.func):
        case "bfloat16":
            return True
        case "to":
            dtypes += call.args
        case name if name == _LOADING:
            pass
        case _:
            return False
    return any(_is_bfloat16(_value(each, known)) for each in dtypes)


def _loaded(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr | None:
    """The class of `pipe`, `pipe.eval()` or `Pipeline.from_pretrained(…)`."""
    node = _value(node, known)
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=called)) if called == _LOADING:
            return owner
    return None


def _value(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr:
    """What a variable was given last; what is moved or set up stays what it was."""
    while True:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=called)) if called in _STAYING:
                node = owner
            case ast.Name(id=name):
                return known.get(name, node)
            case _:
                return node


def _is_bfloat16(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="torch"), attr=name):
            return name == "bfloat16"
        case ast.Constant(value=value):
            return names_bfloat16(value)
    return False
