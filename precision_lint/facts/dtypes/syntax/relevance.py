"""Which statements of a body can matter to the question at hand; the others are not interpreted.

A backward slice: what a question reads, what is assigned to that before, and so on. Control flow is
always kept, for it decides what reaches what.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from precision_lint.facts.dtypes.syntax.mutations import elements, leaves_all, leaves_given, root
from precision_lint.facts.dtypes.syntax.scopes import changed_by, lambdas_of, own_names
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import cached_property
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import (
    Definition,
    FunctionDefinition,
    Loop,
    TryStar,
    With,
    blocks,
    bound_names,
    head,
    is_leaving,
    single_targets,
    targets,
)
from precision_lint.source.python.syntax import callee_name, last_name, with_defaults
from precision_lint.source.text.text import SourceText

BUILTINS = frozenset(
    {
        "all", "any", "bool", "dict", "enumerate", "float", "getattr", "hasattr", "int",
        "isinstance", "len", "list", "max", "min", "open", "print", "range", "repr", "reversed",
        "set", "setattr", "sorted", "str", "sum", "super", "tuple", "type", "vars", "zip",
    }
)  # fmt: skip
"""Functions of Python whose names nobody gives to anything else."""

_OF_DTYPES = regex(r"dtype|float16|bf16|autocast")

_NAME = regex(r"(?<![\w.])(?:self\.)?[^\W\d]\w*")
"""A variable, or an attribute of `self`. Words in strings are read along: a slice may be larger."""


_IN_PLACE = regex(r"\.(?:half|bfloat16|to)\(")
"""What casts a module in place, among else."""

_CONTEXT = regex(r"ctx|context|amp|precision|autocast")
"""How a region of autocast is named, or a function that returns one."""


def may_open_autocast(context: ast.expr, source: SourceText) -> bool:
    """True for what may hold a region of autocast: `with ctx:`, `with get_context(args):`."""
    if "autocast" not in source.text:
        return False
    match context:
        case ast.Name() | ast.Attribute():
            return True
        case ast.Call() if is_named_as_context(context):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name)):
            return _names_autocast(name, source)
    return False


def _names_autocast(function: str, source: SourceText) -> bool:
    """True if a function of the file has the word in its body: it may return a region."""
    start = source.text.find(f"def {function}(")
    end = source.text.find("def ", start + len("def "))
    return start >= 0 and source.text.find("autocast", start, end if end >= 0 else None) >= 0


def is_named_as_context(context: ast.expr) -> bool:
    """True for `amp_ctx` and `self.autocast()`, which may be given by a file that makes regions."""
    named = context.func if isinstance(context, ast.Call) else context
    return _CONTEXT.search(last_name(named)) is not None


def context_call(node: ast.expr) -> tuple[str, ast.expr | None]:
    """The method and the context of `context.__enter__()` and of `context.__exit__(…)`.

    `stack.enter_context(context)` enters it as well.
    """
    match node:
        case ast.Call(func=ast.Attribute(attr="enter_context"), args=[context], keywords=[]):
            return "__enter__", context
        case ast.Call(func=ast.Attribute(value=context, attr="__enter__" | "__exit__" as method)):
            return method, context
    return "", None


@dataclass(eq=False)
class DefUse:
    """What a simple statement, or the head of a compound one, assigns and reads.

    Names are those of variables, and `self.name` for attributes of `self`; `self.*` is any of them.
    `casts_parameters` if it may cast parameters of modules that it does not name, `casts` are those
    that it may cast (see `casting`). What it reads is searched for on demand: a slice needs it of
    few statements. `position` is its place in the order of the body.
    """

    node: ast.stmt
    parent: ast.stmt | None
    writes: frozenset[str]
    last_row: int
    source: SourceText
    span: Span
    casts_parameters: bool
    position: int
    casts: frozenset[str] = frozenset()
    until: int = 0
    """What stands at this position or after it never runs before the statement reads.

    It is the end of the outermost loop around the statement, if there is one. What defines a
    function reads when that is called, so anything may run before.
    """

    @cached_property
    def reads(self) -> frozenset[str]:
        if isinstance(self.node, FunctionDefinition):
            return frozenset(_free_names(self.node))
        return frozenset(_NAME.findall(self.source.text, self.span.start, self.span.end))

    @cached_property
    def mentions_dtype(self) -> bool:
        """For those who want to know which names hold a dtype."""
        return _OF_DTYPES.search(self.source.text, self.span.start, self.span.end) is not None

    @cached_property
    def is_cast_in_place(self) -> bool:
        """True for `net.to(dtype)` as a statement."""
        text, span = self.source.text, self.span
        return isinstance(self.node, ast.Expr) and _IN_PLACE.search(text, *span) is not None

    @cached_property
    def given_to_objects(self) -> frozenset[str]:
        """The variables that objects are made with, by the names of their classes."""
        calls = (each for part in head(self.node) for each in walk(part))
        return frozenset(
            given.id
            for call in calls
            if isinstance(call, ast.Call) and callee_name(call)[:1].isupper()
            for given in (*call.args, *(keyword.value for keyword in call.keywords))
            if isinstance(given, ast.Name)
        )

    @property
    def reads_later(self) -> bool:
        """True for what defines a function: it reads when it is called."""
        text, span = self.source.text, self.span
        return isinstance(self.node, Definition) or text.find("lambda", *span) >= 0

    @cached_property
    def is_always_seen(self) -> bool:
        """True for what casts what is computed then: autocast, and casts of parameters."""
        if isinstance(self.node, ast.Expr) and context_call(self.node.value)[0]:
            return True
        if not isinstance(self.node, With):
            return self.casts_parameters
        return self.mentions_dtype or any(
            may_open_autocast(item.context_expr, self.source)
            or is_named_as_context(item.context_expr)
            for item in self.node.items
        )


@frozen
class Slice:
    """The statements of a body that matter to a question.

    `evaluated` are those whose own expressions matter; `entered` are those, what they stand in, and
    what changes the flow of control.
    """

    evaluated: frozenset[ast.stmt]
    entered: frozenset[ast.stmt]


def def_uses(
    body: list[ast.stmt], source: SourceText, modules: frozenset[str] = frozenset()
) -> list[DefUse]:
    """The effects of a body's statements, nested ones too, but for those of nested functions.

    `modules` are names of imported modules: no call changes them.
    """
    pending: list[tuple[ast.stmt, ast.stmt | None]] = [(node, None) for node in reversed(body)]
    found: list[DefUse] = []
    while pending:
        node, parent = pending.pop()
        found.append(_effect(node, parent, source, len(found), modules))
        if not isinstance(node, FunctionDefinition):
            for block in reversed(blocks(node)):
                pending += [(inner, node) for inner in reversed(block.body)]
    _link_entries(found)
    _order(found)
    return found


def _link_entries(effects: Iterable[DefUse]) -> None:
    """What is put into `bucket = buckets.setdefault(key, [])` is put into `buckets` as well."""
    every = [*effects]
    holders: dict[str, set[str]] = {}
    for effect in every:
        match effect.node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Attribute(value=owner, attr="setdefault")),
            ):
                effect.writes |= roots(owner)
                holders.setdefault(name, set()).update(roots(owner))
    for effect in every if holders else ():
        named = effect.writes & holders.keys()
        effect.writes = effect.writes.union(*(holders[name] for name in named))


def _order(effects: Sequence[DefUse]) -> None:
    """Record what may run before each statement reads."""
    last = {effect.node: effect.position for effect in effects}
    for effect in reversed(effects):
        if effect.parent is not None:
            last[effect.parent] = max(last[effect.parent], last[effect.node])
    until: dict[ast.stmt | None, int] = {}
    """The end of the outermost loop around what stands in a statement."""
    for effect in effects:
        end = until.get(effect.parent)
        if end is None and isinstance(effect.node, Loop):
            end = last[effect.node] + 1
        if end is not None:
            until[effect.node] = end
        effect.until = len(effects) if effect.reads_later else end or effect.position + 1


def link(
    effects: Iterable[DefUse], changed_by: Callable[[FunctionDefinition], Iterable[str]]
) -> None:
    """A statement that names a function of the body may change whatever the function changes."""
    every = list(effects)
    found = {
        effect.node.name: set(changed_by(effect.node))
        for effect in every
        if isinstance(effect.node, FunctionDefinition)
    }
    if not any(found.values()):
        return
    definitions = [effect for effect in every if isinstance(effect.node, FunctionDefinition)]
    for _ in definitions:  # functions that call each other
        before = sum(map(len, found.values()))
        for effect in definitions:
            assert isinstance(effect.node, FunctionDefinition)
            found[effect.node.name].update(*(found[name] for name in effect.reads & found.keys()))
        if sum(map(len, found.values())) == before:
            break
    for effect in every:
        effect.writes = effect.writes.union(*(found[name] for name in effect.reads & found.keys()))


class _Wanted:
    """The names that a slice reads, and the first position whose statement is too late for each."""

    def __init__(self) -> None:
        self._until: dict[str, int] = {}
        self._attribute_until = 0

    def add(self, names: Iterable[str], until: int) -> None:
        for name in names:
            if self._until.get(name, 0) < until:
                self._until[name] = until
                if name.startswith("self."):
                    self._attribute_until = max(self._attribute_until, until)

    def is_changed_by(self, effect: DefUse) -> bool:
        """True if a statement may assign or cast one of the names before it is read."""
        until, position = self._until, effect.position
        for names in (effect.writes, effect.casts):
            # The keys look up a few names; `names` would look at each of the many keys.
            if not until.keys().isdisjoint(names) and any(
                until.get(name, 0) > position for name in names
            ):
                return True
        return "self.*" in effect.writes and self._attribute_until > position


def backward_slice(found: Iterable[DefUse], is_asked: Callable[[DefUse], bool]) -> Slice:
    """The statements that what is asked depends on, and those that ask.

    What is assigned after the last statement that reads it does not count, but in a loop around it.
    What casts a module counts after an object was made with it, which holds it.
    """
    every = list(found)
    cast_in_place = [effect.writes for effect in every if effect.is_cast_in_place]
    cast = frozenset[str]().union(*cast_in_place)
    parents = {effect.node: effect.parent for effect in every}
    seen = {effect.node for effect in every if effect.is_always_seen}
    wanted = _Wanted()
    evaluated: set[ast.stmt] = set()
    entered: set[ast.stmt] = set()

    def enter(node: ast.stmt | None) -> None:
        while node is not None and node not in entered:
            entered.add(node)
            node = parents[node]

    def hold(effect: DefUse) -> bool:
        """Want what is cast after an object was made with it; true if there is such a module."""
        held = effect.given_to_objects & cast if cast else frozenset[str]()
        wanted.add(held, len(every))
        return bool(held)

    for effect in every:
        is_cast = effect.node in seen and not isinstance(effect.node, With)
        if is_asked(effect) or isinstance(effect.node, _ALWAYS) or is_cast:
            evaluated.add(effect.node)
            enter(effect.node)
            wanted.add(effect.reads | effect.writes, effect.until)
            hold(effect)
        elif is_leaving(effect.node):
            enter(effect.node)
    pending = [effect for effect in reversed(every) if effect.node not in evaluated]
    is_growing = True
    while is_growing:
        is_growing = False
        rest = []
        for effect in pending:  # the last one first: what it reads was assigned before
            is_around = effect.node in seen and effect.node in entered
            if is_around or wanted.is_changed_by(effect):
                evaluated.add(effect.node)
                enter(effect.node)
                names = effect.reads | effect.writes if is_around else effect.reads
                wanted.add(names, effect.until)
                is_growing |= hold(effect) or effect.until > effect.position + 1
            else:
                rest.append(effect)
        pending = rest
    return Slice(frozenset(evaluated), frozenset(entered))


def rows_of(found: Iterable[DefUse]) -> frozenset[int]:
    """The rows of the statements of a body: those inside of nested functions are not its own."""
    return frozenset(row for effect in found for row in _rows(effect))


def rows_within(found: Iterable[DefUse], within: Slice) -> frozenset[int]:
    """The rows of which every statement is evaluated: whatever is asked there is in the slice."""
    evaluated: set[int] = set()
    others: set[int] = set()
    for effect in found:
        rows = evaluated if effect.node in within.evaluated else others
        rows.update(_rows(effect))
    return frozenset(evaluated - others)


def _rows(effect: DefUse) -> range:
    return range(effect.node.lineno, max(effect.last_row, effect.node.lineno) + 1)


def _effect(
    node: ast.stmt,
    parent: ast.stmt | None,
    source: SourceText,
    position: int,
    modules: frozenset[str],
) -> DefUse:
    writes = set(bound_names(node))
    last_row = node.end_lineno or node.lineno
    match node:
        case ast.If(test=asked) | ast.While(test=asked) | ast.Match(subject=asked):
            last_row = asked.end_lineno or last_row
        case ast.For(iter=iterated) | ast.AsyncFor(iter=iterated):
            last_row = iterated.end_lineno or last_row
        case ast.With() | ast.AsyncWith():
            last_row = node.body[0].lineno - 1 or last_row
        case ast.Try() | TryStar():
            last_row = node.lineno
        case ast.Expr(value=ast.Call() as call):
            writes |= _changed_by(call) - modules
            writes |= {f"self.{name}" for name in kept_by(call)}
            held = (elements(parent).get(name, ()) for name in writes.copy())
            writes = writes.union(*(roots(each) for items in held for each in items))
        case ast.Assign(value=ast.Call() as call):
            writes |= _changed_by_hooks(call)
        case ast.Assert(test=test):  # it narrows what it asks about
            writes |= {each.id for each in walk(test) if isinstance(each, ast.Name)} - modules
            writes -= BUILTINS
    for target in targets(node):
        for single in single_targets(target):
            writes |= roots(single)
    span = source.span_of_rows(node.lineno, max(last_row, node.lineno))
    if source.text.find(":=", span.start, span.end) >= 0:
        inner = (child for expression in head(node) for child in walk(expression))
        writes |= {child.target.id for child in inner if isinstance(child, ast.NamedExpr)}
    if source.text.find("lambda", span.start, span.end) >= 0:
        for function in lambdas_of(node):
            writes |= set(changed_by(function.body))
    ends = node.lineno if isinstance(node, Definition) else last_row
    casts = _casts_parameters(node)
    return DefUse(node, parent, frozenset(writes), ends, source, span, casts, position)


def _free_names(node: FunctionDefinition) -> set[str]:
    """The names that a function takes from around it, its own and those in its defaults."""
    defaults = [default for _, default in with_defaults(node.args) if default is not None]
    own = own_names(node)
    inner = (name for statement in node.body for name in _names(statement) if name not in own)
    return {node.name, *inner, *(name for default in defaults for name in _names(default))}


def _names(node: ast.AST) -> Iterator[str]:
    """The variables, and attributes of `self`, that a node mentions."""
    for each in walk(node):
        match each:
            case ast.Name(id=name):
                yield name
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                yield f"self.{name}"


_CASTING = (
    "cast_training_params",
    "upcast",
    *(f"{verb}{of}32" for verb in ("to", "cast") for of in ("fp", "_fp", "float", "_float")),
)


def mentions_cast(text: str) -> bool:
    """True for text with the name of a helper that casts parameters of modules to float32."""
    lowered = text.lower()
    return any(word in lowered for word in _CASTING)


@lru_cache(maxsize=4096)
def casts_by_name(name: str) -> bool:
    """True for the name of such a helper. It is kept: the name of every call is looked up."""
    return mentions_cast(name)


def _casts_parameters(node: ast.stmt) -> bool:
    """True for `cast_training_params(models)`, and for `parameter.data = parameter.float()`."""
    match node:
        case ast.Expr(value=ast.Call() as call):
            return casts_by_name(callee_name(call))
        case ast.Assign(targets=[ast.Attribute(attr="data")], value=ast.Call() as call):
            return callee_name(call) in {"float", "to", "type"}
    return False


_REGISTERING = {
    "register_buffer": "tensor",
    "register_parameter": "param",
    "register_module": "module",
    "add_module": "module",
}
"""Methods of `nn.Module` that set an attribute by its name."""

_ALWAYS = (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Delete)


def kept_by(call: ast.expr) -> dict[str, ast.expr]:
    """The attributes of `self` that a call sets by keyword.

    A base class keeps what it is given under the same name, as `transformers.Trainer` keeps
    `model=`; `register_modules` of diffusers is there to do so.
    """
    match call:
        case (
            ast.Call(
                func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"),
                keywords=keywords,
            )
            | ast.Call(
                func=ast.Attribute(value=ast.Name(id="self"), attr="register_modules"),
                keywords=keywords,
            )
        ):
            return {each.arg: each.value for each in keywords if each.arg is not None}
    return {}


def registration(call: ast.Call) -> tuple[str, ast.expr | None] | None:
    """The name and the value of `self.register_buffer("x", tensor=x)`, and the like."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="self"), attr=method) if method in _REGISTERING:
            given = {each.arg: each.value for each in call.keywords}
            given |= dict(zip(("name", _REGISTERING[method]), call.args, strict=False))
            match given.get("name"):
                case ast.Constant(value=str(name)):
                    return name, given.get(_REGISTERING[method])
    return None


