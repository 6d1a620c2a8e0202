"""What expressions of a program come to in one run: its options, its files, constants.

Only what is needed is followed: from an argument of a call to the assignment of a name, from a
parameter to the calls of its function, from the path of a file to the file. The result is None for
what only run time knows, and where different paths give different values.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from precision_lint.facts.amp.regions.autocast import is_autocast
from precision_lint.facts.amp.scaling.scalers import makes_grad_scaler
from precision_lint.facts.frameworks.sources import DEFAULT, CodePlace, Occurrence
from precision_lint.facts.runs.formats import config_dicts, configurators, hydra, yacs
from precision_lint.facts.runs.interpreter.answers import Answers, Dependence
from precision_lint.facts.runs.interpreter.arguments import Arguments
from precision_lint.facts.runs.interpreter.conditions import chosen, compared, connected
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.exits import exits
from precision_lint.facts.runs.interpreter.held import held
from precision_lint.facts.runs.interpreter.imported_names import (
    assigning,
    assigning_member,
    class_named,
)
from precision_lint.facts.runs.interpreter.inherited import inherited
from precision_lint.facts.runs.interpreter.known import (
    Holder,
    Items,
    Known,
    Options,
    Thing,
    agreed,
    truth,
)
from precision_lint.facts.runs.interpreter.members import Members
from precision_lint.facts.runs.interpreter.objects import Objects, display
from precision_lint.facts.runs.interpreter.places import MAX_CALLS, Miss, Place
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.interpreter.reaching import reached
from precision_lint.facts.runs.interpreter.returns import Returns
from precision_lint.facts.runs.interpreter.variables import Walk, changes, set_by_functions
from precision_lint.facts.settings.constants import constants
from precision_lint.model.dtypes import ALIASES, DtypeName
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import T
from precision_lint.source.python.bindings import attribute, enclosing_class
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import (
    callee_name,
    named_parameters,
    parameters,
    qualified,
    with_defaults,
)
from precision_lint.source.python.syntax_tree import Scope, syntax_tree

_MAX_STEPS = 3_000
_MAX_DEPTH = 24

_LOADING = frozenset({
    "yaml.load", "yaml.safe_load", "yaml.full_load", "json.load", "json.loads", "toml.load",
    "toml.loads", "tomllib.load", "tomli.load", "omegaconf.OmegaConf.load", "YAML.load",
    "sconf.Config",
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

_AVAILABLE = {"torch.cuda.is_available": True, "torch.backends.mps.is_available": False}
"""The runs that are judged have a GPU."""


@frozen(eq=False)
class _Options:
    """Gives options, and notes their names. It knows no evaluator: what is kept has no cycles."""

    run: RunEnvironment
    now: Dependence

    def option(self, name: str) -> Known | None:
        self.now.names.add(name)
        return config_dicts.flag(name, self.run) or self.run.option(name)

    def declares(self, name: str) -> bool:
        self.now.names.add(name)
        return self.run.declares(name)


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
        self._options = _Options(self._run, self._now)

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
        return Known(Options(self._options.option, self._options.declares))

    def option(self, name: str) -> Known | None:
        """An option by its name. What is worked out holds for all runs that do not give it."""
        return self._options.option(name)

    def items(self, name: str) -> Items | None:
        """The words that an option takes, for one that is declared to take several."""
        self._now.names.add(name)
        return self._run.items(name)

    def value(self, node: ast.expr, file: ParsedPython) -> Known | None:
        """What an expression of a file of the program comes to."""
        if not self._depth:
            self._steps = 0
        self._depth += 1
        known = self.at(node, Place(file))
        self._depth -= 1
        return known

    def noting(self, work: Callable[[], T]) -> tuple[T, tuple[Occurrence, ...]]:
        """What some work comes to, and the settings that are read for it."""
        before, self._now.read = self._now.read, {}
        result = work()
        found, self._now.read = self._now.read, before
        before |= found
        return result, tuple(found.values())

    def kept(self, work: Callable[[], T]) -> T:
        """What some work comes to that an object keeps: a setting is read where it is taken."""
        before, self._now.read = self._now.read, {}
        result = work()
        self._now.read = before
        return result

    def truth(self, node: ast.expr, file: ParsedPython) -> bool | None:
        """Whether a condition holds; None if that is not known."""
        return truth(self.value(node, file))

    def reaches(self, node: ast.AST, file: ParsedPython) -> bool:
        """False if a condition around a node certainly fails in this run."""
        return reached(node, file, self) is not False

    def at(self, node: ast.expr, place: Place) -> Known | None:
        """What an expression comes to at a place."""
        if place.given or place.bound:
            return self._computed(node, place)
        return self._values.of(node, place.file, lambda: self._computed(node, place))

    def reaches_function(
        self, function: ast.AST, file: ParsedPython, hops: int, work: Callable[[], bool | None]
    ) -> bool | None:
        """Whether a function of a file is called, as far as some calls are followed."""
        if hops not in self._reaching:
            self._reaching[hops] = Answers(self._run, self._now, "reached", hops)
        return self._reaching[hops].of(function, file, work)

    def noted(self, known: Known | None) -> Known | None:
        """A setting that is read; a section is none by itself."""
        if known is not None and known.is_plain and (written := known.written) is not None:
            self._now.read[written.file.text.path, written.origin.span] = written
        return known

    def _computed(self, node: ast.expr, at: Place) -> Known | None:
        self._steps += 1
        if self._steps > _MAX_STEPS or at.depth > _MAX_DEPTH:
            self._now.gave_up()
            return None
        at = at.deeper()
        match node:
            case ast.Constant(value=value):
                return Known(value)
            case ast.Name():
                return self._named(node, at) or self._name(node, at) or self._held(node, at)
            case ast.Dict():
                return self._display(node, at)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return Known(Items(tuple(self.at(item, at) for item in items)))
            case ast.Attribute() if (known := self._of_yacs(node)) is not None:
                return self.noted(known)
            case ast.Attribute(value=ast.Name(id="self")):
                return self._of_self(node, at) or self._held(node, at)
            case ast.Attribute(value=owner, attr=name):
                return (
                    self._named(node, at)
                    or self._of_module(node, at)
                    or Members(self).member(owner, name, at)
                )
            case ast.Subscript(value=ast.Dict() as table, slice=key):
                return Members(self).looked_up(table, at, self.at(key, at), at, node)
            case ast.Subscript(value=owner, slice=ast.Slice() as part):
                return Members(self).part(owner, part, at)
            case ast.Subscript(value=owner, slice=key):
                return Members(self).item(owner, key, at)
            case ast.Call():
                return self._call(node, at)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return chosen(lambda one: self.at(one, at), self.at(test, at), body, orelse)
            case ast.BoolOp(op=op, values=values):
                return connected(lambda one: self.at(one, at), isinstance(op, ast.Or), values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                known = self.at(operand, at)
                holds = truth(known)
                return None if known is None or holds is None else known.derived(not holds)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return Known(-number)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return compared(lambda one: self.at(one, at), left, op, right)
        return None

    # Names

    def _of_yacs(self, node: ast.Attribute) -> Known | None:
        return yacs.member(node, self.run) if yacs.is_merged(self.program) else None

    def _named(self, node: ast.expr, at: Place) -> Known | None:
        """What a library keeps under a name: a dtype, the flags of absl."""
        path = qualified(node, at.syntax.names)
        package, _, name = path.rpartition(".")
        if path == "torch":
            return Known(Thing())
        if package == "torch" and name in ALIASES:
            return Known(DtypeName(f"torch.{ALIASES[name]}"))
        if is_autocast(path):
            return Known(Thing())
        return self.objects(at).named(path)

    def _held(self, node: ast.Name | ast.Attribute, at: Place) -> Known | None:
        """The file that is open, if a variable of which nothing else is known holds it."""
        opened = self._run.opened
        settings = self.run.settings_at(opened) if opened is not None else None
        return held(node, at.file, settings) if settings is not None else None

    def objects(self, at: Place) -> Objects:
        return Objects(self, at.file, lambda node: self.at(node, at))

    def _display(self, node: ast.Dict, at: Place) -> Known | None:
        values: dict[str, Known | None] = {}
        spread: list[Known | None] = []
        for key, value in zip(node.keys, node.values, strict=True):
            match key:
                case None if not values:
                    spread.append(self.at(value, at))
                case ast.Constant(value=str(name)):
                    values[name] = self.kept(partial(self.at, value, at))
                case _:
                    return None
        return display(values, spread)

    def _name(self, node: ast.Name, at: Place) -> Known | None:
        if node.id in at.bound:
            return at.bound[node.id]
        syntax = at.syntax
        scope: Scope | None = syntax.function(node) or syntax.tree
        while scope is not None:
            if syntax.stores(scope, node.id):
                return self._assigned(node, scope, at)
            arguments = () if isinstance(scope, ast.Module) else parameters(scope.args)
            if any(each.arg == node.id for each in arguments):
                return Arguments(self).given(node.id, scope, at)
            scope = None if isinstance(scope, ast.Module) else syntax.function(scope) or syntax.tree
        return self._imported(node.id, at) or self._class(node, at)

    def _class(self, node: ast.Name, at: Place) -> Known | None:
        """A class of settings that is read itself: `CFG.amp`."""
        name = class_named(node.id, at.file, self.program.project)
        return self.objects(at).of_class(name) if name else None

    def _imported(self, name: str, at: Place) -> Known | None:
        """What another module of the project keeps under a name: `from utils import DTYPES`."""
        return self._assigned_in(assigning(name, at.file, self.program.project), at)

    def _of_module(self, node: ast.Attribute, at: Place) -> Known | None:
        """A member of another module: `config.USE_AMP`, if no other code assigns it."""
        if node.attr in self.program.assigned:
            return None
        return self._assigned_in(assigning_member(node, at.file, self.program.project), at)

    def _assigned_in(self, found: tuple[ParsedPython, str] | None, at: Place) -> Known | None:
        if found is None:
            return None
        home, own = found
        tree = syntax_tree(home).tree
        known = self._walk(own, tree, None, Place(home, {}, at.depth)).after(tree.body, None)
        constant = next((one for one in constants(home) if one.name == own and not one.owner), None)
        if known is None or known.written is not None or constant is None:
            return known
        file = self.program.project.config_files.at(home.text.path)
        if file is None or not known.is_plain:
            return known
        place = CodePlace(home.span_of(constant.value), DEFAULT)
        return self.noted(replace(known, written=Occurrence(own, known.value, place, file)))

    def _walk(self, name: str, scope: Scope, end: tuple[int, int] | None, at: Place) -> Walk:
        return Walk(
            lambda each, bound=None: self.at(each, at.with_names(bound)),
            name,
            end,
            at.syntax.stores(scope, name),
            changes(at.file).get(name, ()),
        )

    def _assigned(self, node: ast.Name, scope: Scope, at: Place) -> Known | None:
        """The value of a variable where it is read: conditions that are known are decided."""
        if isinstance(scope, ast.Lambda):
            return None
        own: Scope = at.syntax.function(node) or at.syntax.tree
        end = (node.lineno, node.col_offset) if own is scope else None
        walk = self._walk(node.id, scope, end, at)
        start: Known | None = None
        if not isinstance(scope, ast.Module) and any(
            each.arg == node.id for each in parameters(scope.args)
        ):
            start = Arguments(self).given(node.id, scope, at)
        if isinstance(scope, ast.Module):
            if own is not scope and node.id in set_by_functions(at.file):
                return None
            return self._global(node.id, walk, scope, at)
        return walk.after(scope.body, start)

    def _global(self, name: str, walk: Walk, module: ast.Module, at: Place) -> Known | None:
        """The value of a global variable, which the words of the command line may override."""
        found = configurators.execution(at.file, self.program.project)
        if found is None or not walk.passes(found.statement):
            return walk.after(module.body, None)
        before = walk.after(module.body[: found.index], None)
        known = configurators.overridden(
            name, before, at.file, self.run, lambda node, file: self.at(node, Place(file))
        )
        return walk.after(module.body[found.index + 1 :], self.noted(known))

    def _of_self(self, node: ast.Attribute, at: Place) -> Known | None:
        owner = enclosing_class(node, at.syntax)
        values = attribute(node, owner, at.syntax) if owner is not None else None
        found = [(at.file, value) for value in values or ()]
        if owner is not None and values == []:
            found = inherited(node, owner, self.program)
        if not found or len(found) > MAX_CALLS:
            return None
        known = agreed([self.at(value, Place(file, {}, at.depth)) for file, value in found])
        if known is not None or len(found) == 1:
            return known
        running = [(file, value) for file, value in found if self.reaches(value, file)]
        if not running or len(running) == len(found):
            return None
        return agreed([self.at(value, Place(file, {}, at.depth)) for file, value in running])

    # Calls

    def _call(self, call: ast.Call, at: Place) -> Known | None:
        name = callee_name(call)
        called = qualified(call.func, at.syntax.names)
        match call:
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, key, *rest]):
                return Members(self).attribute(owner, key, rest, at)
            case ast.Call(func=ast.Name(id="hasattr"), args=[owner, key]):
                return Members(self).has_attribute(owner, key, at)
            case ast.Call(args=[ast.Constant(value=str(variable)), *_]) if called in _VARIABLES:
                return self.noted(self.run.variable(variable))
            case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[key, *rest]):
                return Members(self).get(owner, key, rest, at)
            case ast.Call(
                func=ast.Attribute(value=owner, attr="lower" | "strip" as method), args=[]
            ):
                known = self.at(owner, at)
                if known is None or not isinstance(known.value, str):
                    return None
                text = known.value
                return known.derived(text.lower() if method == "lower" else text.strip())
            case ast.Call(
                func=ast.Attribute(value=owner, attr="endswith"),
                args=[ast.Constant(value=str(end))],
            ):
                known = self.at(owner, at)
                is_text = known is not None and isinstance(known.value, str)
                return known.derived(str(known.value).endswith(end)) if known and is_text else None
            case ast.Call(func=ast.Name(id="len"), args=[items]):
                known = self.at(items, at)
                counted = known.value if known is not None else None
                return Known(len(counted.items)) if isinstance(counted, Items) else None
        if called in _AVAILABLE:
            return Known(_AVAILABLE[called])
        if makes_grad_scaler(called):
            return Known(Thing())
        if called == hydra.COMPOSING:
            composed = hydra.composed(call, at.file, lambda node: self.at(node, at))
            settings = self.run.settings_at(composed) if composed is not None else None
            return Known(settings) if settings is not None else None
        if called in _LOADING:
            path = self.at(call.args[0], at) if call.args else None
            return self.run.loaded(path, called, at.file.text.path)
        if called == hydra.MAKING:
            return self._instantiated(call, at)
        if name in _OPENING:
            return self._opened(call, at)
        if name in _WRAPPING:
            return self._wrapped(call, at)
        return self.objects(at).made(call, called) or self._returned(name, call, at)

    def _instantiated(self, call: ast.Call, at: Place) -> Known | None:
        """A section that names no class: `hydra.utils.instantiate(cfg.trainer)` gives a copy."""
        known = self.at(call.args[0], at) if len(call.args) == 1 and not call.keywords else None
        if known is None or not isinstance(known.value, Holder):
            return None
        return None if known.value.has(hydra.TARGET) else known

    def _wrapped(self, call: ast.Call, at: Place) -> Known | None:
        """`dict(settings, name=value)`, `SimpleNamespace(name=value)`, `bool(value)`."""
        spread = [keyword.value for keyword in call.keywords if keyword.arg is None]
        inner = [self.at(each, at) for each in (*call.args, *spread)]
        if callee_name(call) not in _MAKING:
            return inner[0] if inner else None
        given = {
            each.arg: self.kept(partial(self.at, each.value, at))
            for each in call.keywords
            if each.arg
        }
        return display(given, inner)

    def _opened(self, call: ast.Call, at: Place) -> Known | None:
        """The path of a file that is opened: `open(path)`, `Path(path)`, `path.read_text()`."""
        match call:
            case ast.Call(args=[path, *_]) | ast.Call(func=ast.Attribute(value=path)):
                known = self.at(path, at)
                return replace(known, is_opened=True) if known is not None else None
        return None

    def _returned(self, name: str, call: ast.Call, at: Place) -> Known | None:
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
                self.at(default, Place(file, {}, at.depth)) if default is not None else None
            )
        for parameter_name, argument in zip(names, call.args, strict=False):
            given[parameter_name] = self.at(argument, at)
        for keyword in call.keywords:
            if keyword.arg in given:
                given[keyword.arg] = self.at(keyword.value, at)
        if function.args.kwarg is not None:
            given[function.args.kwarg.arg] = Arguments(self).keywords(call, names, at)
        inside = Place(file, given, at.depth + 1)
        return Returns(lambda each: self.at(each, inside), exits(file)).of(function)
