"""Objects of settings that calls of libraries make, each with the order in which it is filled.

The orders were observed with tyro 1.0, draccus 0.11, pyrallis 0.3, simple-parsing 0.1, jsonargparse
4.53, Fire 0.7 and absl 2.5. Those of OmegaConf, pydantic-settings, HyperPyYAML, configargparse and
LightningCLI were not run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from precision_lint.facts.frameworks.sources import DEFAULT, CodePlace, Occurrence
from precision_lint.facts.runs.formats import config_dicts
from precision_lint.facts.runs.interpreter.classes import Field, Record, keeps_all, record
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.here_documents import WrittenFile
from precision_lint.facts.runs.interpreter.imported_names import class_named
from precision_lint.facts.runs.interpreter.known import (
    CommandLine,
    Given,
    Holder,
    Items,
    Known,
    Layers,
    Options,
    Unclear,
)
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.interpreter.questions import Questions
from precision_lint.facts.runs.interpreter.reaching import reached
from precision_lint.model.dtypes import ALIASES, DtypeName
from precision_lint.model.frozen import frozen
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted, last_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_MAX_DEPTH = 4
"""Classes within classes."""

PARSING = frozenset({
    "parse_args", "parse_known_args", "parse_args_into_dataclasses", "parse_intermixed_args",
    "parse_args_and_config",
})  # fmt: skip
_TYPED = {
    "tyro.cli": "",
    "tyro.extras.overridable_config_cli": "",
    "simple_parsing.parse": "",
    "draccus.parse": "config_path",
    "pyrallis.parse": "config_path",
}
"""Calls that fill a class from the command line, and the option that names a file below it."""
WRAPPED = frozenset({"draccus.wrap", "pyrallis.wrap", "lerobot.configs.parser.wrap"})
"""Decorators that fill the first parameter so."""
_FILES = frozenset({"parse_yaml_file", "parse_json_file", "parse_dict"})
"""Methods of HfArgumentParser: what the file does not say has the default of its class."""
_VALIDATING = frozenset({"model_validate", "parse_obj", "from_dict", "validate"})
_MERGING = frozenset({"omegaconf.OmegaConf.merge", "omegaconf.OmegaConf.unsafe_merge"})
_STRUCTURED = "omegaconf.OmegaConf.structured"
_FROM_WORDS = "omegaconf.OmegaConf.from_cli"
_ARGV = "sys.argv"
_FLAGS = frozenset({"absl.flags.FLAGS", "tensorflow.compat.v1.flags.FLAGS"})

Value = Callable[[ast.expr], Known | None]


@frozen(slots=False)
class Objects:
    """Makes what calls in one place make; `value` says what expressions of that place come to."""

    questions: Questions
    file: ParsedPython
    value: Value

    @property
    def run(self) -> RunEnvironment:
        return self.questions.run

    @property
    def program(self) -> Program:
        return self.questions.program

    @property
    def options(self) -> Known:
        return self.questions.options

    def named(self, name: str) -> Known | None:
        """An object that libraries keep under a name."""
        if name in _FLAGS:
            return self.options
        if name == _ARGV:
            words = self.run.launch.words if self.run.launch else ()
            found = (self.run.positional(index) for index in range(1, len(words) + 1))
            return Known(Items((None, *found)))
        return None

    def made(self, call: ast.Call, called: str) -> Known | None:
        """What a call makes; None if it is none of these, or that is not known."""
        name = callee_name(call)
        given = {each.arg: each.value for each in call.keywords if each.arg}
        if name in PARSING:
            return self.parsed(call)
        if called in _TYPED:
            wanted = next(iter(call.args), given.get("config_class") or given.get("f"))
            return self.filled(last_name(wanted), _TYPED[called]) or self.options
        if name in _FILES and call.args:
            settings = self.value(call.args[0]) if name == "parse_dict" else self.loaded(call)
            below = Known(Options(self.run.default, self.program.options.__contains__))
            return _each(_over([settings, below])) if settings else None
        if called in _MERGING:
            return _over([self.value(each) for each in reversed(call.args)])
        if called == _FROM_WORDS:
            return Known(self.run.assignments)
        if called == _STRUCTURED and call.args:
            wanted = call.args[0]
            if isinstance(wanted, ast.Call):
                return self.value(wanted)
            return self.instance(last_name(wanted))
        if (called.startswith("absl.flags.DEFINE_") or name in config_dicts.FLAGS) and call.args:
            return self.flag(call.args[0])
        if name == "load_hyperpyyaml" and call.args:
            overrides = next(iter(call.args[1:]), given.get("overrides"))
            above = [self.value(overrides)] if overrides is not None else []
            return _over([*above, self.loaded(call)])
        if name == "parse_arguments" and called.startswith("speechbrain."):
            return Known(Items((self.run.positional(1), None, Known(self.run.command_line))))
        if name in _VALIDATING and isinstance(call.func, ast.Attribute):
            wanted = call.func.value
            data = given.get("data") or next(iter(call.args), None)
            if called == "dacite.from_dict":
                wanted, data = given.get("data_class") or call.args[0], given.get("data")
            kind = self.instance(last_name(wanted))
            return _over([self.value(data), kind]) if kind and data is not None else None
        return self.constructed(call, name)

    def loaded(self, call: ast.Call) -> Known | None:
        """The file that the first argument names, or that is opened under its path."""
        path = self.value(call.args[0])
        return self.run.loaded(path, callee_name(call), self.file.text.path)

    def parsed(self, call: ast.Call) -> Known | None:
        """What a parser gives: the words, over what `set_defaults(**settings)` sets before, over
        the defaults. A file that an option names by itself is between them, too.
        """
        below: list[Known | None] = []
        for name in ("set_defaults", "add_arguments"):
            for file, other in self.program.calls(name):
                if file is not self.file or other.lineno > call.lineno:
                    continue
                if reached(other, file, self.questions) is False:
                    continue  # no file is given
                if name == "add_arguments":
                    below += self._group(other)
                elif spread := [each.value for each in other.keywords if each.arg is None]:
                    below += [self.value(each) or Known(Unclear()) for each in spread]
        named = [*self._options_of_files()]
        if not below and not named:
            return self.options
        above = Known(self.run.command_line)
        for name in named:
            above = self.with_file(above, name)
        if not below and isinstance(above.value, CommandLine):
            return self.options
        return _over([above, *reversed(below), self.options])

    def _options_of_files(self) -> Iterable[str]:
        """The options of `add_argument("--config", action=ActionConfigFile)` of jsonargparse, and
        of `add_argument("--config", is_config_file=True)` of configargparse.
        """
        for _, call in self.program.calls("add_argument"):
            given = {each.arg: each.value for each in call.keywords}
            if last_name(given.get("action")) == "ActionConfigFile" or "is_config_file" in given:
                for each in call.args:
                    if isinstance(each, ast.Constant) and str(each.value).startswith("--"):
                        yield str(each.value).lstrip("-").replace("-", "_")

    def with_file(self, words: Known, option: str) -> Known:
        """The words of the command line over the file that one of them names. Nothing is clear if
        others come before it, because jsonargparse takes what comes last.
        """
        line = self.run.command_line
        if not line.has(option):
            return words
        path = line.get(option)
        is_first = next(iter(self.run.words), "") == option
        if path is None or not isinstance(path.value, str | WrittenFile) or not is_first:
            return Known(Unclear())
        settings = self.run.settings(path.value, self.file.text.path)
        if settings is None or not isinstance(words.value, Holder):
            return Known(Unclear())
        return Known(Layers((words.value, settings)))

    def _group(self, call: ast.Call) -> Iterable[Known | None]:
        """`parser.add_arguments(Options, dest="options")` of simple-parsing."""
        given = {each.arg: each.value for each in call.keywords}
        match [*call.args[:2], *([given["dest"]] if "dest" in given else [])]:
            case [wanted, ast.Constant(value=str(destination))]:
                filled = self.filled(last_name(wanted), "")
                yield Known(Given({destination: filled}))

    def parameter(self, name: str, default: ast.expr | None) -> Known | None:
        """A parameter that the words of the command line give. For jsonargparse, `--config` names
        a file below them.
        """
        value = self.value(default) if isinstance(default, ast.Constant) else None
        below = [] if default is None else [Known(Given({name: value}))]
        above = Known(self.run.command_line)
        if "jsonargparse" in self.file.text.text and name != "config":
            above = self.with_file(above, "config")
        whole = _over([above, *below])
        return whole.value.get(name) if whole and isinstance(whole.value, Holder) else None

    def filled(self, name: str, option: str) -> Known | None:
        """An instance of a class that the command line fills; `option` names a file below it."""
        below = self.instance(name)
        if below is None:
            return None
        files: list[Known | None] = []
        if option and self.run.command_line.has(option):
            path = self.run.command_line.get(option)
            if path is None or not isinstance(path.value, str | WrittenFile):
                return None
            settings = self.run.settings(path.value, self.file.text.path)
            files = [Known(settings if settings is not None else Unclear())]
        return _over([Known(self.run.command_line), *files, below])

    def flag(self, name: ast.expr) -> Known | None:
        """`_PRECISION = flags.DEFINE_string("precision", …)`, whose `value` is the flag's."""
        match name:
            case ast.Constant(value=str(option)):
                return Known(Given({"value": self.questions.option(option)}))
        return None

    def constructed(self, call: ast.Call, name: str) -> Known | None:
        """An instance of a class of the program: its arguments over the defaults of its fields."""
        if not isinstance(call.func, ast.Name | ast.Attribute):
            return None
        kind = record(name, self.program)
        if kind is None:
            return self.kept(call) if keeps_all(name, self.program) else None
        if kind.is_plain and not self._is_named(call.func):
            return None
        if "BaseSettings" in kind.bases and kind.has_options:
            return None  # other names, other files
        if any(isinstance(each, ast.Starred) for each in call.args):
            return None
        positional = zip((field.name for field in kind.fields), call.args, strict=False)
        values = {name: self._kept(each) for name, each in positional}
        layers: list[Known | None] = []
        for keyword in call.keywords:
            if keyword.arg is None:
                layers.append(self.value(keyword.value))
            else:
                values[keyword.arg] = self._kept(keyword.value)
        if "BaseSettings" in kind.bases:
            if "cli_parse_args" in kind.keywords:
                layers.append(Known(self.run.command_line))
            layers.append(Known(self.run.variables))
        return _over([Known(Given(values)), *layers, self._defaults(kind)])

    def _is_named(self, node: ast.expr) -> bool:
        """True for the name of a class that the file defines or imports, or of a module that it
        imports: `module.Config` may be that of any module that is loaded.
        """
        if isinstance(node, ast.Name):
            return bool(class_named(node.id, self.file, self.program.project))
        root = (dotted(node) or "").partition(".")[0]
        syntax = syntax_tree(self.file)
        scope = syntax.function(node) or syntax.tree
        return root in syntax.names and not syntax.stores(scope, root)

    def _kept(self, node: ast.expr) -> Known | None:
        """What an object keeps: a condition on another member does not depend on it."""
        return self.questions.kept(lambda: self.value(node))

    def kept(self, call: ast.Call) -> Known | None:
        """An object with a member for each setting that it is given."""
        values = {each.arg: self._kept(each.value) for each in call.keywords if each.arg}
        spread = [each.value for each in call.keywords if each.arg is None]
        return display(values, [self.value(each) for each in (*call.args, *spread)])

    def stored(self, name: str) -> Known | None:
        """What `ConfigStore.instance().store(name="config", node=Config)` keeps for Hydra, below
        the words of the command line. A list of defaults would compose it of others.
        """
        found = []
        for _, call in self.program.calls("store"):
            given = dict(zip(("name", "node", "group"), call.args, strict=False))
            given |= {each.arg: each.value for each in call.keywords if each.arg}
            match given:
                case {"name": ast.Constant(value=label), "node": node} if label == name:
                    found.append(None if "group" in given else node)
        stored = found[0] if len(found) == 1 else None
        wanted = last_name(stored.func if isinstance(stored, ast.Call) else stored)
        kind = record(wanted, self.program) if wanted else None
        if kind is None or any(field.name == "defaults" for field in kind.fields):
            return None
        return _over([Known(self.run.assignments), self.instance(wanted)])

    def of_class(self, name: str) -> Known | None:
        """A class that is read itself, `CFG.amp`, if its body says all that it holds."""
        kind = record(name, self.program)
        is_whole = kind is not None and all(field.is_of_class for field in kind.fields)
        return self._defaults(kind) if kind is not None and is_whole else None

    def instance(self, name: str, depth: int = 0) -> Known | None:
        """An instance of a class of the program with the defaults of its fields."""
        kind = record(name, self.program)
        if kind is None or depth > _MAX_DEPTH:
            return None
        return self._defaults(kind, depth)

    def _defaults(self, kind: Record, depth: int = 0) -> Known:
        values: dict[str, Known | None] = {}
        for field in kind.fields:
            if field.is_changed:
                values[field.name] = None
            elif field.value is not None or field.makes is not None:
                values[field.name] = self._default(field, depth)
            elif (inner := self.instance(last_name(field.annotation), depth + 1)) is not None:
                values[field.name] = inner  # a section that words or a file fill
        return Known(Given(values))

    def _default(self, field: Field, depth: int) -> Known | None:
        match field.value, field.makes:
            case None, ast.Lambda(body=body):
                return self._plain(field, body, depth)
            case None, ast.Name(id=name) | ast.Attribute(attr=name):
                return self.instance(name, depth + 1)
            case ast.expr() as value, _:
                return self._plain(field, value, depth)
        return None

    def _plain(self, field: Field, node: ast.expr, depth: int) -> Known | None:
        match node:
            case ast.Constant(value=None | str() | bool() | int() | float() as value):
                file = self.program.project.config_files.at(field.file.text.path)
                if file is None or value is None:
                    return Known(value)
                place = CodePlace(field.file.span_of(node), DEFAULT)
                return Known(value, Occurrence(field.name, value, place, file))
            case ast.Attribute(attr=name) if name in ALIASES:
                if qualified(node, syntax_tree(field.file).names) == f"torch.{name}":
                    value = DtypeName(f"torch.{ALIASES[name]}")
                    file = self.program.project.config_files.at(field.file.text.path)
                    place = CodePlace(field.file.span_of(node), DEFAULT)
                    written = Occurrence(field.name, name, place, file) if file else None
                    return Known(value, written)
            case ast.Call(func=function, args=[], keywords=[]):
                return self.instance(last_name(function), depth + 1)
        return None


def display(values: Mapping[str, Known | None], spread: list[Known | None]) -> Known | None:
    """`{**spread, "name": value}`, where the spread ones come first."""
    return _over([Known(Given(values)), *reversed(spread)], is_merged=False)


def updated(weak: Known | None, strong: Known | None) -> Known | None:
    """What `weak.update(strong)` leaves."""
    return _over([strong, weak], is_merged=False)


def _over(layers: Iterable[Known | None], *, is_merged: bool = True) -> Known | None:
    parts: list[Holder] = []
    for layer in layers:
        if layer is None or not isinstance(layer.value, Holder):
            return None
        parts.append(layer.value)
    return Known(parts[0] if len(parts) == 1 else Layers(tuple(parts), is_merged))


def _each(known: Known | None) -> Known | None:
    return Known(Items((), known)) if known is not None else None
