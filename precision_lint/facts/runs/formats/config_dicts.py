"""Configurations of ml_collections: a Python file whose `get_config` makes a tree of settings.

`config_flags.DEFINE_config_file("config", "configs/base.py")` opens the file that `--config` names,
and `--config.train.dtype=bf16` puts words over it (observed with ml_collections 1.1.0).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TypeAlias

from precision_lint.facts.frameworks.sources import CodePlace, Occurrence
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.known import CommandLine, Given, Known, Layers
from precision_lint.facts.runs.interpreter.program import keyword_of
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import cached_property
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name, dotted
from precision_lint.source.python.syntax_tree import syntax_tree

FLAGS = ("DEFINE_config_file", "DEFINE_config_dict")
_MAKING = frozenset({"ConfigDict", "FrozenConfigDict"})
_ENTRY = "get_config"
_MOST_HOPS = 4

Node: TypeAlias = "dict[str, Node | Known | None]"


def flag(name: str, run: RunEnvironment) -> Known | None:
    """The configuration that a flag holds: its file, below the words of the command line."""
    return run.fact((flag, name), lambda: _flag(name, run))


def _flag(name: str, run: RunEnvironment) -> Known | None:
    for file, call in (row for kind in FLAGS for row in run.program.calls(kind)):
        match call.args:
            case [ast.Constant(value=str(declared)), *_] if declared == name:
                made = _of_flag(name, call, file, run)
                if made is None:
                    return None
                words = run.command_line
                return Known(Layers((CommandLine(words.words, name), made)))
    return None


def _of_flag(name: str, call: ast.Call, file: ParsedPython, run: RunEnvironment) -> Given | None:
    project = run.program.project
    default = next(iter(call.args[1:2]), keyword_of(call, "default"))
    if callee_name(call) == "DEFINE_config_dict":
        maker = _Maker(file, project)
        made = maker.value(default, {}) if default is not None else None
        return _given(made) if isinstance(made, dict) else None
    word = run.words.get(name)
    path = word.value if word is not None else getattr(default, "value", None)
    if not isinstance(path, str):
        return None
    path, _, argument = path.partition(":")
    directory = run.launch.directory if run.launch is not None else None
    found = project.config_files.find(path, run.file.text.path, directory)
    found = found or project.config_files.find(path, file.text.path, None)
    return _of_file(found, argument, project) if found is not None else None


def _of_file(path: Path, argument: str, project: Recording, depth: int = 0) -> Given | None:
    made = _made(path, _ENTRY, argument, project, depth)
    return _given(made) if made is not None else None


def _made(path: Path, function: str, argument: str, project: Recording, depth: int) -> Node | None:
    """What a function of a file returns."""
    file = project.module(path) if depth < _MOST_HOPS else None
    return _Maker(file, project, argument, depth).returned(function) if file is not None else None


def _given(node: Node) -> Given:
    return Given(
        {
            name: Known(_given(value)) if isinstance(value, dict) else value
            for name, value in node.items()
        }
    )


@frozen(slots=False)
class _Maker:
    """Follows the statements of a function that makes a tree."""

    file: ParsedPython
    project: Recording
    argument: str = ""
    depth: int = 0
    _asked: set[str] = field(default_factory=set)

    @property
    def shown(self) -> ParsedConfig | None:
        return self.project.config_files.at(self.file.text.path)

    @cached_property
    def helpers(self) -> frozenset[str]:
        """The functions of the file that make a tree of their keywords."""
        return frozenset(
            function.name
            for function in self.file.tree.body
            if isinstance(function, FunctionDefinition) and _makes_of_keywords(function)
        )

    def returned(self, name: str) -> Node | None:
        function = next(
            (one for one in self.file.tree.body if isinstance(one, FunctionDefinition)
             and one.name == name),
            None,
        )  # fmt: skip
        if function is None or name in self._asked:
            return None
        self._asked.add(name)
        names: Node = {}
        result: Node | None = None
        for statement in function.body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                value = self.value(statement.value, names)
                result = value if isinstance(value, dict) else None
                break
            self.passed(statement, names)
        self._asked.discard(name)
        return result

    def passed(self, statement: ast.stmt, names: Node) -> None:
        """Take over what a statement assigns; what may not run leaves nothing known."""
        match statement:
            case ast.Assign(targets=targets, value=value):
                made = self.value(value, names)
                for target in targets:
                    self.assign(target, made, names)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(target, self.value(value, names), names)
            case ast.With(body=body):  # `with config.unlocked():`
                for each in body:
                    self.passed(each, names)
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=holder, attr="update"), args=[other])
            ):
                below, more = self.value(holder, names), self.value(other, names)
                if isinstance(below, dict):
                    _merge(below, more) if isinstance(more, dict) else below.clear()
            case _:
                for node in walk(statement):
                    if isinstance(node, ast.Name | ast.Attribute) and isinstance(
                        node.ctx, ast.Store
                    ):
                        self.assign(node, None, names)

    def assign(self, target: ast.expr, made: Node | Known | None, names: Node) -> None:
        match target:
            case ast.Name(id=name):
                names[name] = made
            case (
                ast.Attribute(value=owner, attr=name)
                | ast.Subscript(value=owner, slice=ast.Constant(value=str(name)))
            ):
                holder = self.value(owner, names)
                if isinstance(holder, dict):
                    holder[name] = _named(made, name)

    def value(self, node: ast.expr, names: Node) -> Node | Known | None:
        match node:
            case ast.Constant(value=str() | bool() | int() | float() | None as value):
                return self.constant(node, value)
            case ast.Name(id=name):
                return names.get(name)
            case (
                ast.Attribute(value=owner, attr=name)
                | ast.Subscript(value=owner, slice=ast.Constant(value=str(name)))
            ):
                holder = self.value(owner, names)
                return holder.get(name) if isinstance(holder, dict) else None
            case ast.Dict(keys=keys, values=values):
                return self.display(keys, values, names)
            case ast.Call():
                return self.called(node, names)
        return None

    def display(
        self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr], names: Node
    ) -> Node | None:
        found: Node = {}
        for key, value in zip(keys, values, strict=True):
            match key:
                case ast.Constant(value=str(name)):
                    found[name] = _named(self.value(value, names), name)
                case _:
                    return None
        return found

    def called(self, call: ast.Call, names: Node) -> Node | Known | None:
        name = callee_name(call)
        if name == "dict" or name in _MAKING or name in self.helpers:
            below = self.value(call.args[0], names) if call.args else {}
            if not isinstance(below, dict):
                return None
            given = {
                each.arg: _named(self.value(each.value, names), each.arg)
                for each in call.keywords
                if each.arg
            }
            return {**below, **given} if all(each.arg for each in call.keywords) else None
        match call.func:
            case ast.Name(id=function):
                imported = syntax_tree(self.file).names.get(function, "")
                module, _, other = imported.rpartition(".")
                path = self.project.locate(self.file.text.path, module) if module else None
                if path is not None:
                    return _made(path, other, "", self.project, self.depth + 1)
                return self.returned(function)
            case ast.Subscript(value=ast.Call(func=ast.Name(id="globals")), slice=ast.Name()):
                return self.returned(self.argument)  # `globals()[name]()`
            case ast.Attribute(value=module_name, attr=function):
                path = self.module(dotted(module_name) or "")
                return (
                    _made(path, function, "", self.project, self.depth + 1)
                    if path is not None
                    else None
                )
        return None

    def module(self, name: str) -> Path | None:
        """The file of a module that is imported, or loaded by its path beside this one."""
        qualified = syntax_tree(self.file).names.get(name.partition(".")[0])
        if qualified is not None:
            whole = ".".join([qualified, *name.split(".")[1:]])
            return self.project.locate(self.file.text.path, whole)
        for statement in self.file.tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=own)], value=ast.Call() as call) if (
                    own == name
                ):
                    for node in walk(call):
                        if isinstance(node, ast.Constant) and str(node.value).endswith(".py"):
                            near = self.file.text.path
                            return self.project.config_files.find(str(node.value), near, None)
        return None

    def constant(self, node: ast.expr, value: object) -> Known:
        shown = self.shown
        if shown is None or value is None:
            return Known(value)
        place = CodePlace(self.file.span_of(node), "the configuration")
        return Known(value, Occurrence("", value, place, shown))


def _makes_of_keywords(function: FunctionDefinition) -> bool:
    """True for `def d(**kwargs): return ConfigDict(initial_dictionary=kwargs)`."""
    match function.args.kwarg, function.body[-1]:
        case ast.arg(arg=name), ast.Return(value=ast.Call(args=args, keywords=keywords) as made):
            given = [*args, *(each.value for each in keywords)]
            is_all = len(given) == 1 and dotted(given[0]) == name
            return callee_name(made) in _MAKING and is_all
    return False


def _named(value: Node | Known | None, name: str) -> Node | Known | None:
    """A constant under the name that it is given."""
    if not isinstance(value, Known) or value.written is None:
        return value
    return Known(value.value, replace(value.written, name=name))


def _merge(below: Node, above: Node) -> None:
    for name, value in above.items():
        old = below.get(name)
        if isinstance(old, dict) and isinstance(value, dict):
            _merge(old, value)
        else:
            below[name] = value
