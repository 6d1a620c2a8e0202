"""Files that shard their models with torch's own FSDP, which keeps the dtype of the weights.

Run with torch 2.13: of weights that are loaded in bfloat16, `FullyShardedDataParallel` and
`fully_shard` make shards in bfloat16, whatever `MixedPrecision` says, and the optimizer updates
these. It is Accelerate that makes float32 weights of them first.

Whose FSDP it is, the import says and what is called, in modules of the project as well. What the
file calls a variable (`fsdp_model`) says nothing: what it holds was made by a call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import dotted, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

SHARDING = regex(r"(?i)fsdp|fullysharded|fully_shard")
"""Words of FSDP, whoever starts it."""
_STARTING = regex(r"(?i)accelerat|Trainer\b|fairscale|torchtitan|composer\b|nemo\b")
"""What starts FSDP by itself, or has one of its own. A comment may say that it does."""
_TORCH = "torch.distributed."


def shards_by_itself(file: ParsedPython, project: Recording) -> bool:
    """True if what a file says of FSDP can only mean that of torch, which its own code calls, or
    the modules of the project that it names.
    """
    return _is_of_torch(file, project, set())


def _is_of_torch(file: ParsedPython, project: Recording, seen: set[Path]) -> bool:
    if _STARTING.search(file.text.text) is not None:
        return False
    seen.add(file.text.path)
    for name in _names_of_others(file):
        home = _home(name, file, project)
        if home is None:
            return False
        if home.text.path not in seen and not _is_of_torch(home, project, seen):
            return False
    return True


@fact
def _names_of_others(file: ParsedPython) -> tuple[str, ...]:
    """What a file imports or calls with a name of FSDP that is neither torch's nor its own."""
    sharding = (name for name in _names(file) if SHARDING.search(name))
    return tuple(dict.fromkeys(name for name in sharding if not name.startswith(_TORCH)))


def _names(file: ParsedPython) -> Iterator[str]:
    """The names that a file imports, what it takes from these, and the functions that it calls."""
    names, own = syntax_tree(file).names, _own_names(file)
    yield from names.values()
    for node in file.nodes_of(ast.Attribute):
        if (dotted(node) or "").partition(".")[0] in names:
            yield qualified(node, names)
    for call in file.nodes_of(ast.Call):
        match call.func:
            case ast.Name(id=name) if name not in names and name not in own:
                yield name
            case ast.Attribute(attr=name) if name not in own:
                is_taken = (dotted(call.func) or "").partition(".")[0] in names
                yield from () if is_taken else (name,)


def _own_names(file: ParsedPython) -> frozenset[str]:
    """The functions, the classes and the variables of a file, those of `self` included."""
    functions = (each.name for each in file.nodes_of(ast.FunctionDef))
    classes = (each.name for each in file.nodes_of(ast.ClassDef))
    given = (each.arg for each in file.nodes_of(ast.arg))
    variables = (each.id for each in file.nodes_of(ast.Name) if isinstance(each.ctx, ast.Store))
    members = (
        each.attr
        for each in file.nodes_of(ast.Attribute)
        if isinstance(each.ctx, ast.Store) and dotted(each.value) == "self"
    )
    return frozenset([*functions, *classes, *given, *variables, *members])


def _home(name: str, file: ParsedPython, project: Recording) -> ParsedPython | None:
    """The file of the project that a name is imported from; None for other libraries."""
    module = name
    while module.strip("."):
        path = project.locate(file.text.path, module)
        if path is not None:
            return project.module(path)
        module = module.rpartition(".")[0]
    return None
