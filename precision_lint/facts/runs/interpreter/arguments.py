"""What the parameters of functions are given in one run, by calls and by the command line."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from precision_lint.facts.runs.formats.hydra import config_name, configuration
from precision_lint.facts.runs.interpreter.inherited import calls_by_extending
from precision_lint.facts.runs.interpreter.known import Holder, Known, agreed
from precision_lint.facts.runs.interpreter.objects import WRAPPED, display
from precision_lint.facts.runs.interpreter.places import MAX_CALLS, Evaluation, Place
from precision_lint.facts.runs.interpreter.reaching import reached
from precision_lint.facts.runs.interpreter.started import offered, started
from precision_lint.facts.settings import holds_settings
from precision_lint.source.python.bindings import given_by_position
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import (
    last_name,
    named_parameters,
    qualified,
    with_defaults,
)
from precision_lint.source.python.syntax_tree import Scope, syntax_tree

_COMMANDS = frozenset({"command", "option", "main", "callback", "autocommand"})
_PROCESSES = {"spawn": 1, "start_processes": 1, "Process": 0, "Thread": 0, "launch": 0}
"""What starts a function, and how many arguments of its own it gives first."""
_MOST_CALLS = 4 * MAX_CALLS
_NOTHING = object()


class Arguments:
    """Follows parameters to the calls of their functions."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    def given(self, name: str, function: Scope, at: Place) -> Known | None:
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
        taken = given_by_position(function, at.syntax)
        position = taken.index(name) if name in taken else -1
        found = (
            (file, call)
            for file, call in self._evaluation.program.calls_of(called, at.file)
            if (is_method and not is_built) or _is_plain(call, file)
        )
        calls = list(islice(found, _MOST_CALLS + 1))
        if not calls and is_built and isinstance(owner, ast.ClassDef):
            calls = calls_by_extending(owner, self._evaluation.program)[: _MOST_CALLS + 1]
        if MAX_CALLS < len(calls) <= _MOST_CALLS:
            calls = self._reached(calls)
        handed = [] if is_method else list(self._handed_over(function.name, position, at))
        if len(calls) > MAX_CALLS:
            return None
        if rest:
            if len(calls) != 1:
                return None
            ((file, call),) = calls
            return self.keywords(call, names, Place(file, {}, at.depth + 1))

        def values(calls: Iterable[tuple[ParsedPython, ast.Call]]) -> Known | None:
            found = [
                self._argument(each, file, name, position, function, at) for file, each in calls
            ]
            return agreed([*found, *handed])

        if not calls and holds_settings(name):
            return values(calls) or self._evaluation.options
        known = values(calls)
        if known is None and len(calls) > 1 and not handed:
            reached_calls = self._reached(calls)
            known = values(reached_calls) if 0 < len(reached_calls) < len(calls) else None
        return known

    def _reached(
        self, calls: Iterable[tuple[ParsedPython, ast.Call]]
    ) -> list[tuple[ParsedPython, ast.Call]]:
        """Those that a run may come to: another setting may choose between them."""
        return [row for row in calls if reached(row[1], row[0], self._evaluation) is not False]

    def keywords(self, call: ast.Call, names: Sequence[str], at: Place) -> Known | None:
        """What a call gives to `**kwargs` of a function with other parameters by their names."""
        given = {
            each.arg: self._evaluation.at(each.value, at)
            for each in call.keywords
            if each.arg is not None and each.arg not in names
        }
        spread = [each.value for each in call.keywords if each.arg is None]
        return display(given, [self._evaluation.at(each, at) for each in spread])

    def _handed_over(self, function: str, position: int, at: Place) -> Iterator[Known | None]:
        """What processes give to a parameter: `mp.spawn(run, args=(config,))`, after their rank."""
        for starter, before in _PROCESSES.items():
            for file, call in self._evaluation.program.calls(starter):
                given = {each.arg: each.value for each in call.keywords}
                started = given.get("target") or given.get("fn") or next(iter(call.args), None)
                arguments = given.get("args") or next(iter(call.args[1:2]), None)
                if not isinstance(started, ast.Name) or started.id != function:
                    continue
                items = arguments.elts if isinstance(arguments, ast.Tuple | ast.List) else []
                index = position - before
                is_known = 0 <= index < len(items)
                yield (
                    self._evaluation.at(items[index], Place(file, {}, at.depth))
                    if is_known
                    else None
                )

    def _argument(
        self,
        call: ast.Call,
        file: ParsedPython,
        name: str,
        position: int,
        function: FunctionDefinition,
        at: Place,
    ) -> Known | None:
        """What one call gives to a parameter, or its default."""
        caller = Place(file, {}, at.depth + 1)
        for keyword in call.keywords:
            if keyword.arg == name:
                return self._evaluation.at(keyword.value, caller)
        if any(isinstance(each, ast.Starred) for each in call.args):
            return None
        if 0 <= position < len(call.args):
            return self._evaluation.at(call.args[position], caller)
        for keyword in call.keywords:
            if keyword.arg is None:
                given = self._spread(keyword.value, name, caller)
                if given is not _NOTHING:
                    return given if isinstance(given, Known) else None
        default = _default(function, name)
        return None if default is None else self._evaluation.at(default, at)

    def _spread(self, node: ast.expr, name: str, at: Place) -> Known | object | None:
        """What `**section` gives to a parameter; `_NOTHING` if it certainly does not."""
        known = self._evaluation.at(node, at)
        if known is None or not isinstance(known.value, Holder):
            return None
        if not known.value.has(name):
            return _NOTHING
        return self._evaluation.noted(known.value.get(name))

    def _of_command(self, name: str, function: FunctionDefinition, at: Place) -> Known | None:
        """A parameter of a function that the command line itself calls: Hydra, click, Fire."""
        for decorator in function.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            called = qualified(call.func if call else decorator, at.syntax.names)
            if called.endswith(("hydra.main", "hydra_runner")) and call is not None:
                path = configuration(self._evaluation.run)
                if path is None:
                    name = config_name(self._evaluation.run)
                    return self._evaluation.objects(at).stored(name) if name else None
                settings = self._evaluation.run.settings_at(path, overrides=True)
                return Known(settings) if settings is not None else None
            if called in WRAPPED and name == named_parameters(function.args)[0].arg:
                wanted = named_parameters(function.args)[0].annotation
                return self._evaluation.objects(at).filled(last_name(wanted), "config_path")
            if called.rpartition(".")[2] in _COMMANDS and "." in called:
                return self._default_of(name, function, at)
        if self._is_command(function.name, at.file):
            return self._default_of(name, function, at)
        return None

    def _is_command(self, name: str, home: ParsedPython) -> bool:
        """True for a function that the command line calls: the only one, or the one it names."""
        files = self._evaluation.program.files
        if any(name in started(file) for file in files):
            return True
        launch = self._evaluation.run.launch
        return (
            launch is not None
            and name in offered(home)
            and bool(launch.words)
            and launch.words[0].text == name
        )

    def _default_of(self, name: str, function: FunctionDefinition, at: Place) -> Known | None:
        """An option that is a parameter: the word of the command line, or its default. `**words`
        are all of them.
        """
        if function.args.kwarg is not None and function.args.kwarg.arg == name:
            return Known(self._evaluation.run.command_line)
        if name in self._evaluation.program.options:
            return self._evaluation.noted(self._evaluation.option(name))
        default = _default(function, name)
        return self._evaluation.noted(self._evaluation.objects(at).parameter(name, default))


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
