"""Classes of the project that a document loads in bfloat16, or casts after it has loaded them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from precision_lint.facts.settings.vocabulary import names_bfloat16
from precision_lint.model.finding import Related
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.statements import single_targets
from precision_lint.source.python.syntax import last_name, qualified

if TYPE_CHECKING:
    from precision_lint.facts.project.facts import Recording
    from precision_lint.source.python.examples import Example

_CASTS = frozenset({"to", "bfloat16"})


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
    values = _assigned(example)

    def is_own(node: ast.expr) -> bool:
        module = qualified(node, imports).rpartition(".")[0]
        is_named = last_name(node) == name
        return is_named and bool(module) and project.locate(document, module) is not None

    for node in example.nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="from_pretrained")) if is_own(
                owner
            ) and _is_given_bfloat16(node, values):
                yield node
            case ast.Call(func=ast.Attribute(value=owner, attr=cast)) if cast in _CASTS and (
                cast == "bfloat16" or _is_given_bfloat16(node, values)
            ):
                loaded = _loaded(owner, values)
                if loaded is not None and is_own(loaded):
                    yield node


def _loaded(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr | None:
    """The class of `pipe`, `pipe.eval()` or `Pipeline.from_pretrained(…)`."""
    for _ in range(len(values) + 1):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="from_pretrained")):
                return owner
            case ast.Call(func=ast.Attribute(value=owner)):
                node = owner
            case ast.Name(id=name) if name in values:
                node = values[name]
            case _:
                return None
    return None


def _is_given_bfloat16(call: ast.Call, values: Mapping[str, ast.expr]) -> bool:
    """True if a dtype that is given is written out as bfloat16."""
    named = [each.value for each in call.keywords if each.arg in {"torch_dtype", "dtype"}]
    by_position = call.args if last_name(call.func) == "to" else []
    return any(_is_bfloat16(each, values) for each in (*named, *by_position))


def _is_bfloat16(node: ast.expr, values: Mapping[str, ast.expr]) -> bool:
    match values.get(node.id, node) if isinstance(node, ast.Name) else node:
        case ast.Attribute(value=ast.Name(id="torch"), attr=name):
            return name == "bfloat16"
        case ast.Constant(value=value):
            return names_bfloat16(value)
    return False


def _assigned(example: Example) -> Mapping[str, ast.expr]:
    """What a program assigns to each name, if it always assigns the same."""
    found: dict[str, ast.expr] = {}
    written: dict[str, set[str]] = {}
    for node in example.nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                for name in (one for target in targets for one in single_targets(target)):
                    if isinstance(name, ast.Name):
                        found[name.id] = value
                        written.setdefault(name.id, set()).add(ast.dump(value))
    return {name: value for name, value in found.items() if len(written[name]) == 1}
