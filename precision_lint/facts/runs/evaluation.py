"""What expressions of a program come to in one run: its options, its files, constants.

Only what is needed is followed: from an argument of a call to the assignment of a name, from a
parameter to the calls of its function, from the path of a file to the file. The result is None for
what only run time knows, and where different paths give different values.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeAlias

from precision_lint.facts.amp.scalers import makes_grad_scaler
from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.runs import yacs
from precision_lint.facts.runs.answers import Answers, Dependence
from precision_lint.facts.runs.environment import RunEnvironment
from precision_lint.facts.runs.exits import exits
from precision_lint.facts.runs.hydra import configuration
from precision_lint.facts.runs.known import (
    Given,
    Holder,
    Items,
    Known,
    Options,
    Thing,
    agreed,
    equal,
    truth,
)
from precision_lint.facts.runs.objects import WRAPPED, Objects, display
from precision_lint.facts.runs.program import Program
from precision_lint.facts.runs.reaching import reached
from precision_lint.facts.runs.returns import Returns
from precision_lint.facts.runs.variables import Walk, changes
from precision_lint.facts.settings import holds_settings
from precision_lint.facts.settings.vocabulary import names_precision
from precision_lint.model.dtypes import ALIASES, DtypeName
from precision_lint.model.memo import T
from precision_lint.source.python.bindings import attribute, enclosing_class
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import (
    callee_name,
    last_name,
    named_parameters,
    parameters,
    qualified,
    with_defaults,
)
from precision_lint.source.python.syntax_tree import Scope, SyntaxTree, syntax_tree

_MAX_STEPS = 3_000
_MAX_DEPTH = 24
_MAX_CALLS = 8
"""Calls of one function that must agree on an argument."""

_LOADING = frozenset({
    "yaml.load", "yaml.safe_load", "yaml.full_load", "json.load", "json.loads", "toml.load",
    "toml.loads", "tomllib.load", "tomli.load", "omegaconf.OmegaConf.load", "YAML.load",
})  # fmt: skip
_OPENING = frozenset({
    "open", "Path", "read_text", "read_bytes", "read", "expanduser", "resolve", "abspath",
    "realpath",
})  # fmt: skip
_VARIABLES = frozenset({"os.environ.get", "os.getenv"})
_WRAPPING = frozenset({
    "Namespace", "SimpleNamespace", "EasyDict", "edict", "DictConfig", "Box", "AttrDict", "Munch",
    "munchify", "DotMap", "create", "to_container", "vars", "asdict", "dict", "deepcopy", "copy",
    "str", "bool", "int", "DefaultMunch", "ConfigDict",
})  # fmt: skip
_MAKING = frozenset({
    "dict", "Namespace", "SimpleNamespace", "EasyDict", "edict", "AttrDict", "Munch", "ConfigDict",
})  # fmt: skip
_COMMANDS = frozenset({"command", "option", "main", "callback", "autocommand"})
_STARTERS = frozenset({"Fire", "run", "cli", "CLI", "auto_cli"})

_AVAILABLE = {"torch.cuda.is_available": True, "torch.backends.mps.is_available": False}
"""The runs that are judged have a GPU."""
_PROCESSES = {"spawn": 1, "start_processes": 1, "Process": 0, "Thread": 0, "launch": 0}
"""What starts a function, and how many arguments of its own it gives first."""

_NOTHING = object()
_Store: TypeAlias = "tuple[ParsedPython, ast.expr]"
_RunningStore: TypeAlias = "tuple[bool | None, ParsedPython, ast.expr]"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an expression is, and what the parameters of its function are given."""

    file: ParsedPython
    given: Mapping[str, Known | None] = field(default_factory=dict)
    depth: int = 0
    bound: Mapping[str, Known] = field(default_factory=dict)
    """What the variables of a loop are."""

    def deeper(self) -> _Place:
        return replace(self, depth=self.depth + 1)

    def with_names(self, bound: Mapping[str, Known] | None) -> _Place:
        """The same place in one pass of a loop."""
        return replace(self, bound={**self.bound, **bound}) if bound else self

    @property
    def syntax(self) -> SyntaxTree:
        return syntax_tree(self.file)


