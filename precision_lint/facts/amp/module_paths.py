"""Which modules the variables of a file are or hold: what an optimizer gets, what is frozen."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from precision_lint.facts.context import PythonFile
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding, enclosing_class
from precision_lint.source.python.code import code_of
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import own_nodes
from precision_lint.source.python.syntax import callee_name, dotted, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_OF_MODULES = frozenset(
    {
        "parameters", "named_parameters", "modules", "named_modules", "children", "state_dict",
        "load_state_dict", "train", "eval", "to", "cuda", "half", "bfloat16", "float",
        "requires_grad_",
    }
)  # fmt: skip
"""Methods that show that an object is a module, or holds some."""
_ADDING = regex(r"set_(?!grad)|add_|inject|insert|replace|register_|append|extend")
"""Methods that may put layers into a module, by the beginnings of their names."""
_CONFIGURATION = regex(r"(?:^|[._])config$")
"""The settings of a model, which are no module: `model.config`, `model.generation_config`."""
_UNFREEZING = regex(r"requires_grad_\(\s*(?:True\s*)?\)|requires_grad\s*=\s*(?!=|False\b)")
_WIDE = regex(r"torch\.float(?:32)?\b")
_MOVING = frozenset({"to", "cuda", "cpu", "half", "bfloat16", "float", "train", "eval"})
"""Methods that return their object, whatever they are given."""


@frozen(eq=False)
class _Freezing:
    """A statement that freezes parameters, and what these are of."""

    node: ast.AST
    owners: frozenset[str]


def may_freeze(given: ast.expr, file: PythonFile) -> bool:
    """True if the file may freeze some of what an optimizer or a trainer is given.

    What another function freezes may be a part of it, but for two attributes of one object.
    """
    syntax = syntax_tree(file)
    scope, owner = syntax.function(given), enclosing_class(given, syntax)
    trained = _related(_paths(given), file)
    for freezing in _freezings(file):
        is_same_object = (
            owner is not None
            and owner is enclosing_class(freezing.node, syntax)
            and all(each.startswith("self.") for each in freezing.owners)
        )
        if not is_same_object and syntax.function(freezing.node) is not scope:
            if _is_of_another_part(freezing, given, file):
                continue
            return True
        if not freezing.owners or _meet(_related(freezing.owners, file), trained):
            return True
    return False


def may_freeze_all(given: ast.expr, file: PythonFile) -> bool:
    """True if the file may freeze all that an optimizer gets, and trains no part of it again."""
    if _UNFREEZING.search(code_of(file)) is not None:
        return False
    return any(_may_cover(freezing, given, file) for freezing in _freezings(file))


def _may_cover(freezing: _Freezing, given: ast.expr, file: PythonFile) -> bool:
    """True for the freezing of an object that an optimizer gets, or gets a part of."""
    syntax, trained = syntax_tree(file), {*_paths(given)}
    if not freezing.owners:
        return True
    if syntax.function(freezing.node) is syntax.function(given):
        return any(f"{one}.".startswith(f"{each}.") for one in trained for each in freezing.owners)
    owner = enclosing_class(freezing.node, syntax)
    if owner is None or not any("." in path for path in trained):
        return False
    is_its_own = owner is enclosing_class(given, syntax)
    holders = {path.partition(".")[0] for path in trained}
    makes_it = any(
        _makes(value, owner.name) for one in holders for value in _values(one, given, syntax)
    )
    return (is_its_own or makes_it) and not _is_of_another_part(freezing, given, file)


def may_add_layers(given: ast.expr, file: PythonFile) -> bool:
    """True if the file may put layers into a model that an optimizer gets, after it was made.

    They have a dtype of their own, and may be all that is trained of a model that is frozen.
    """
    trained = _related(_paths(given), file)
    for node in file.nodes:
        match node:
            case ast.Assign(targets=targets, value=value) if not isinstance(value, ast.Constant):
                holders = (each.value for each in targets if isinstance(each, ast.Attribute))
                if any(_is_in(each, trained, file) for each in holders):
                    return True
            case ast.Call(func=ast.Attribute(value=holder, attr=name)) if _ADDING.match(name):
                if _is_in(holder, trained, file):
                    return True
            case ast.Call(func=ast.Name(id="setattr"), args=[holder, *_]):
                if _is_in(holder, trained, file):
                    return True
    return False


def _is_in(holder: ast.expr, trained: frozenset[str], file: PythonFile) -> bool:
    """True for one of some modules, and for a module that is taken out of one."""
    path = dotted(holder)
    if path is None or path == "self" or _CONFIGURATION.search(path) is not None:
        return False
    return _meet(_related([path], file), trained)


def _is_of_another_part(freezing: _Freezing, given: ast.expr, file: PythonFile) -> bool:
    """True if a class freezes one part of itself, and an optimizer gets others of its object.

    `self.encoder.requires_grad_(False)`, and `model.projector.parameters()`.
    """
    syntax, trained = syntax_tree(file), {*_paths(given)}
    owner = enclosing_class(freezing.node, syntax)
    if owner is None or not freezing.owners or not trained:
        return False
    if not all(path.startswith("self.") for path in freezing.owners):
        return False
    frozen_parts = _made_of(freezing.owners, file)
    for path in trained:
        holder, _, rest = path.partition(".")
        values = _values(holder, given, syntax)
        if not rest or not values or not all(_makes(value, owner.name) for value in values):
            return False
        if not frozen_parts.isdisjoint(_made_of({f"self.{rest.partition('.')[0]}"}, file)):
            return False
    return True


def _values(name: str, used: ast.expr, syntax: SyntaxTree) -> list[ast.expr]:
    """What a variable is assigned, if all assignments are plain."""
    read = next(
        (each for each in walk(used) if isinstance(each, ast.Name) and each.id == name), None
    )
    held = None if read is None else binding(read, syntax)
    return held if isinstance(held, list) else []


def _makes(value: ast.expr, name: str) -> bool:
    """True for a call of a class, which may be moved at once: `Net(base).to(device)`."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr not in _MOVING:
            return False
        value = value.func.value
    return isinstance(value, ast.Call) and callee_name(value) == name


