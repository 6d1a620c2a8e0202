"""Options of precision that a program declares and never asks for.

Only those of argparse, and only where the values of its parser are seen to be read one by one: who
gets the namespace as a whole, out of sight or as a table, may read any of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.imported_by_name import program_of
from precision_lint.facts.runs.interpreter.program import Program, keyword_of, other_names
from precision_lint.facts.settings.vocabulary import chooses_precision
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.config.options import Option
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree
from precision_lint.source.shell.words import UNKNOWN

_PLAIN = frozenset({"", "store", "store_true", "store_false", "BooleanOptionalAction"})
"""Actions that only keep a value."""
_NOTHING = frozenset({"no", "none", "false", "0", "fp32", "float32", "32"})
_NAMESPACES = frozenset({"args", "opt", "opts", "FLAGS", "flags", "hparams", "hparam", "options"})
"""Names of what a parser returns, beside those that a program gives it."""
_RECORDING = frozenset({
    "print", "pprint", "pformat", "info", "debug", "warning", "log", "write", "str", "repr",
    "format", "isinstance", "len", "hasattr", "getattr", "delattr", "deepcopy", "copy", "partial",
    "dump", "dumps", "save", "safe_dump", "init_trackers", "save_hyperparameters", "log_params",
    "add_text", "add_hparams", "log_hyperparams",
})  # fmt: skip
"""Functions that write settings down, or hand them on to nobody else."""
_READING = frozenset({"getattr", "partial"})
"""Those of them that may use what they get."""
_RECORDERS = ("wandb.init", "wandb.config.update", "swanlab.init", "deepspeed.initialize")
_HIDDEN = regex(
    r"_get_kwargs\(|\bdir\(|\bsys\.argv|\bimport_module\(|\b__import__\("
    r"|(?<![.\w])(?:exec|eval)\([^\n]{0,300}\b(?:args|opts?|hparams|options|FLAGS|flags|open)\b"
)
"""Texts of programs that may read settings by names which they do not write."""
_COMMENT = regex(r"^[ \t]*#[^\n]*", re.MULTILINE)
"""A line that is a comment."""
_DEFINITION = regex(
    r"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+(\w+)|class[ \t]+(\w+)[ \t]*(?:\(([^)]*)\))?)",
    re.MULTILINE,
)
_OPEN_BASES = frozenset({
    "", "object", "ABC", "Module", "Dataset", "IterableDataset", "Sampler", "LightningModule",
    "LightningDataModule", "Callback", "Process", "Thread",
})  # fmt: skip
"""Base classes that read no settings."""


def never_read(run: RunEnvironment) -> Iterator[tuple[Option, ast.Call, ParsedPython]]:
    """The options of a launch that choose a precision and that no code of its program asks for."""
    if run.launch is None:
        return
    for name, option in run.words.items():
        value = option.value
        if UNKNOWN in option.text or str(value).lower() in _NOTHING:
            continue
        found = declared_in_vain(name, run.program) if chooses_precision(name, value) else None
        if found is not None:
            file, call = found
            yield option, call, file


def declared_in_vain(name: str, program: Program) -> tuple[ParsedPython, ast.Call] | None:
    """The call that declares an option which nothing reads; None if something may read it."""
    found = program.argument(name)
    if found is None:
        return None
    _, call = found
    if _action(call) not in _PLAIN or _is_read(_destination(call, name), program):
        return None
    return found if _is_in_sight(program) else None


def _action(call: ast.Call) -> str:
    match keyword_of(call, "action"):
        case ast.Constant(value=str(name)):
            return name
        case node:
            return last_name(node)


def _destination(call: ast.Call, name: str) -> str:
    match keyword_of(call, "dest"):
        case ast.Constant(value=str(given)):
            return given
    return name


def _is_read(name: str, program: Program) -> bool:
    """True if code of a program has an attribute of a name, or a text of it that is no key."""
    word = re.escape(name)
    pattern = re.compile(rf"\.\s*{word}\b|([\"']){word}\1(?!\s*:)|\b{word}\s*:=")
    return any(
        pattern.search(text) and pattern.search(_COMMENT.sub("", text)) for text in _texts(program)
    )


def _paths(program: Program) -> tuple[Path, ...]:
    return program.fact("paths", lambda: tuple(program_of(program.path, program.project)))


def _texts(program: Program) -> tuple[str, ...]:
    """The text of each file of a program."""
    text = program.project.config_files.text
    return program.fact("texts", lambda: tuple(map(text, _paths(program))))


def _is_in_sight(program: Program) -> bool:
    """True if all that is done with the namespace of a program is seen."""
    return program.fact("namespaces in sight", lambda: _are_seen(program))


def _are_seen(program: Program) -> bool:
    texts = _texts(program)
    if not texts or any(map(_HIDDEN.search, texts)):
        return False
    parsers = [name for file in program.files for name in _parsed(file)]
    if not parsers or not program.calls("ArgumentParser"):
        return False
    defined = _defined(program)
    names = _NAMESPACES.union(parsers)
    mentioned = re.compile(rf"\bvars\(|__dict__|\b(?:{'|'.join(sorted(names))})\b")
    for path, text in zip(_paths(program), texts, strict=True):
        file = program.project.module(path) if mentioned.search(text) else None
        if file is not None and not _is_seen_in(file, names, defined):
            return False
    return True


def _defined(program: Program) -> frozenset[str]:
    """The functions of a program, and its classes whose bases are known as well, also by the other
    names that they get.
    """
    functions: set[str] = set()
    classes: dict[str, set[str]] = {}
    for text in _texts(program):
        for function, owner, bases in _DEFINITION.findall(text):
            if function:
                functions.add(function)
            else:
                names = (each.strip() for each in bases.split(",") if "=" not in each)
                classes[owner] = {name.rpartition(".")[2] for name in names}
    known = _OPEN_BASES | {name for name, bases in classes.items() if bases <= _OPEN_BASES}
    inherited = {name for name, bases in classes.items() if bases <= known}
    found = functions | inherited
    others = {
        other
        for file in program.files
        for name, names in other_names(file).items()
        if name in found
        for other in names
    }
    return frozenset(found | others) - {"__init__"}


@fact
def _parsed(file: ParsedPython) -> tuple[str, ...]:
    """The names that a file gives to what a parser returns."""
    syntax = syntax_tree(file)
    found: list[str] = []
    for call in (*syntax.calls("parse_args"), *syntax.calls("parse_known_args")):
        parent = syntax.parent(call)
        for target in parent.targets if isinstance(parent, ast.Assign) else ():
            first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
            found.append(last_name(first))
    return tuple(filter(None, found))


def _is_seen_in(file: ParsedPython, names: frozenset[str], defined: frozenset[str]) -> bool:
    syntax = syntax_tree(file)
    for node in file.nodes:
        match node:
            case ast.Call(func=ast.Name(id="vars")) | ast.Attribute(attr="__dict__"):
                if not (_is_recorded(node, syntax, defined) or _is_told(node, syntax, defined)):
                    return False
            case ast.Call(args=args, keywords=keywords):
                given = [*args, *(each.value for each in keywords)]
                if any(_is_namespace(each, names) for each in given) and not (
                    _is_known(node, syntax, defined)
                ):
                    return False
                if last_name(node.func) in ("getattr", "setattr") and not (
                    _is_of_text(node, names) or _is_recorded(node, syntax, defined)
                ):
                    return False
            case ast.keyword(arg=None, value=value) if _is_namespace(value, names):
                return False
    return True


def _is_namespace(node: ast.expr, names: frozenset[str]) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and last_name(node) in names


def _is_known(call: ast.Call, syntax: SyntaxTree, defined: frozenset[str]) -> bool:
    """True for a call of what the program defines, of torch, or of what writes settings down."""
    name = last_name(call.func)
    if name in defined or name in _RECORDING or _is_above(call, syntax, defined):
        return True
    if qualified(call.func, syntax.names).startswith("torch."):
        return True
    return ast.unparse(call.func).endswith(_RECORDERS)


def _is_above(call: ast.Call, syntax: SyntaxTree, defined: frozenset[str]) -> bool:
    """True for `super().__init__(args)` in a class whose bases are known."""
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
            owner = enclosing_class(call, syntax)
            return owner is not None and owner.name in defined
    return False


def _is_told(node: ast.expr, syntax: SyntaxTree, defined: frozenset[str]) -> bool:
    """True for a loop that writes each setting down, `for name, value in vars(args).items()`, and
    for one over the names alone, `for name in vars(args)`.
    """
    method = syntax.parent(node)
    call = syntax.parent(method) if isinstance(method, ast.Attribute) else None
    is_method = isinstance(method, ast.Attribute) and isinstance(call, ast.Call)
    items: ast.AST | None = call if is_method else node
    outer = syntax.parent(items) if items is not None else None
    if isinstance(outer, ast.Call) and last_name(outer.func) in ("sorted", "list"):
        items, outer = outer, syntax.parent(outer)
    if not isinstance(outer, ast.For | ast.comprehension) or outer.iter is not items:
        return False
    if not is_method or (isinstance(method, ast.Attribute) and method.attr == "keys"):
        return isinstance(outer.target, ast.Name)
    match outer.target:
        case ast.Tuple(elts=[ast.Name(), ast.Name(id=value)]):
            scope = syntax.function(node) or syntax.tree
            inside = {id(each) for each in ast.walk(syntax.parent(outer) or outer)}
            inside |= {id(each) for each in ast.walk(outer)}
            reads = [each for each in syntax.reads(scope, value) if isinstance(each, ast.expr)]
            return all(_is_recorded(each, syntax, defined) for each in reads if id(each) in inside)
    return False


def _is_recorded(node: ast.expr, syntax: SyntaxTree, defined: frozenset[str]) -> bool:
    """True for `vars(args)` that is written down, `json.dump(vars(args), stream)`, or becomes a
    part of a text.
    """
    is_text = False
    inner: ast.AST = node
    outer = syntax.parent(node)
    while outer is not None and not isinstance(outer, ast.stmt):
        is_text = is_text or isinstance(outer, ast.FormattedValue)
        if isinstance(outer, ast.Call) and outer.func is not inner:
            name = last_name(outer.func)
            if not (name in ("dict", "sorted") or (is_text and name in ("append", "join"))):
                is_own = name in defined or name in _READING
                return not is_own and _is_known(outer, syntax, frozenset())
        inner, outer = outer, syntax.parent(outer)
    return is_text


def _is_of_text(call: ast.Call, names: frozenset[str]) -> bool:
    """True for an attribute with a name that is written, or of something else than settings."""
    match call.args:
        case [_, ast.Constant(), *_]:
            return True
        case [holder, *_]:
            return not _is_namespace(holder, names)
    return True
