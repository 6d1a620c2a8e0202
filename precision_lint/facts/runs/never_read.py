"""Options of precision that a program declares and never asks for.

Only those of argparse, and only where the values of its parser are seen to be read one by one: who
gets the namespace as a whole, out of sight or as a table, may read any of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
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
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name, positional_parameters, qualified
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
_KEEPING = frozenset({"partial", "deepcopy", "copy"})
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
    file, call = found
    if _action(call) not in _PLAIN:
        return None
    reads = _reading(_destination(call, name))
    if file.text.path == program.path and _stays_at_home(program):
        return None if reads(file.text.text) else found
    if any(map(reads, _texts(program))):
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


def _reading(name: str) -> Callable[[str], bool]:
    """Whether code has an attribute of a name, or a text of it that is no key."""
    word = re.escape(name)
    pattern = re.compile(rf"\.\s*{word}\b|([\"']){word}\1(?!\s*:)|\b{word}\s*:=")

    def reads(text: str) -> bool:
        is_there = pattern.search(text) is not None
        return is_there and pattern.search(_COMMENT.sub("", text)) is not None

    return reads


def _paths(program: Program) -> tuple[Path, ...]:
    return program.fact("paths", lambda: tuple(program_of(program.path, program.project)))


def _texts(program: Program) -> tuple[str, ...]:
    """The text of each file of a program."""
    text = program.project.config_files.text
    return program.fact("texts", lambda: tuple(map(text, _paths(program))))


def _is_in_sight(program: Program) -> bool:
    """True if all that is done with the namespace of a program is seen."""
    return program.fact("namespaces in sight", lambda: _are_seen(program))


def _stays_at_home(program: Program) -> bool:
    """True if the namespace of a program does not leave the file that is started, whose code reads
    it attribute by attribute: no other file can read it.
    """
    return program.fact("namespace at home", lambda: _is_at_home(program))


def _is_at_home(program: Program) -> bool:
    file = program.project.module(program.path)
    parsing = [each for each in program.files if _parsed(each)]
    if file is None or parsing != [file] or _HIDDEN.search(file.text.text):
        return False
    syntax = syntax_tree(file)
    parse = (*syntax.calls("parse_args"), *syntax.calls("parse_known_args"))
    if any(keyword.arg == "namespace" for call in parse for keyword in call.keywords):
        return False  # an object that others may have gets the options
    stem = re.escape(program.path.stem)
    own = re.compile(rf"\b(?:from|import)[ \t]+(?:[\w.]*\b{stem}|__main__)\b|\bsys\.argv\b")
    others = (path for path in _paths(program) if path != program.path)
    if any(own.search(program.project.config_files.text(path)) for path in others):
        return False
    names = _NAMESPACES.union(_parsed(file))
    functions = {
        node.name: node
        for node in file.tree.body
        if isinstance(node, FunctionDefinition) and not node.decorator_list
    }
    return _is_seen_in(file, names, frozenset(functions)) and not any(
        _escapes(node, names, functions, syntax) for node in file.nodes
    )


def _escapes(
    node: ast.AST,
    names: frozenset[str],
    functions: Mapping[str, FunctionDefinition],
    syntax: SyntaxTree,
) -> bool:
    """True for a namespace that is kept under another name, or in something else."""
    if not (isinstance(node, ast.Name | ast.Attribute) and last_name(node) in names):
        return False
    match syntax.parent(node):
        case ast.Assign(targets=targets, value=value) if value is node:
            return not all(isinstance(each, ast.Name) and each.id in names for each in targets)
        case ast.Return():
            function = syntax.function(node)
            calls = syntax.calls(getattr(function, "name", ""))
            return not all(_is_kept(call, names, syntax) for call in calls)
        case ast.keyword(arg=str(given)) as keyword:
            call = syntax.parent(keyword)
            return isinstance(call, ast.Call) and _is_lost(call, given, names, functions)
        case ast.Call(args=args) as call if node in args:
            return _is_lost(call, args.index(node), names, functions)
        case (
            ast.List() | ast.Set() | ast.Dict() | ast.Starred() | ast.IfExp() | ast.BoolOp()
            | ast.AnnAssign() | ast.NamedExpr() | ast.Yield() | ast.Lambda() | ast.Tuple()
        ):  # fmt: skip
            return True
    return False


def _is_kept(call: ast.Call, names: frozenset[str], syntax: SyntaxTree) -> bool:
    """True for `args = parse_args()`."""
    match syntax.parent(call):
        case ast.Assign(targets=targets):
            return all(isinstance(each, ast.Name) and each.id in names for each in targets)
    return False


def _is_lost(
    call: ast.Call,
    at: int | str,
    names: frozenset[str],
    functions: Mapping[str, FunctionDefinition],
) -> bool:
    """True for a call that may keep a namespace, but by a parameter with the name of one."""
    name = last_name(call.func)
    function = functions.get(name)
    if function is None:
        return name in _KEEPING
    if not isinstance(call.func, ast.Name):
        return True
    taken = [each.arg for each in positional_parameters(function.args)]
    given = taken[at] if isinstance(at, int) and at < len(taken) else at
    return given not in names


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
                    _is_of_text(node, names)
                    or (_is_of_loop(node, syntax) and _is_recorded(node, syntax, defined))
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


def _is_of_loop(call: ast.Call, syntax: SyntaxTree) -> bool:
    """True for `getattr(args, name)` in a loop over all names: `for name in vars(args)`."""
    match call.args:
        case [_, ast.Name(id=name), *_]:
            stores = syntax.stores(syntax.function(call) or syntax.tree, name)
            loops = [syntax.parent(store) for store in stores]
            return bool(loops) and all(
                isinstance(each, ast.For | ast.comprehension)
                and any(
                    isinstance(part, ast.Call) and last_name(part.func) == "vars"
                    for part in ast.walk(each.iter)
                )
                for each in loops
            )
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