def _made_of(paths: Iterable[str], file: PythonFile) -> frozenset[str]:
    """Some attributes of an object, and all that they were made of."""
    sources, seen, waiting = _sources(file), set[str](), [*paths]
    while waiting:
        path = waiting.pop()
        if path and path != "self" and path not in seen:
            seen.add(path)
            waiting += (*sources.get(path, ()), path.rpartition(".")[0])
    return frozenset(seen)


def takes_part(call: ast.Call, given: ast.expr, file: PythonFile) -> bool:
    """True if a call makes a module that an optimizer is given, gets it, or is a method of it."""
    if callee_name(call) in _OF_MODULES:
        return False
    trained = _related(_paths(given), file)
    if _meet(_related(_paths(call), file), trained):
        return True
    statement = syntax_tree(file).parent(call)
    while isinstance(statement, ast.expr):
        statement = syntax_tree(file).parent(statement)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(trained & {*_paths(each)} for each in targets)


def is_widened(given: ast.expr, file: PythonFile) -> bool:
    """True if the file casts a module that an optimizer is given to float32: `model.float()`."""
    trained = _related(_paths(given), file)
    return any(
        _meet(_related([owner], file), trained)
        for method in ("float", "to", "type")
        for call in syntax_tree(file).calls(method)
        if isinstance(call.func, ast.Attribute) and (owner := dotted(call.func.value)) is not None
        if (method == "float" or _WIDE.search(ast.unparse(call)) is not None)
    )


def optimized_parts(given: ast.expr, before: int, file: PythonFile) -> frozenset[str]:
    """The parts of modules (`model.head`) whose parameters an optimizer gets, in one function.

    A list may be made of them. They are taken before an offset, so that what is done to the whole
    from there on is done to them: layers that are added later stay as they are made. What is cast
    to float32 again is left out.
    """
    syntax = syntax_tree(file)
    body = syntax.body(given)
    asked = {
        path
        for name in ("parameters", "named_parameters")
        for call in syntax.calls(name)
        if syntax.body(call) is body and isinstance(call.func, ast.Attribute)
        if (path := dotted(call.func.value)) is not None and file.span_of(call).end < before
    }
    parts = frozenset(path for path in asked & _related(_paths(given), file) if "." in path)
    if not parts or any(_changes_data(node) for node in own_nodes(body)):
        return frozenset()
    cast = _cast_in(body, file)
    return frozenset(path for path in parts if not _meet(frozenset({path}), cast))


def _changes_data(node: ast.AST) -> bool:
    """True for `parameter.data = …`, and for a function that casts what is trained."""
    match node:
        case ast.Assign(targets=[ast.Attribute(attr="data")]):
            return True
        case ast.Call():
            return callee_name(node) == "cast_training_params"
    return False


def _cast_in(body: ast.AST, file: PythonFile) -> frozenset[str]:
    """The parts of modules that a function casts one by one."""
    syntax = syntax_tree(file)
    found: set[str] = set()
    for method in ("to", "float", "type"):
        for call in syntax.calls(method):
            is_cast = re.search(r"dtype|float", ast.unparse(call)) is not None
            if is_cast and syntax.body(call) is body and isinstance(call.func, ast.Attribute):
                owners = _owners(call.func.value, syntax)
                found |= {path for path in owners if "." in path}
    return frozenset(found)