def stored_by_name(call: ast.Call) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """The object, the name and the value of `setattr(self, "x", x)`, and of `__setattr__`."""
    match call.func, call.args:
        case ast.Name(id="setattr"), [holder, name, value]:
            return holder, name, value
        case ast.Attribute(value=ast.Name(id="object"), attr="__setattr__"), [holder, name, value]:
            return holder, name, value
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__setattr__"), [
            name,
            value,
        ]:
            return ast.copy_location(ast.Name("self", ast.Load()), call), name, value
    return None


def filled_by_mapping(call: ast.Call) -> tuple[ast.expr, list[ast.expr]] | None:
    """The object and the mappings of `self.__dict__.update(options)`, `vars(self).update(…)`."""
    match call.func:
        case ast.Attribute(
            value=(
                ast.Attribute(value=holder, attr="__dict__")
                | ast.Call(func=ast.Name(id="vars"), args=[holder])
            ),
            attr="update",
        ):
            return holder, [*call.args, *(each.value for each in call.keywords if not each.arg)]
    return None


def _set_by_name(call: ast.Call) -> set[str]:
    """The attributes of `self` that `setattr` and its like may assign."""
    match stored_by_name(call):
        case ast.Name(id="self"), ast.Constant(value=str(name)), _:
            return {f"self.{name}"}
        case ast.Name(id="self"), _, _:
            return {"self.*"}
    match filled_by_mapping(call):
        case ast.Name(id="self"), _:
            return {"self.*"}
    return set()