@dataclass(frozen=True, eq=False)
class Miss:
    """A value of a setting that the program has no use for, and the error that it raises."""

    known: Known
    node: ast.expr | ast.stmt
    file: ParsedPython
    error: str
    accepted: tuple[str, ...] = ()


@dataclass(eq=False)
class Evaluator:
    """Evaluates expressions in one run; each question has a budget."""

    _run: RunEnvironment
    _steps: int = 0
    _depth: int = 0
    """How many questions wait for the one that is answered now."""
    missed: list[Miss] = field(default_factory=list)
    """The values of settings for which an expression raises."""

    def __post_init__(self) -> None:
        self._now = Dependence()
        self._values: Answers[Known] = Answers(self._run, self._now, "values")
        """What expressions came to where no call gives anything."""
        self._reaching: dict[int, Answers[bool]] = {}
        """Which functions are called, by how many calls are followed."""

    @property
    def program(self) -> Program:
        """The program, whatever the run."""
        return self._run.program

    @property
    def run(self) -> RunEnvironment:
        """The run: what is worked out with it holds for no other one."""
        self._now.is_of_run = True
        return self._run

    @property
    def options(self) -> Known:
        """The options of the program, as the declarations of its parsers say."""
        return Known(Options(self.option, self._declares))

    def option(self, name: str) -> Known | None:
        """An option by its name. What is worked out holds for all runs that do not give it."""
        self._now.names.add(name)
        return self._run.option(name)

    def _declares(self, name: str) -> bool:
        self._now.names.add(name)
        return self._run.declares(name)

    def _items(self, name: str) -> Items | None:
        self._now.names.add(name)
        return self._run.items(name)

    def value(self, node: ast.expr, file: ParsedPython) -> Known | None:
        """What an expression of a file of the program comes to."""
        if not self._depth:
            self._steps = 0
        self._depth += 1
        known = self._value(node, _Place(file))
        self._depth -= 1
        return known

    def noting(self, work: Callable[[], T]) -> tuple[T, tuple[Occurrence, ...]]:
        """What some work comes to, and the settings that are read for it."""
        before, self._now.read = self._now.read, {}
        result = work()
        found, self._now.read = self._now.read, before
        return result, tuple(found.values())

    def truth(self, node: ast.expr, file: ParsedPython) -> bool | None:
        """Whether a condition holds; None if that is not known."""
        return truth(self.value(node, file))

    def reaches(self, node: ast.AST, file: ParsedPython) -> bool:
        """False if a condition around a node certainly fails in this run."""
        return reached(node, file, self) is not False

    def _value(self, node: ast.expr, at: _Place) -> Known | None:
        if at.given or at.bound:
            return self._computed(node, at)
        return self._values.of(node, at.file, lambda: self._computed(node, at))

    def reaches_function(
        self, function: ast.AST, file: ParsedPython, hops: int, work: Callable[[], bool | None]
    ) -> bool | None:
        """Whether a function of a file is called, as far as some calls are followed."""
        if hops not in self._reaching:
            self._reaching[hops] = Answers(self._run, self._now, "reached", hops)
        return self._reaching[hops].of(function, file, work)

    def _noted(self, known: Known | None) -> Known | None:
        """A setting that is read; a section is none by itself."""
        if known is not None and known.is_plain and (written := known.written) is not None:
            self._now.read[written.file.text.path, written.origin.span] = written
        return known

    def _computed(self, node: ast.expr, at: _Place) -> Known | None:
        self._steps += 1
        if self._steps > _MAX_STEPS or at.depth > _MAX_DEPTH:
            self._now.gave_up()
            return None
        at = at.deeper()
        match node:
            case ast.Constant(value=value):
                return Known(value)
            case ast.Name():
                return self._named(node, at) or self._name(node, at)
            case ast.Dict():
                return self._display(node, at)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return Known(Items(tuple(self._value(item, at) for item in items)))
            case ast.Attribute() if (known := self._of_yacs(node)) is not None:
                return self._noted(known)
            case ast.Attribute(value=ast.Name(id="self")):
                return self._of_self(node, at)
            case ast.Attribute(value=owner, attr=name):
                return self._named(node, at) or self._member(owner, name, at)
            case ast.Subscript(value=ast.Dict() as table, slice=key):
                return self._looked_up(table, self._value(key, at), at, node)
            case ast.Subscript(value=owner, slice=ast.Slice() as part):
                return self._part(owner, part, at)
            case ast.Subscript(value=owner, slice=key):
                return self._item(owner, key, at)
            case ast.Call():
                return self._call(node, at)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._chosen(self._value(test, at), body, orelse, at)
            case ast.BoolOp(op=op, values=values):
                return self._connected(isinstance(op, ast.Or), values, at)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                known = self._value(operand, at)
                holds = truth(known)
                return None if known is None or holds is None else known.derived(not holds)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return Known(-number)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(left, op, right, at)
        return None

    # Names

    def _of_yacs(self, node: ast.Attribute) -> Known | None:
        return yacs.member(node, self.run) if yacs.is_merged(self.program) else None

    def _named(self, node: ast.expr, at: _Place) -> Known | None:
        """What a library keeps under a name: a dtype, the flags of absl."""
        path = qualified(node, at.syntax.names)
        package, _, name = path.rpartition(".")
        if package == "torch" and name in ALIASES:
            return Known(DtypeName(f"torch.{ALIASES[name]}"))
        return self._objects(at).named(path)

    def _objects(self, at: _Place) -> Objects:
        return Objects(self, at.file, lambda node: self._value(node, at))

    def _display(self, node: ast.Dict, at: _Place) -> Known | None:
        values: dict[str, Known | None] = {}
        spread: list[Known | None] = []
        for key, value in zip(node.keys, node.values, strict=True):
            match key:
                case None if not values:
                    spread.append(self._value(value, at))
                case ast.Constant(value=str(name)):
                    values[name] = self._value(value, at)
                case _:
                    return None
        return display(values, spread)

    def _name(self, node: ast.Name, at: _Place) -> Known | None:
        if node.id in at.bound:
            return at.bound[node.id]
        syntax = at.syntax
        scope: Scope | None = syntax.function(node) or syntax.tree
        while scope is not None:
            if syntax.stores(scope, node.id):
                return self._assigned(node, scope, at)
            arguments = () if isinstance(scope, ast.Module) else parameters(scope.args)
            if any(each.arg == node.id for each in arguments):
                return self._parameter(node.id, scope, at)
            scope = None if isinstance(scope, ast.Module) else syntax.function(scope) or syntax.tree
        return None

    def _assigned(self, node: ast.Name, scope: Scope, at: _Place) -> Known | None:
        """The value of a variable where it is read: conditions that are known are decided."""
        if isinstance(scope, ast.Lambda):
            return None
        own: Scope = at.syntax.function(node) or at.syntax.tree
        end = (node.lineno, node.col_offset) if own is scope else None
        walk = Walk(
            lambda each, bound=None: self._value(each, at.with_names(bound)),
            node.id,
            end,
            at.syntax.stores(scope, node.id),
            changes(at.file).get(node.id, ()),
        )
        start: Known | None = None
        if not isinstance(scope, ast.Module) and any(
            each.arg == node.id for each in parameters(scope.args)
        ):
            start = self._parameter(node.id, scope, at)
        return walk.after(scope.body, start)

    def _parameter(self, name: str, function: Scope, at: _Place) -> Known | None:
        """What the callers of a function give to a parameter."""
        if name in at.given:
            return at.given[name]
        if not isinstance(function, FunctionDefinition):
            return None
        if (started := self._of_command(name, function, at)) is not None:
            return started
        owner = at.syntax.parent(function)
        is_method = isinstance(owner, ast.ClassDef)
        is_built = isinstance(owner, ast.ClassDef) and function.name == "__init__"
        called = owner.name if isinstance(owner, ast.ClassDef) and is_built else function.name
        names = [each.arg for each in named_parameters(function.args)]
        rest = function.args.kwarg is not None and function.args.kwarg.arg == name
        if name not in names and not rest:
            return None
        position = -1 if rest else names.index(name) - is_method
        found = (
            (file, call)
            for file, call in self.program.calls_of(called, at.file)
            if (is_method and not is_built) or _is_plain(call, file)
        )
        calls = list(islice(found, _MAX_CALLS + 1))
        handed = [] if is_method else list(self._handed_over(function.name, position, at))
        if len(calls) > _MAX_CALLS:
            return None
        if rest:
            if len(calls) != 1:
                return None
            ((file, call),) = calls
            return self._keywords(call, names, _Place(file, {}, at.depth + 1))
        values = [self._argument(call, file, name, position, function, at) for file, call in calls]
        is_options = not calls and holds_settings(name)
        return agreed([*values, *handed]) or (self.options if is_options else None)

    def _keywords(self, call: ast.Call, names: Sequence[str], at: _Place) -> Known | None:
        """What a call gives to `**kwargs` of a function with other parameters by their names."""
        given = {
            each.arg: self._value(each.value, at)
            for each in call.keywords
            if each.arg is not None and each.arg not in names
        }
        spread = [each.value for each in call.keywords if each.arg is None]
        return display(given, [self._value(each, at) for each in spread])

    def _handed_over(self, function: str, position: int, at: _Place) -> Iterator[Known | None]:
        """What processes give to a parameter: `mp.spawn(run, args=(config,))`, after their rank."""
        for starter, before in _PROCESSES.items():
            for file, call in self.program.calls(starter):
                given = {each.arg: each.value for each in call.keywords}
                started = given.get("target") or given.get("fn") or next(iter(call.args), None)
                arguments = given.get("args") or next(iter(call.args[1:2]), None)
                if not isinstance(started, ast.Name) or started.id != function:
                    continue
                items = arguments.elts if isinstance(arguments, ast.Tuple | ast.List) else []
                index = position - before
                is_known = 0 <= index < len(items)
                yield self._value(items[index], _Place(file, {}, at.depth)) if is_known else None

    def _argument(
        self,
        call: ast.Call,
        file: ParsedPython,
        name: str,
        position: int,
        function: FunctionDefinition,
        at: _Place,
    ) -> Known | None:
        """What one call gives to a parameter, or its default."""
        caller = _Place(file, {}, at.depth + 1)
        for keyword in call.keywords:
            if keyword.arg == name:
                return self._value(keyword.value, caller)
        if any(isinstance(each, ast.Starred) for each in call.args):
            return None
        if 0 <= position < len(call.args):
            return self._value(call.args[position], caller)
        for keyword in call.keywords:
            if keyword.arg is None:
                given = self._spread(keyword.value, name, caller)
                if given is not _NOTHING:
                    return given if isinstance(given, Known) else None
        default = _default(function, name)
        return None if default is None else self._value(default, at)

    def _spread(self, node: ast.expr, name: str, at: _Place) -> Known | object | None:
        """What `**section` gives to a parameter; `_NOTHING` if it certainly does not."""
        known = self._value(node, at)
        if known is None or not isinstance(known.value, Holder):
            return None
        if not known.value.has(name):
            return _NOTHING
        return self._noted(known.value.get(name))

    def _of_command(self, name: str, function: FunctionDefinition, at: _Place) -> Known | None:
        """A parameter of a function that the command line itself calls: Hydra, click, Fire."""
        for decorator in function.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            called = qualified(call.func if call else decorator, at.syntax.names)
            if called.endswith(("hydra.main", "hydra_runner")) and call is not None:
                path = configuration(self.run)
                settings = self.run.settings_at(path, overrides=True) if path else None
                return Known(settings) if settings is not None else None
            if called in WRAPPED and name == named_parameters(function.args)[0].arg:
                wanted = named_parameters(function.args)[0].annotation
                return self._objects(at).filled(last_name(wanted), "config_path")
            if called.rpartition(".")[2] in _COMMANDS and "." in called:
                return self._default_of(name, function, at)
        for starter in _STARTERS:
            for _, call in self.program.calls(starter):
                given = [each.id for each in call.args if isinstance(each, ast.Name)]
                if function.name in given:
                    return self._default_of(name, function, at)
        return None

    def _default_of(self, name: str, function: FunctionDefinition, at: _Place) -> Known | None:
        """An option that is a parameter: the word of the command line, or its default. `**words`
        are all of them.
        """
        if function.args.kwarg is not None and function.args.kwarg.arg == name:
            return Known(self.run.command_line)
        if name in self.program.options:
            return self._noted(self.option(name))
        default = _default(function, name)
        return self._noted(self._objects(at).parameter(name, default))

    def _of_self(self, node: ast.Attribute, at: _Place) -> Known | None:
        owner = enclosing_class(node, at.syntax)
        values = attribute(node, owner, at.syntax) if owner is not None else None
        if not values or len(values) > _MAX_CALLS:
            return None
        return agreed([self._value(value, _Place(at.file, {}, at.depth)) for value in values])

    # Members

    def _member(self, owner: ast.expr, name: str, at: _Place) -> Known | None:
        """An option or a setting, unless the program assigns it before it is read."""
        known = self._value(owner, at)
        if known is None or not isinstance(known.value, Holder):
            return None
        if name == "__dict__":
            return known
        if isinstance(known.value, yacs.Part):
            return self._noted(known.value.get(name))
        if stores := self._running(self._stored(name, owner, at)):
            return self._assigned_member(stores)
        match known.value:
            case Options() if (items := self._items(name)) is not None:
                return Known(items)
            case Holder() as holder:
                found = holder.get(name)
                is_section = found is None and isinstance(holder, Options)
                if is_section and name in self.program.sections:
                    return Known(holder)
                return self._noted(found)
        return None

    def _stored(self, name: str, read: ast.expr, at: _Place) -> list[_Store]:
        """Where a member is assigned, but for what comes later in the function that reads it."""
        own = at.syntax.function(read)
        return [
            (file, node)
            for file, node in self.program.assigned.get(name, ())
            if not (
                file is at.file and own is at.syntax.function(node) and node.lineno > read.lineno
            )
        ]

    def _running(self, stores: list[_Store]) -> list[_RunningStore]:
        """The assignments that may run, each with whether it certainly does."""
        if len(stores) > _MAX_CALLS:
            return [(None, *store) for store in stores]
        states = ((reached(node, file, self), file, node) for file, node in stores)
        return [store for store in states if store[0] is not False]

    def _assigned_member(self, stores: list[_RunningStore]) -> Known | None:
        """The value of the one assignment that runs, if it is certain that no other does."""
        if len(stores) != 1 or not stores[0][0]:
            return None
        ((_, file, node),) = stores
        match syntax_tree(file).parent(node):
            case ast.Assign(targets=[target], value=value) if target is node:
                known = self._value(value, _Place(file))
                return known if known is not None and known.is_plain else None
        return None

    def _item(self, owner: ast.expr, key: ast.expr, at: _Place) -> Known | None:
        index = self._value(key, at)
        if index is None:
            return None
        if qualified(owner, at.syntax.names) == "os.environ" and isinstance(index.value, str):
            return self.run.variable(index.value)
        if isinstance(index.value, int) and not isinstance(index.value, bool):
            inner = self._value(owner, at)
            if inner is not None and isinstance(inner.value, Items):
                return self._noted(inner.value.at(index.value))
            is_options = inner is not None and isinstance(inner.value, Holder)
            return inner if is_options and index.value == 0 else None  # `parse_known_args()[0]`
        if isinstance(owner, ast.Name) and (table := self._table(owner, at)) is not None:
            return self._looked_up(table, index, at, owner)
        return self._member(owner, index.value, at) if isinstance(index.value, str) else None

    def _part(self, owner: ast.expr, part: ast.Slice, at: _Place) -> Known | None:
        """A part of a text: `args.config[-5:]`."""
        whole = self._value(owner, at)
        if whole is None or not isinstance(whole.value, str):
            return None
        bounds: list[int | None] = []
        for bound in (part.lower, part.upper, part.step):
            known = self._value(bound, at) if bound is not None else Known(None)
            if known is None or not isinstance(known.value, int | None):
                return None
            bounds.append(known.value)
        return whole.derived(whole.value[slice(*bounds)])

    def _table(self, name: ast.Name, at: _Place) -> ast.Dict | None:
        """The display that a name stands for, if it is assigned once and nothing changes it."""
        known = self._value(name, at)
        if known is not None and not isinstance(known.value, Given):
            return None
        syntax = at.syntax
        for scope in (syntax.function(name), syntax.tree):
            stores = syntax.stores(scope, name.id) if scope is not None else []
            match [syntax.parent(store) for store in stores]:
                case [
                    ast.Assign(value=ast.Dict() as table) | ast.AnnAssign(value=ast.Dict() as table)
                ]:
                    return table
        return None

    def _looked_up(
        self, table: ast.Dict, index: Known | None, at: _Place, node: ast.expr
    ) -> Known | None:
        """`{"bf16": torch.bfloat16}[args.dtype]`, at a node that raises for other keys."""
        if index is None or not index.is_plain:
            return None
        for key, value in zip(table.keys, table.values, strict=True):
            match key:
                case ast.Constant(value=one) if one == index.value:
                    found = self._value(value, at)
                    return index.derived(found.value) if found is not None else None
        names = [key.value for key in table.keys if isinstance(key, ast.Constant)]
        is_added = index.value in self.program.assigned
        if len(names) == len(table.keys) and not is_added:
            self._miss(index, node, at, f"KeyError: {index.value!r}", names)
        return None

    def _miss(
        self, known: Known, node: ast.expr, at: _Place, error: str, names: Sequence[object] = ()
    ) -> None:
        """A value of a setting for which the program raises."""
        if known.written is not None and known.is_plain:
            accepted = tuple(str(name) for name in names)
            self.missed.append(Miss(known, node, at.file, error, accepted))

    # Calls

    def _call(self, call: ast.Call, at: _Place) -> Known | None:
        name = callee_name(call)
        called = qualified(call.func, at.syntax.names)
        match call:
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, key, *rest]):
                return self._getattr(owner, key, rest, at)
            case ast.Call(args=[ast.Constant(value=str(variable)), *_]) if called in _VARIABLES:
                return self._noted(self.run.variable(variable))
            case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[key, *rest]):
                return self._get(owner, key, rest, at)
            case ast.Call(
                func=ast.Attribute(value=owner, attr="lower" | "strip" as method), args=[]
            ):
                known = self._value(owner, at)
                if known is None or not isinstance(known.value, str):
                    return None
                text = known.value
                return known.derived(text.lower() if method == "lower" else text.strip())
            case ast.Call(
                func=ast.Attribute(value=owner, attr="endswith"),
                args=[ast.Constant(value=str(end))],
            ):
                known = self._value(owner, at)
                is_text = known is not None and isinstance(known.value, str)
                return known.derived(str(known.value).endswith(end)) if known and is_text else None
            case ast.Call(func=ast.Name(id="len"), args=[items]):
                known = self._value(items, at)
                counted = known.value if known is not None else None
                return Known(len(counted.items)) if isinstance(counted, Items) else None
        if called in _AVAILABLE:
            return Known(_AVAILABLE[called])
        if makes_grad_scaler(called):
            return Known(Thing())
        if called in _LOADING:
            path = self._value(call.args[0], at) if call.args else None
            return self.run.loaded(path, called, at.file.text.path)
        if name in _OPENING:
            return self._opened(call, at)
        if name in _WRAPPING:
            return self._wrapped(call, at)
        return self._objects(at).made(call, called) or self._returned(name, call, at)

    def _wrapped(self, call: ast.Call, at: _Place) -> Known | None:
        """`dict(settings, name=value)`, `SimpleNamespace(name=value)`, `bool(value)`."""
        spread = [keyword.value for keyword in call.keywords if keyword.arg is None]
        inner = [self._value(each, at) for each in (*call.args, *spread)]
        if callee_name(call) not in _MAKING:
            return inner[0] if inner else None
        given = {each.arg: self._value(each.value, at) for each in call.keywords if each.arg}
        return display(given, inner)

    def _opened(self, call: ast.Call, at: _Place) -> Known | None:
        """The path of a file that is opened: `open(path)`, `Path(path)`, `path.read_text()`."""
        match call:
            case ast.Call(args=[path, *_]):
                return self._value(path, at)
            case ast.Call(func=ast.Attribute(value=path)):
                return self._value(path, at)
        return None

    def _returned(self, name: str, call: ast.Call, at: _Place) -> Known | None:
        """What a function of the program returns: `load_config(args.config)`."""
        found = self.program.functions(name)
        if len(found) != 1 or not isinstance(call.func, ast.Name | ast.Attribute):
            return None
        file, function = found[0]
        if isinstance(syntax_tree(file).parent(function), ast.ClassDef):
            return None
        names = [each.arg for each in named_parameters(function.args)]
        given: dict[str, Known | None] = {}
        for parameter, default in with_defaults(function.args):
            given[parameter.arg] = (
                self._value(default, _Place(file, {}, at.depth)) if default is not None else None
            )
        for parameter_name, argument in zip(names, call.args, strict=False):
            given[parameter_name] = self._value(argument, at)
        for keyword in call.keywords:
            if keyword.arg in given:
                given[keyword.arg] = self._value(keyword.value, at)
        if function.args.kwarg is not None:
            given[function.args.kwarg.arg] = self._keywords(call, names, at)
        inside = _Place(file, given, at.depth + 1)
        return Returns(lambda each: self._value(each, inside), exits(file)).of(function)

    def _getattr(
        self, owner: ast.expr, key: ast.expr, rest: list[ast.expr], at: _Place
    ) -> Known | None:
        name = self._value(key, at)
        if name is None or not isinstance(name.value, str):
            return None
        if isinstance(owner, ast.Name) and qualified(owner, at.syntax.names) == "torch":
            if name.value in ALIASES:
                return name.derived(DtypeName(f"torch.{ALIASES[name.value]}"))
            if names_precision(name.value) and not rest:
                error = f"AttributeError: module 'torch' has no attribute {name.value!r}"
                self._miss(name, owner, at, error)
            return None
        return self._member(owner, name.value, at)

    def _get(
        self, owner: ast.expr, key: ast.expr, rest: list[ast.expr], at: _Place
    ) -> Known | None:
        index = self._value(key, at)
        known = self._value(owner, at)
        if isinstance(owner, ast.Name) and (table := self._table(owner, at)) is not None:
            before, self.missed = self.missed, []
            found = self._looked_up(table, index, at, owner)
            is_missed, self.missed = bool(self.missed), before
            if is_missed:  # `get` raises nothing
                assert index is not None
                fallback = self._value(rest[0], at) if rest else Known(None)
                return index.derived(fallback.value) if fallback is not None else None
            return found
        if index is None or not isinstance(index.value, str) or known is None:
            return None
        found = self._member(owner, index.value, at)
        is_absent = isinstance(known.value, Holder) and not known.value.has(index.value)
        if found is None and is_absent and rest and index.value not in self.program.assigned:
            return self._value(rest[0], at)
        return found

    # Conditions

    def _chosen(
        self, test: Known | None, body: ast.expr, orelse: ast.expr, at: _Place
    ) -> Known | None:
        holds = truth(test)
        if test is None or holds is None:
            return agreed([self._value(body, at), self._value(orelse, at)])
        known = self._value(body if holds else orelse, at)
        if known is None or known.written is not None or test.written is None:
            return known
        return test.derived(known.value)

    def _connected(self, is_or: bool, values: list[ast.expr], at: _Place) -> Known | None:
        last: Known | None = None
        for each in values:
            known = self._value(each, at)
            holds = truth(known)
            if known is None or holds is None:
                return None
            last = known if last is None or known.written else last.derived(known.value)
            if holds is is_or:
                return last
        return last

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr, at: _Place) -> Known | None:
        one = self._value(left, at)
        if one is None or isinstance(one.value, Holder | Items):
            return None
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(right, ast.List | ast.Tuple | ast.Set):
                return None
            items = [self._value(item, at) for item in right.elts]
            if any(item is None for item in items):
                return None
            is_in = any(item is not None and equal(one.value, item.value) for item in items)
            return one.derived(is_in is isinstance(op, ast.In))
        other = self._value(right, at)
        if other is None or isinstance(other.value, Holder | Items):
            return None
        said = one if one.written is not None else other
        match op:
            case ast.Eq() | ast.Is():
                return said.derived(equal(one.value, other.value))
            case ast.NotEq() | ast.IsNot():
                return said.derived(not equal(one.value, other.value))
        return None


def _is_plain(call: ast.Call, file: ParsedPython) -> bool:
    """True if a function or a class is called by its name, and not a method of some object."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=module)):
            return module in syntax_tree(file).names
    return isinstance(call.func, ast.Name)


def _default(function: FunctionDefinition, name: str) -> ast.expr | None:
    """The default of a parameter."""
    return next(
        (one for parameter, one in with_defaults(function.args) if parameter.arg == name), None
    )