@fact
def _freezings(file: PythonFile) -> tuple[_Freezing, ...]:
    return tuple(_found(file))


def _found(file: PythonFile) -> Iterator[_Freezing]:
    syntax = syntax_tree(file)
    for call in syntax.calls("requires_grad_"):
        given = (*call.args, *(keyword.value for keyword in call.keywords))
        if any(isinstance(each, ast.Constant) and each.value is False for each in given):
            owner = call.func.value if isinstance(call.func, ast.Attribute) else call
            yield _Freezing(call, _owners(owner, syntax))
    for call in file.nodes_of(ast.Call):
        is_made = qualified(call.func, syntax.names).startswith("torch.")  # a tensor of its own
        if not is_made and any(map(_turns_off, call.keywords)):
            yield _Freezing(call, frozenset(_paths(call)))
    for node in file.nodes_of(ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=owner, attr="requires_grad")]) if (
                isinstance(node.value, ast.Constant) and node.value.value is False
            ):
                yield _Freezing(node, _owners(owner, syntax))


def _turns_off(keyword: ast.keyword) -> bool:
    """True for `set_grad(model, requires_grad=False)`."""
    match keyword:
        case ast.keyword(arg="requires_grad", value=ast.Constant(value=False)):
            return True
    return False


def _owners(node: ast.expr, syntax: SyntaxTree) -> frozenset[str]:
    """What is frozen: of the variable of a loop, what the loop runs over."""
    loops = [each for each in syntax.within_function(node) if isinstance(each, ast.For)]
    own = next((each for each in loops if dotted(node) in {*_paths(each.target)}), None)
    return frozenset(_paths(node if own is None else own.iter))


def _meet(some: frozenset[str], others: frozenset[str]) -> bool:
    """True if one of some objects is one of the others, or a part of one."""
    return any(
        f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
        for one in some
        for other in others
    )


def _related(paths: Iterable[str], file: PythonFile) -> frozenset[str]:
    """The modules that some objects are, and those that they were made of or taken from."""
    sources, modules = _sources(file), _modules(file)
    seen: set[str] = set()
    waiting = [*paths]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += sources.get(path, ())
            if (holder := path.rpartition(".")[0]) and holder != "self":
                waiting.append(holder)
    return frozenset(seen & modules)


@fact
def _modules(file: PythonFile) -> frozenset[str]:
    """What a file treats as a module, and what holds such objects."""
    found: set[str] = set()
    syntax = syntax_tree(file)
    for method in _OF_MODULES:
        for call in syntax.calls(method):
            path = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else None
            while path and path != "self":
                found.add(path)
                path = path.rpartition(".")[0]
    return frozenset(found)


@fact
def _sources(file: PythonFile) -> Mapping[str, frozenset[str]]:
    """What each variable and attribute is made of or taken from, wherever it is assigned."""
    found: dict[str, set[str]] = {}
    for target, value in _bound(file):
        of_value = {*_paths(value)}
        for path in _paths(target):
            is_handed_through = isinstance(target, ast.Tuple) and path in of_value
            found.setdefault(path, set()).update({path} if is_handed_through else of_value)
    return {path: frozenset(of) for path, of in found.items()}


def _bound(file: PythonFile) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in file.nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from ((target, value) for target in targets)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield target, value
            case ast.AugAssign(target=target, value=value):
                yield target, value
            case ast.comprehension(target=target, iter=value):
                yield target, value
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                yield target, value
            case ast.Call(
                func=ast.Attribute(value=holder, attr="append" | "extend" | "update"), args=[given]
            ):
                yield holder, given


def _paths(node: ast.AST) -> Iterator[str]:
    """The variables and attributes that an expression is made of; a copy has its own parameters."""
    match node:
        case ast.Call() if callee_name(node) == "deepcopy":
            return
        case ast.Call(func=ast.Attribute(value=owner, attr=method)):
            yield from _paths(owner)
            if method not in _MOVING:
                yield from _of_arguments(node)
        case ast.Call(func=ast.Name()):
            yield from _of_arguments(node)
        case ast.Name() | ast.Attribute() if (path := dotted(node)) is not None:
            yield path
        case _:
            for inner in ast.iter_child_nodes(node):
                yield from _paths(inner)


def _of_arguments(call: ast.Call) -> Iterator[str]:
    for given in (*call.args, *(keyword.value for keyword in call.keywords)):
        yield from _paths(given)
