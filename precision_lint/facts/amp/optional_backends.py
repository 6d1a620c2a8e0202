"""Runs in which a program starts no backend with float32 weights of its own, though its code can.

`TrainingArguments(deepspeed=args.config if args.deepspeed else None)` starts none where the switch
is off, whichever commands turn it on.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from precision_lint.facts.amp.beside_optimizers import beside_optimizers, beside_unused_imports
from precision_lint.facts.amp.optional_places import Place, is_left_out, places_naming
from precision_lint.facts.amp.own_sharding import SHARDING, shards_by_itself
from precision_lint.facts.amp.plain_runs import PlainRun, plain_runs
from precision_lint.facts.context import PythonFile
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_BACKEND = regex(r"(?i)deepspeed|megatron|colossalai|fabric\b|lightning")
"""Backends with float32 weights of their own."""
_ASKING = regex(
    r"(?i)\bis_(?:deepspeed|fsdp)\w*|\b(?:trainer|self)\.(?:deepspeed|is_fsdp)\w*(?!\w*\s*=(?!=))"
    r"|\bdeepspeed(?:\.runtime)?\.zero\b|\bfrom deepspeed import zero\b"
    r"|\bimport deepspeed(?![.\w])"
)
"""What only asks whether a backend is there, or what it did to parameters."""


@fact
def names_own_backend(file: PythonFile) -> bool:
    """True if the code of a file may start a backend, as far as its names say it."""
    return any(_names_one(_BACKEND.search, part) for part in beside_optimizers(file)) or (
        any(_names_one(SHARDING.search, part) for part in beside_unused_imports(file))
        and not shards_by_itself(file, file.project)
    )


@fact
def runs_without_backend(file: PythonFile) -> tuple[PlainRun, ...]:
    """The plain runs that come to no place which may start a backend."""
    if not names_own_backend(file):
        return plain_runs(file)
    places = [*_starting(file)]
    return tuple(
        run for run in plain_runs(file) if all(is_left_out(each, run, file) for each in places)
    )


def _starting(file: PythonFile) -> Iterator[Place]:
    """The places that may start a backend."""
    is_sharded = not shards_by_itself(file, file.project)
    names = syntax_tree(file).names

    def is_named(text: str) -> bool:
        return _names_one(_BACKEND.search, text) or (
            is_sharded and _names_one(SHARDING.search, text)
        )

    for place in places_naming(lambda name: is_named(names.get(name, name)), file):
        if is_named(_in_full(place, file)) and not _is_asked_before(place, file):
            yield place


def _names_one(search: Callable[[str], object], text: str) -> bool:
    return search(_ASKING.sub("", text)) is not None


def _in_full(place: Place, file: PythonFile) -> str:
    """A name with what is read of it, or what it is read of."""
    syntax = syntax_tree(file)
    match place:
        case ast.keyword(arg=str(name)) | ast.Constant(value=str(name)):
            return name
    node: ast.AST = place
    while isinstance(above := syntax.parent(node), ast.Attribute):
        node = above
    full = qualified(node, syntax.names) if isinstance(node, ast.expr) else ""
    return full or ast.unparse(node)


def _is_asked_before(place: Place, file: PythonFile) -> bool:
    """True for a branch that is only taken where a backend was started: `if is_fsdp_enabled:`."""
    below: ast.AST = place
    for around in syntax_tree(file).within_function(place):
        if isinstance(around, ast.If) and any(below is each for each in around.body):
            match around.test:
                case ast.BoolOp(op=ast.And(), values=tests):
                    pass
                case test:
                    tests = [test]
            if any(_ASKING.match(ast.unparse(each)) for each in tests):
                return True
        below = around
    return False
