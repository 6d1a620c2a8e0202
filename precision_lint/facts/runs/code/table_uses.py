"""What methods and functions do with a table of settings that they get."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from precision_lint.facts.project.facts import Recording
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import (
    callee_name,
    dotted,
    last_name,
    named_parameters,
    qualified,
)
from precision_lint.source.python.syntax_tree import syntax_tree

SAME_METHODS = frozenset({"copy", "to_dict", "as_dict", "todict", "model_dump"})
"""Methods of a table that give it in another form."""
READING_METHODS = frozenset({"get", "pop", "setdefault"})
"""Methods of a table that give one entry."""
CHANGING_METHODS = frozenset({"update", "keys", "clear", "append", "extend", "insert", "freeze"})
"""Methods of a table that read none of its values."""
OF_TEXTS = frozenset({
    "lower", "upper", "strip", "split", "startswith", "endswith", "replace", "format", "title",
})  # fmt: skip
"""Methods of texts, which no table has."""
SAME = regex(
    r"(?i:(?:ordered|easy|dot|attr|attribute|default|config)?dict|edict|dotmap|munch(?:ify)?|box"
    r"|addict|simplenamespace|namespace)"
    r"|deepcopy|copy|list|tuple|sorted|reversed|iter|next|to_container|create|merge|unsafe_merge"
)
"""Functions that give what they get, in another form."""
JOINING = frozenset({"update", "extend", "append"})
"""Methods that put what they get into a table or a list."""
TEXTS = frozenset({"dumps", "dump", "safe_dump", "save", "str", "repr", "pformat", "format"})
"""Functions that make a text, or a file, of all that they get: it may be loaded again."""
_TELLING = frozenset({
    "print", "pprint", "info", "debug", "warning", "error", "isinstance", "hasattr", "len", "bool",
    "id", "type", "to_yaml", "resolve", "open_dict", "missing_keys", "set_struct", "set_readonly",
    "is_config", "is_dict", "is_list", "log_hyperparams",
})  # fmt: skip
"""Functions that read no setting of what they get, but to write all of them down."""
_RECORDERS = ("wandb.", "mlflow.", "swanlab.", "logging.")
_GENERAL = frozenset({
    "fit", "train", "run", "load", "init", "log", "add", "put", "set", "setup", "prepare", "call",
    "generate", "validate", "test", "predict", "register", "build", "apply", "submit", "map",
    "send",
})  # fmt: skip
"""Names of methods that libraries have as well."""
_CLASS = regex(r"^[ \t]*class[ \t]+(\w+)[ \t]*(?:\(([^)]*)\))?", re.MULTILINE)
_HIDDEN = regex(r"\blocals\(\)|\bsave_hyperparameters\(|\bglobals\(\)")
_OPEN_BASES = frozenset({
    "", "object", "ABC", "Module", "Dataset", "IterableDataset", "Sampler", "Process", "Thread",
    "Protocol", "Generic",
})  # fmt: skip
"""Base classes that read no members of their own accord."""


def is_recorded(call: ast.Call, file: ParsedPython) -> bool:
    """True for a call that only writes down what it gets, or asks of what kind it is."""
    path = qualified(call.func, syntax_tree(file).names)
    return callee_name(call) in _TELLING or path.startswith(_RECORDERS)


def is_of_library(call: ast.Call, file: ParsedPython, project: Recording) -> bool:
    """True for a function of a module that is not in the project."""
    path = dotted(call.func) or ""
    names = syntax_tree(file).names
    if path.partition(".")[0] not in names:
        return False
    module, here = qualified(call.func, names), file.text.path
    while module.strip("."):
        if project.locate(here, module) is not None:
            return False
        module = module.rpartition(".")[0]
    return True


def is_general(call: ast.Call) -> bool:
    """True for a method that an object of a library may have, too: `trainer.fit(config)`."""
    match call.func:
        case ast.Name() | ast.Attribute(value=ast.Name(id="self" | "cls")):
            return False
    return callee_name(call) in _GENERAL


def keys_of(key: ast.expr, file: ParsedPython) -> Iterator[str | None]:
    """The names that a key may have; None if that is not known."""
    match key:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Name():
            yield from _of_loop(key, file)
        case _:
            yield None


def _of_loop(name: ast.Name, file: ParsedPython) -> Iterator[str | None]:
    """`for part in ("model", "data"): config[part]`."""
    syntax = syntax_tree(file)
    function = syntax.function(name)
    stores = syntax.stores(function or syntax.tree, name.id)
    given = [*named_parameters(function.args)] if function is not None else []
    parent = syntax.parent(stores[0]) if len(stores) == 1 else None
    match parent:
        case ast.For(target=target, iter=ast.Tuple(elts=items) | ast.List(elts=items)) if (
            target is stores[0] and all(each.arg != name.id for each in given)
        ):
            for each in items:
                is_text = isinstance(each, ast.Constant) and isinstance(each.value, str)
                yield str(each.value) if is_text and isinstance(each, ast.Constant) else None
        case _:
            yield None


def hands_on_all(function: FunctionDefinition, file: ParsedPython) -> bool:
    """True for a function that may hand on its parameters by names that it does not write."""
    return _HIDDEN.search(file.text[file.span_of(function)]) is not None


def called(call: ast.Call, file: ParsedPython) -> str:
    """The name of the function that a call means, also by a variable of it: `make = models.Net`;
    empty if only run time knows it.
    """
    node = call.func
    if not isinstance(node, ast.Name):
        return last_name(node)
    syntax = syntax_tree(file)
    function = syntax.function(node)
    while function is not None:
        if any(each.arg == node.id for each in named_parameters(function.args)):
            return ""
        if stores := syntax.stores(function, node.id):
            match [syntax.parent(each) for each in stores]:
                case [ast.Assign(targets=[ast.Name()], value=value)]:
                    return last_name(value)
            return ""
        function = syntax.function(function)
    return node.id


def is_of_parser(holder: ast.expr, file: ParsedPython) -> bool:
    """True for the options of a command line: `args` after `args = parser.parse_args()`."""
    if not isinstance(holder, ast.Name):
        return False
    syntax = syntax_tree(file)
    stores = syntax.stores(syntax.function(holder) or syntax.tree, holder.id)
    parents = [syntax.parent(store) for store in stores]
    return bool(parents) and all(
        isinstance(each, ast.Assign)
        and isinstance(each.value, ast.Call)
        and callee_name(each.value) == "parse_args"
        for each in parents
    )


def closed_classes(texts: Iterable[str]) -> frozenset[str]:
    """The classes of some code that extend none of a library which may read their members."""
    bases: dict[str, set[str]] = {}
    for name, given in (row for text in texts for row in _CLASS.findall(text)):
        named = (each.strip() for each in given.split(",") if "=" not in each)
        bases.setdefault(name, set()).update(each.rpartition(".")[2] for each in named)
    known: set[str] = set()
    while more := {name for name, above in bases.items() if above <= _OPEN_BASES | known} - known:
        known |= more
    return frozenset(known)


def is_read_by_base(member: ast.Attribute, file: ParsedPython, defined: frozenset[str]) -> bool:
    """True for a member of a class that extends one of a library, which may read it as well."""
    match member.value:
        case ast.Name(id="self"):
            owner = enclosing_class(member, syntax_tree(file))
            bases = map(last_name, owner.bases) if owner is not None else ()
            return any(base not in _OPEN_BASES and base not in defined for base in bases)
    return False


def uses_of(name: str, file: ParsedPython) -> Iterator[ast.Call | None]:
    """The calls of a function by its name, and None for each other mention of it."""
    syntax = syntax_tree(file)
    for node in _mentions(file).get(name, ()):
        parent = syntax.parent(node)
        if isinstance(node, ast.alias):
            if node.asname not in (None, name):
                yield from uses_of(node.asname or "", file)
        elif isinstance(parent, ast.Call) and parent.func is node:
            yield parent
        elif isinstance(node.ctx, ast.Load):
            yield None


@fact
def _mentions(file: ParsedPython) -> Mapping[str, list[ast.Name | ast.Attribute | ast.alias]]:
    """The names of a file, and what has them."""
    found: dict[str, list[ast.Name | ast.Attribute | ast.alias]] = {}
    for node in file.nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                found.setdefault(name, []).append(node)
    return found
