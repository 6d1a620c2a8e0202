"""What a program does with the namespaces of its parsers: whether all of it is seen.

A namespace is known by its name: what a parser returns is given one, and what is assigned or given
from one to a parameter has another.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from precision_lint.facts.runs.code.ways import definitions
from precision_lint.facts.runs.code.written_down import (
    RECORDING,
    is_known,
    is_listed,
    is_of_loop,
    is_recorded,
)
from precision_lint.facts.runs.interpreter.imported_by_name import program_of
from precision_lint.facts.runs.interpreter.program import (
    Program,
    is_of_object,
    keyword_of,
    other_names,
)
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import given_by_position
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name, named_parameters, positional_parameters
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_NAMESPACES = frozenset({"args", "opt", "opts", "FLAGS", "flags", "hparams", "hparam", "options"})
"""Names of what a parser returns, next to those that a program gives it."""
_COPYING = frozenset({"deepcopy", "copy"})
_KEEPING = _COPYING | {"partial"}
_SAVING = frozenset({"dump", "dumps", "safe_dump", "save", "init_trackers", "save_hyperparameters"})
_SAVERS = ("wandb.init", "wandb.config.update", "swanlab.init")
"""Functions whose program, or another one, may load what they get."""
_MOST_ROUNDS = 8
"""How often a namespace may get another name on its way."""
_HIDDEN = regex(
    r"_get_kwargs\(|\bdir\("
    r"|\bsys\.argv(?!(?:(?<=\bmain\(sys\.argv)|(?<=\bparse_args\(sys\.argv))\[1:\]\))"
    r"|\bimport_module\(|\b__import__\("
    r"|(?<![.\w])(?:exec|eval)\([^\n]{0,300}\b(?:args|opts?|hparams|options|FLAGS|flags|open)\b"
)
"""Texts of programs that may read settings by names which they do not write: `main(sys.argv[1:])`
gives a function the words, which parses them.
"""
_OF_STARTED = regex(r"\b(?:from|import)[ \t]+__main__\b|\bsys\.(?:argv\b|modules\[[\"']__main__)")
"""How a module gets at the file that is started, or at its words."""
_DEFINITION = regex(
    r"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+(\w+)|class[ \t]+(\w+)[ \t]*(?:\(([^)]*)\))?)",
    re.MULTILINE,
)
_OPEN_BASES = frozenset({
    "", "object", "ABC", "Module", "Dataset", "IterableDataset", "Sampler", "LightningModule",
    "LightningDataModule", "Callback", "Process", "Thread",
})  # fmt: skip
"""Base classes that read no settings."""


def _paths(program: Program) -> tuple[Path, ...]:
    return program.fact("paths", lambda: tuple(program_of(program.path, program.project)))


def texts_of(program: Program) -> tuple[str, ...]:
    """The text of each file of a program."""
    text = program.project.config_files.text
    return program.fact("texts", lambda: tuple(map(text, _paths(program))))


def is_in_sight(program: Program) -> bool:
    """True if all that is done with the namespace of a program is seen."""
    return program.fact("namespaces in sight", lambda: _are_seen(program))


def stays_at_home(program: Program) -> bool:
    """True if the namespace of a program does not leave the file that is started, whose code reads
    it attribute by attribute: no other file can read it.
    """
    return program.fact("namespace at home", lambda: _is_at_home(program))


def is_saved(program: Program) -> bool:
    """True if a program saves its namespace: it, or another program, may load that later."""
    return program.fact("namespace saved", lambda: _is_saved(program))


# Within one file


def _is_at_home(program: Program) -> bool:
    file = program.project.module(program.path)
    parsing = [each for each in program.files if _parsed(each)]
    if file is None or parsing != [file] or _HIDDEN.search(file.text.text):
        return False
    syntax = syntax_tree(file)
    for call in _parse_calls(syntax):
        target = _target(call, syntax)
        if target is not None and not isinstance(target, ast.Name):
            return False  # `tool.args = parser.parse_args()`
        if len(call.args) > 1 or keyword_of(call, "namespace") is not None:
            return False  # an object that others may have gets the options
    others = {path for path in _paths(program) if path != program.path}
    if any(_OF_STARTED.search(program.project.config_files.text(path)) for path in others):
        return False
    if others.intersection(program.project.users(program.path)):
        return False
    names = _NAMESPACES.union(_parsed(file))
    functions = {
        node.name: node
        for node in file.tree.body
        if isinstance(node, FunctionDefinition) and not node.decorator_list
    }
    defined = _defined(program)
    return _is_seen_in(file, names, frozenset(functions)) and not any(
        _escapes(node, names, functions, syntax)
        or (isinstance(node, ast.Call) and _is_of_other(node, names, defined - functions.keys()))
        for node in file.nodes
    )


def _is_of_other(call: ast.Call, names: frozenset[str], others: frozenset[str]) -> bool:
    """True for a call of what another module may define that gets one: `tool.save(args)`."""
    name = last_name(call.func)
    is_own_way = name in RECORDING and name in others
    return is_own_way and any(_is_namespace(each, names) for each in ast.walk(call))


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
            return function is None or not _is_only_kept(function, names, syntax)
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


def _is_only_kept(function: ast.AST, names: frozenset[str], syntax: SyntaxTree) -> bool:
    """True for a function that nobody else gets, and whose results have the name of a namespace:
    `args = parse_args()`.
    """
    name = getattr(function, "name", "")
    calls = syntax.calls(name)
    called = {id(call.func) for call in calls}
    mentions = (node for node in ast.walk(syntax.tree) if isinstance(node, ast.Name))
    if not name or any(each.id == name and id(each) not in called for each in mentions):
        return False
    targets = [_target(call, syntax) for call in calls]
    return all(isinstance(each, ast.Name) and each.id in names for each in targets)


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


# In all files of a program


def _are_seen(program: Program) -> bool:
    texts = texts_of(program)
    if not texts or any(map(_HIDDEN.search, texts)):
        return False
    handed = _handed(program)
    if not all(isinstance(each, ast.Name) for each in handed):
        return False
    is_parsed = bool(handed) or any(map(_parsed, program.files))
    if not is_parsed or not program.calls("ArgumentParser"):
        return False
    defined = _defined(program)
    return all(_is_seen_in(file, names, defined) for file, names in _named(program))


def _handed(program: Program) -> Sequence[ast.expr | None]:
    """What the functions of a program are assigned to that return what a parser returns; None for
    a call whose value has no name.
    """
    names = {name for file in program.files for name in _parsing(file)}
    calls = ((file, call) for name in sorted(names) for file, call in program.calls(name))
    return [
        _target(call, syntax_tree(file)) for file, call in calls if not is_of_object(call, file)
    ]


def _is_saved(program: Program) -> bool:
    return any(_saves(node, names) for file, names in _named(program) for node in file.nodes)


def _saves(node: ast.AST, names: frozenset[str]) -> bool:
    """True for a call that saves a namespace, and for an entry of what may be saved later:
    `state = {"args": args}`.
    """
    match node:
        case ast.Dict(values=values):
            return any(_is_namespace(_whole(each), names) for each in values)
        case ast.Assign(targets=[ast.Subscript()], value=value):
            return _is_namespace(_whole(value), names)
        case ast.Call():
            pass
        case _:
            return False
    called = ast.unparse(node.func)
    if last_name(node.func) not in _SAVING and not called.endswith(_SAVERS):
        return False
    return any(_is_namespace(each, names) for given in _given(node) for each in _parts(given))


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """What an expression is made of, without what has an attribute that it reads:
    `join(args.output, "a.pt")` holds one setting.
    """
    yield node
    if not isinstance(node, ast.Attribute) or node.attr == "__dict__":
        for inner in ast.iter_child_nodes(node):
            yield from _parts(inner)


def _whole(node: ast.expr) -> ast.expr:
    """What a table is of: `vars(args)`, `args.__dict__`."""
    match node:
        case ast.Call(func=ast.Name(id="vars"), args=[holder]):
            return holder
        case ast.Attribute(value=holder, attr="__dict__"):
            return holder
    return node


def keys_read(program: Program) -> frozenset[str]:
    """The keys that a program reads of a namespace, or of its table: `vars(args)["amp"]`."""

    def compute() -> frozenset[str]:
        return frozenset(
            str(node.slice.value)
            for file, names in _named(program)
            for node in file.nodes_of(ast.Subscript)
            if isinstance(node.slice, ast.Constant) and _is_namespace(_whole(node.value), names)
        )

    return program.fact("keys of namespaces", compute)


def _named(program: Program) -> Sequence[tuple[ParsedPython, frozenset[str]]]:
    """The files of a program that mention a namespace, each with the names that it has there."""
    return program.fact("names of namespaces", lambda: tuple(_names(program)))


def _names(program: Program) -> Iterator[tuple[ParsedPython, frozenset[str]]]:
    handed = (name for one in _handed(program) if one is not None and (name := last_name(one)))
    everywhere = _NAMESPACES.union(*map(_parsed, program.files), handed)
    own: dict[Path, set[str]] = {}
    for _ in range(_MOST_ROUNDS):
        before = (everywhere, sum(map(len, own.values())))
        for file in _mentioning(everywhere, own, program):
            here = everywhere.union(own.get(file.text.path, ()))
            for path, name in _others(file, here, program):
                if path is None:
                    everywhere |= {name}
                else:
                    own.setdefault(path, set()).add(name)
        if (everywhere, sum(map(len, own.values()))) == before:
            break
    for file in _mentioning(everywhere, own, program):
        yield file, everywhere.union(own.get(file.text.path, ()))


def _mentioning(
    everywhere: frozenset[str], own: Mapping[Path, set[str]], program: Program
) -> Iterator[ParsedPython]:
    mentioned = re.compile(rf"\bvars\(|__dict__|\b(?:{'|'.join(sorted(everywhere))})\b")
    for path, text in zip(_paths(program), texts_of(program), strict=True):
        is_there = path in own or mentioned.search(text)
        file = program.project.module(path) if is_there else None
        if file is not None:
            yield file


def _others(
    file: ParsedPython, names: frozenset[str], program: Program
) -> Iterator[tuple[Path | None, str]]:
    """The other names that a file gives to namespaces, each with the file that has it; an attribute
    may be read anywhere.
    """
    for node in file.nodes:
        match node:
            case (
                ast.Assign(value=value)
                | ast.AnnAssign(value=ast.expr() as value)
                | ast.NamedExpr(value=value)
            ) if _is_namespace(_copied(value), names):
                for target in node.targets if isinstance(node, ast.Assign) else (node.target,):
                    if (name := last_name(target)) and name not in names:
                        yield (file.text.path if isinstance(target, ast.Name) else None), name
            case ast.Call() if any(_is_namespace(each, names) for each in _given(node)):
                yield from _parameters(node, names, program)


def _parameters(
    call: ast.Call, names: frozenset[str], program: Program
) -> Iterator[tuple[Path, str]]:
    """The parameters of functions of a program that get a namespace from a call."""
    name = last_name(call.func)
    for home in program.mentioning(name) if name not in RECORDING else ():
        for function in definitions(home).get(name, ()):
            taken = given_by_position(function, syntax_tree(home))
            given = [*zip(taken, call.args, strict=False)]
            known = {each.arg for each in named_parameters(function.args)}
            given += [(each.arg, each.value) for each in call.keywords if each.arg in known]
            for parameter, value in given:
                if parameter not in names and _is_namespace(_copied(value), names):
                    yield home.text.path, parameter


def _copied(node: ast.expr) -> ast.expr:
    """What an expression is, or is a copy of."""
    match node:
        case ast.Call(args=[holder]) if last_name(node.func) in _COPYING:
            return holder
    return node


def _defined(program: Program) -> frozenset[str]:
    """The functions of a program, and its classes whose bases are known as well, also by the other
    names that they get.
    """
    return program.fact("what it defines", lambda: _definitions(program))


def _definitions(program: Program) -> frozenset[str]:
    functions: set[str] = set()
    classes: dict[str, set[str]] = {}
    for text in texts_of(program):
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


def _parse_calls(syntax: SyntaxTree) -> tuple[ast.Call, ...]:
    return (*syntax.calls("parse_args"), *syntax.calls("parse_known_args"))


def _target(call: ast.Call, syntax: SyntaxTree) -> ast.expr | None:
    """What the value of a call is assigned to, the first one of several: `args, rest = …`."""
    match syntax.parent(call):
        case ast.Assign(targets=[ast.Tuple(elts=[first, *_])]):
            return first
        case ast.Assign(targets=[target]):
            return target
    return None


@fact
def _parsed(file: ParsedPython) -> tuple[str, ...]:
    """The names that a file gives to what a parser returns."""
    syntax = syntax_tree(file)
    found: list[str] = []
    for call in _parse_calls(syntax):
        parent = syntax.parent(call)
        for target in parent.targets if isinstance(parent, ast.Assign) else ():
            first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
            found.append(last_name(first))
    return tuple(filter(None, found))


@fact
def _parsing(file: ParsedPython) -> tuple[str, ...]:
    """The functions of a file that return what a parser returns, which has no name there."""
    syntax = syntax_tree(file)
    returned = (
        call for call in _parse_calls(syntax) if isinstance(syntax.parent(call), ast.Return)
    )
    functions = map(syntax.function, returned)
    return tuple(one.name for one in functions if isinstance(one, FunctionDefinition))


def _is_seen_in(file: ParsedPython, names: frozenset[str], defined: frozenset[str]) -> bool:
    syntax = syntax_tree(file)
    for node in file.nodes:
        match node:
            case ast.Call(func=ast.Name(id="vars")) | ast.Attribute(attr="__dict__"):
                if not (is_recorded(node, syntax, defined) or is_listed(node, syntax, defined)):
                    return False
            case ast.Call():
                if any(_is_namespace(each, names) for each in _given(node)) and not (
                    is_known(node, syntax, defined)
                ):
                    return False
                if last_name(node.func) in ("getattr", "setattr") and not (
                    _is_of_text(node, names)
                    or (is_of_loop(node, syntax) and is_recorded(node, syntax, defined))
                ):
                    return False
            case ast.keyword(arg=None, value=value) if _is_namespace(value, names):
                return False
    return True


def _given(call: ast.Call) -> Iterator[ast.expr]:
    """What a call gets, with the items of tables: `Process(target=run, args=(args,))`."""
    for each in (*call.args, *(each.value for each in call.keywords)):
        yield each
        match each:
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Dict(values=items):
                yield from items


def _is_namespace(node: ast.AST, names: frozenset[str]) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and last_name(node) in names


def _is_of_text(call: ast.Call, names: frozenset[str]) -> bool:
    """True for an attribute with a name that is written, or of something else than settings."""
    match call.args:
        case [_, ast.Constant(), *_]:
            return True
        case [holder, *_]:
            return not _is_namespace(holder, names)
    return True