def _changed_by(call: ast.Call) -> set[str]:
    """What a call that stands alone may change: its receiver, and what it is given."""
    changed = _set_by_name(call).union(_changed_by_hooks(call), *map(_changed_by_hooks, call.args))
    if leaves_all(call):
        return changed
    if isinstance(call.func, ast.Attribute):
        changed |= roots(call.func.value)
        if isinstance(call.func.value, ast.Name) and call.func.value.id == "self":
            changed.add("self.*")
            if (made := registration(call)) is not None:
                changed.add(f"self.{made[0]}")
    for argument in () if leaves_given(call) else call.args:
        several = argument.elts if isinstance(argument, ast.List | ast.Tuple) else [argument]
        for each in several:
            changed |= roots(each) | _changed_by_hooks(each)
    return changed


def _changed_by_hooks(node: ast.expr) -> set[str]:
    """What `module.register_forward_hook(make_hook(xs))` gives to what makes the hook."""
    name = callee_name(node) if isinstance(node, ast.Call) else ""
    if not (isinstance(node, ast.Call) and name.startswith("register_") and name.endswith("_hook")):
        return set()
    makers = [each for each in node.args if isinstance(each, ast.Call)]
    return set().union(
        *(roots(given) for maker in makers for given in maker.args),
        *(roots(given.value) for maker in makers for given in maker.keywords),
    )


def roots(node: ast.expr) -> set[str]:
    """The variable, or attribute of `self`, that an expression starts from."""
    match node:
        case ast.Name(id="self"):
            return set()
        case ast.Name(id=name):
            return {name}
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return {f"self.{name}"}
        case ast.Attribute(value=owner):
            return roots(owner)
        case ast.Subscript() | ast.Starred() | ast.Call() if (inner := root(node)) is not node:
            return roots(inner)
    return set()
