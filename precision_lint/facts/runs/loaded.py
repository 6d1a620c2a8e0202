"""Where code loads a configuration, and which of its keys that code may read.

What a load gives is followed through variables, attributes, tables, functions and what they return,
in all Python files that may have it. Each step is either certain or an end: what gets a section and
is not seen to the end may read all of it. So what is left is certainly read by none of this code.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.loads import composed_in, loads_in, may_mean, names_said
from precision_lint.facts.runs.table_uses import (
    CHANGING_METHODS,
    JOINING,
    OPEN_BASES,
    READING_METHODS,
    SAME,
    SAME_METHODS,
    TEXTS,
    called,
    given_by_position,
    hands_on_all,
    is_general,
    is_of_library,
    is_of_parser,
    is_read_by_base,
    is_recorded,
    keys_of,
    uses_of,
)
from precision_lint.facts.runs.ways import definitions, members
from precision_lint.model.finding import Place
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import Memo, cached_property
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import (
    callee_name,
    dotted,
    last_name,
    named_parameters,
    positional_parameters,
)
from precision_lint.source.python.syntax_tree import syntax_tree

Keys: TypeAlias = "tuple[str | None, ...]"
"""The keys on the way to a section or a setting; None stands for any, and for an item of a list."""

_CLASS = regex(r"^[ \t]*class[ \t]+(\w+)[ \t]*(?:\(([^)]*)\))?", re.MULTILINE)
_MOST_STEPS = 4_000
_MOST_DEFINITIONS = 4
"""Functions of one name that are followed."""
_MOST_LEAD = 3


@frozen
class At:
    """What something stands for: the section at a path of keys; `lead` are keys before that, of a
    table that has the section as an entry: `{"config": config}`.
    """

    keys: Keys = ()
    lead: Keys = ()

    def into(self, key: str | None) -> At | None:
        """What an entry stands for; None if it is another one."""
        if not self.lead:
            return At((*self.keys, key))
        is_it = key is None or self.lead[0] in (None, key)
        return At(self.keys, self.lead[1:]) if is_it else None

    def within(self, key: str | None) -> At:
        """What a table stands for that has this as an entry."""
        return At(self.keys, (key, *self.lead))


@frozen(slots=False)
class Loaded:
    """What code does with the files of one kind that it loads.

    `places` are the calls that load the file: those that name it, if there are any. `reads` are the
    settings that it reads, and `ends` the sections that it hands on to where it is not seen.
    """

    places: tuple[Place, ...]
    is_named: bool
    reads: frozenset[Keys]
    ends: frozenset[Keys]

    def may_read(self, keys: Keys) -> bool:
        """True if code may read the setting at a path of keys."""
        return any(_is_start(end, keys) for end in self.ends) or any(
            len(read) == len(keys) and _is_start(read, keys) for read in self.reads
        )


def loaded(
    path: Path, wanted: frozenset[Keys], paths: Sequence[Path], project: Recording
) -> Loaded:
    """What the code of some files does with a configuration, as far as some keys go."""
    flow = _Flow(path, wanted, tuple(paths), project)
    flow.follow()
    places = tuple(dict.fromkeys(flow.named or flow.places))
    return Loaded(places, bool(flow.named), frozenset(flow.reads), frozenset(flow.ends))


def _is_start(start: Keys, keys: Keys) -> bool:
    pairs = zip(start, keys, strict=False)
    return len(start) <= len(keys) and all(
        one is None or other is None or one == other for one, other in pairs
    )


@frozen(eq=False, slots=False)
class _Flow(Memo):
    """Follows what the loads of a file give."""

    path: Path
    wanted: frozenset[Keys]
    paths: tuple[Path, ...]
    project: Recording
    places: list[Place] = field(default_factory=list)
    named: list[Place] = field(default_factory=list)
    reads: set[Keys] = field(default_factory=set)
    ends: set[Keys] = field(default_factory=set)
    _seen: set[tuple[int, At]] = field(default_factory=set)
    _bound: set[tuple[object, ...]] = field(default_factory=set)
    _pending: deque[tuple[ast.expr, ParsedPython, At]] = field(default_factory=deque)

    def follow(self) -> None:
        """Follow all loads to their ends."""
        for path in self.paths:
            for load in loads_in(path, self.path.suffix, self.project):
                said = names_said(load.source, load.file) if load.source is not None else ()
                if said and not any(may_mean(text, self.path) for text in said):
                    continue
                place = load.file.text.place(load.file.span_of(load.call))
                self.places.append(place)
                if said:
                    self.named.append(place)
                self._hold(load.call, load.file, At())
            for function, file in composed_in(path, self.project) if self._is_yaml else ():
                self.places.append(file.text.place(file.span_of(function.decorator_list[0])))
                for each in positional_parameters(function.args)[:1]:
                    self._read(each.arg, function, file, At())
        for _ in range(_MOST_STEPS):
            if not self._pending or () in self.ends:  # something may read all of it
                return
            self._use(*self._pending.popleft())
        self.ends.add(())

    @property
    def _is_yaml(self) -> bool:
        return self.path.suffix in (".yaml", ".yml")

    @cached_property
    def _defined(self) -> frozenset[str]:
        """The classes of the code that extend none of a library which may read their members."""
        texts = map(self.project.config_files.text, self.paths)
        bases: dict[str, set[str]] = {}
        for name, given in (row for text in texts for row in _CLASS.findall(text)):
            named = (each.strip() for each in given.split(",") if "=" not in each)
            bases.setdefault(name, set()).update(each.rpartition(".")[2] for each in named)
        known = {name for name, above in bases.items() if above <= OPEN_BASES}
        while (
            more := {name for name, above in bases.items() if above <= OPEN_BASES | known} - known
        ):
            known |= more
        return frozenset(known)

    def _mentioning(self, name: str) -> Iterator[ParsedPython]:
        for path in self.paths:
            if name in self.project.config_files.text(path):
                file = self.project.module(path)
                if file is not None:
                    yield file

    def _end(self, at: At) -> None:
        self.ends.add(at.keys)

    def _hold(self, node: ast.expr, file: ParsedPython, at: At | None) -> None:
        """An expression stands for a section."""
        if at is None or (id(node), at) in self._seen:
            return
        self._seen.add((id(node), at))
        below = [each for each in self.wanted if _is_start(at.keys, each)]
        if any(len(each) == len(at.keys) for each in below) and not at.lead:
            self.reads.add(at.keys)
        if any(len(each) > len(at.keys) for each in below) or (below and at.lead):
            self._pending.append((node, file, at))

    # What is done with a section

    def _use(self, node: ast.expr, file: ParsedPython, at: At) -> None:
        syntax = syntax_tree(file)
        parent = syntax.parent(node)
        match parent:
            case ast.Attribute(value=value) if value is node:
                self._member(parent, file, at)
            case ast.Subscript(value=value, slice=key) if value is node:
                self._entry(parent, key, file, at)
            case ast.keyword():
                call = syntax.parent(parent)
                if isinstance(call, ast.Call):
                    self._given(call, parent, file, at)
                else:
                    self._end(at)
            case ast.Call(args=args) if node in args:
                self._given(parent, args.index(node), file, at)
            case ast.Assign(targets=targets):
                for target in targets:
                    self._bind(target, file, at)
            case ast.AnnAssign(target=target):
                self._bind(target, file, at)
            case ast.NamedExpr(target=target):
                self._bind(target, file, at)
                self._hold(parent, file, at)
            case ast.Return():
                self._returned(parent, file, at, None)
            case ast.BoolOp() | ast.Await():
                self._hold(parent, file, at)
            case ast.IfExp(test=test):
                if test is not node:
                    self._hold(parent, file, at)
            case (
                ast.For(target=target, iter=items) | ast.comprehension(target=target, iter=items)
            ) if items is node:
                self._loop(target, file, at)
            case ast.Tuple(elts=items):
                self._item(parent, items.index(node), file, at)
            case ast.Dict(keys=names, values=values) if node in values:
                name = names[values.index(node)]
                if name is None:  # `{**config}`
                    self._hold(parent, file, at)
                else:
                    self._kept_in(parent, name, file, at)
            case (
                ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.If() | ast.While() | ast.Assert()
                | ast.Expr() | ast.FormattedValue() | ast.Delete()
            ):  # fmt: skip
                pass  # whether there is a section reads none of its settings
            case _:
                self._end(at)

    def _member(self, node: ast.Attribute, file: ParsedPython, at: At) -> None:
        """`config.model`, `config.get("model")`."""
        call, name = syntax_tree(file).parent(node), node.attr
        if not isinstance(call, ast.Call) or call.func is not node:
            if name == "__dict__":
                self._hold(node, file, at)
            elif isinstance(node.ctx, ast.Load) or _is_changed(node, file):
                self._hold(node, file, at.into(name))
        elif name in READING_METHODS and call.args:
            for key in keys_of(call.args[0], file):
                self._hold(call, file, at.into(key))
        elif name in ("items", "values"):
            self._loop_over(call, file, at, is_paired=name == "items")
        elif name in SAME_METHODS:
            self._hold(call, file, at)
        elif name not in CHANGING_METHODS:
            self._end(at)

    def _entry(self, node: ast.Subscript, key: ast.expr, file: ParsedPython, at: At) -> None:
        """`config["model"]`, `configs[0]`, `config[name]`."""
        if not isinstance(node.ctx, ast.Load) and not _is_changed(node, file):
            return
        if isinstance(key, ast.Slice):
            self._hold(node, file, at)
            return
        for each in keys_of(key, file):
            self._hold(node, file, at.into(each))

    def _loop_over(self, node: ast.expr, file: ParsedPython, at: At, *, is_paired: bool) -> None:
        """`for name, value in config.items()`, `for value in config.values()`."""
        match syntax_tree(file).parent(node):
            case ast.For(target=target) | ast.comprehension(target=target):
                match target:
                    case ast.Tuple(elts=[_, value]) if is_paired:
                        self._bind_entry(value, file, at)
                    case ast.Name() if not is_paired:
                        self._bind_entry(target, file, at)
                    case _:
                        self._end(at)
            case ast.Call() as call if callee_name(call) in ("list", "sorted", "tuple", "iter"):
                self._loop_over(call, file, at, is_paired=is_paired)
            case _:
                self._end(at)

    def _bind_entry(self, target: ast.expr, file: ParsedPython, at: At) -> None:
        inner = at.into(None)
        if inner is not None:
            self._bind(target, file, inner)

    def _loop(self, target: ast.expr, file: ParsedPython, at: At) -> None:
        """`for item in config["items"]`: of a table, these are the names of its entries."""
        depth = len(at.keys)
        below = (each for each in self.wanted if _is_start(at.keys, each))
        if at.lead or any(each[depth : depth + 1] == (None,) for each in below):
            self._bind_entry(target, file, at)

    def _item(self, node: ast.Tuple, index: int, file: ParsedPython, at: At) -> None:
        """`return config, path`, `first, second = config, path`."""
        match syntax_tree(file).parent(node):
            case ast.Return() as statement:
                self._returned(statement, file, at, (index, len(node.elts)))
            case ast.Assign(targets=[ast.Tuple(elts=targets)]) if len(targets) == len(node.elts):
                self._bind(targets[index], file, at)
            case _:
                self._end(at)

    # What keeps it

    def _kept_in(self, table: ast.expr, key: ast.expr, file: ParsedPython, at: At) -> None:
        """`{"config": config}`, `dict(config=config)`, `table["config"] = config`."""
        for name in keys_of(key, file):
            if len(at.lead) < _MOST_LEAD:
                self._hold(table, file, at.within(name))
            else:
                self._end(at)

    def _bind(self, target: ast.expr, file: ParsedPython, at: At) -> None:
        match target:
            case ast.Name():
                self._bind_name(target, file, at)
            case ast.Attribute(attr=name):
                if name == "__dict__" or is_read_by_base(target, file, self._defined):
                    self._end(at)
                self._bind_member(name, at, is_parsed=is_of_parser(target.value, file))
            case ast.Subscript(value=table, slice=key):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    self._bind_member(key.value, at)
                match table:
                    case ast.Name():
                        for each in keys_of(key, file):
                            self._bind_name(table, file, at.within(each))
                    case _:
                        self._end(at)
            case _:
                self._end(at)

    def _bind_name(self, target: ast.Name, file: ParsedPython, at: At) -> None:
        syntax, name = syntax_tree(file), target.id
        scope = syntax.body(target)
        if isinstance(scope, ast.ClassDef):
            self._bind_member(name, at)
            return
        if len(at.lead) > _MOST_LEAD:
            self._end(at)
            return
        is_global = isinstance(scope, ast.Module) or any(
            isinstance(each, ast.Global) for each in syntax.reads(scope, name)
        )
        is_outer = not is_global and not syntax.stores(scope, name)
        self._read(name, syntax.tree if is_global or is_outer else scope, file, at)
        key = (file.text.path, name), at
        if is_global and key not in self._bound:
            self._bound.add(key)
            self._imported(name, file, at)

    def _read(self, name: str, scope: ast.AST, file: ParsedPython, at: At | None) -> None:
        for each in syntax_tree(file).reads(scope, name):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                self._hold(each, file, at)

    def _imported(self, name: str, home: ParsedPython, at: At) -> None:
        """Where other modules read a global variable."""
        for file in self._mentioning(name):
            if file is home:
                continue
            for node in file.nodes:
                for each in node.names if isinstance(node, ast.ImportFrom) else ():
                    if each.name in (name, "*"):
                        self._read(each.asname or name, file.tree, file, at)
            modules = syntax_tree(file).names
            for read, holder in members(file).get(name, ()):
                root = (dotted(holder) or "").partition(".")[0]
                if root in modules or isinstance(holder, ast.Call):  # `configs.base.MODEL`
                    self._hold(read, file, at)

    def _bind_member(self, name: str, at: At, *, is_parsed: bool = False) -> None:
        """Whatever has a member of a name may have it from here; what a parser of words returns has
        it only if that is what gets it.
        """
        if (name, at, is_parsed) in self._bound:
            return
        self._bound.add((name, at, is_parsed))
        for file in self._mentioning(name):
            for node, holder in members(file).get(name, ()):
                if is_parsed or not is_of_parser(holder, file):
                    self._hold(node, file, at)

    # Functions

    def _given(
        self, call: ast.Call, argument: int | ast.keyword, file: ParsedPython, at: At
    ) -> None:
        """What a call does with a section."""
        name = callee_name(call)
        keyword = argument.arg if isinstance(argument, ast.keyword) else None
        is_spread = isinstance(argument, ast.keyword) and keyword is None
        if is_recorded(call, file) and not is_spread:
            if keyword == "config":
                self._bind_member("config", at)  # `wandb.config` gives it again
            return
        if name == "getattr" and argument == 0 and len(call.args) > 1:
            for key in keys_of(call.args[1], file):
                self._hold(call, file, at.into(key))
        elif name == "enumerate" and argument == 0:
            self._loop_over(call, file, at, is_paired=True)
        elif name == "setattr" and argument == 0:
            pass
        elif name in JOINING and isinstance(call.func, ast.Attribute) and argument == 0:
            is_item = name == "append"
            self._joined(call.func.value, file, at.within(None) if is_item else at)
        elif name in TEXTS and not is_spread:
            self._written(call, file, at)
        elif SAME.fullmatch(name) and keyword is not None:
            self._kept_in(call, ast.Constant(keyword), file, at)
        elif SAME.fullmatch(name):
            self._hold(call, file, at)
        else:
            self._taken(call, argument, file, at)

    def _joined(self, table: ast.expr, file: ParsedPython, at: At) -> None:
        """`table.update(config)`, `tables.append(config)`."""
        if isinstance(table, ast.Name):
            self._bind_name(table, file, at)
        else:
            self._end(at)

    def _written(self, call: ast.Call, file: ParsedPython, at: At) -> None:
        """A text or a file of settings: what is loaded later has the same keys, if it is of all."""
        if at.lead:
            self._bind_member(at.lead[0] or "", At(at.keys, at.lead[1:]))
        elif at.keys:
            self._end(at)
        for parent in syntax_tree(file).around(call):
            if isinstance(parent, ast.stmt):
                if isinstance(parent, ast.Assign | ast.Return):
                    self._end(at)
                return
            if isinstance(parent, ast.Call) and callee_name(parent) in ("loads", "safe_load"):
                self._hold(parent, file, at)

    def _taken(
        self, call: ast.Call, argument: int | ast.keyword, file: ParsedPython, at: At
    ) -> None:
        functions = self._functions(call, file)
        if not functions or any(isinstance(each, ast.Starred) for each in call.args):
            self._end(at)
            return
        for home, function in functions:
            names = given_by_position(function, home)
            match argument:
                case _ if hands_on_all(function, home):
                    self._end(at)
                case int() if argument < len(names):
                    self._read(names[argument], function, home, at)
                case ast.keyword(arg=str(given)):
                    self._by_name(given, function, home, at)
                case ast.keyword():
                    self._unpacked(function, home, at)
                case _:
                    self._end(at)

    def _by_name(self, name: str, function: FunctionDefinition, file: ParsedPython, at: At) -> None:
        """`build(config=config)`: a parameter, or an entry of `**kwargs`."""
        if any(each.arg == name for each in named_parameters(function.args)):
            self._read(name, function, file, at)
        elif (rest := function.args.kwarg) is not None and len(at.lead) < _MOST_LEAD:
            self._read(rest.arg, function, file, at.within(name))
        else:
            self._end(at)

    def _unpacked(self, function: FunctionDefinition, file: ParsedPython, at: At) -> None:
        """`build(**config)`: each parameter is a key, and a starred one has the others."""
        for each in named_parameters(function.args):
            self._read(each.arg, function, file, at.into(each.arg))
        if (rest := function.args.kwarg) is not None:
            self._read(rest.arg, function, file, at)

    def _functions(
        self, call: ast.Call, file: ParsedPython
    ) -> Sequence[tuple[ParsedPython, FunctionDefinition]]:
        """The functions of the code that a call may mean; none if it may mean another one."""
        name = called(call, file)
        if not name or is_general(call):
            return ()
        if self._is_of_library(call, file):
            return ()
        found = [
            (home, function)
            for home in self._mentioning(name)
            for function in definitions(home).get(name, ())
        ]
        return found if len(found) <= _MOST_DEFINITIONS else ()

    def _is_of_library(self, call: ast.Call, file: ParsedPython) -> bool:
        return is_of_library(call, file, self.project)

    def _returned(
        self, statement: ast.Return, file: ParsedPython, at: At, item: tuple[int, int] | None
    ) -> None:
        """What a function returns is where it is called; another mention of it may be a call."""
        function = syntax_tree(file).function(statement)
        if not isinstance(function, FunctionDefinition) or function.name.startswith("__"):
            self._end(at)
            return
        decorators = {last_name(each) for each in function.decorator_list}
        if item is None and decorators & {"property", "cached_property"}:
            self._bind_member(function.name, at)
            return
        for home in self._mentioning(function.name):
            for call in uses_of(function.name, home):
                if call is None:
                    self._end(at)
                elif not self._is_of_library(call, home) and self._may_load(call, home):
                    self._result(call, home, at, item)

    def _may_load(self, call: ast.Call, file: ParsedPython) -> bool:
        """False for a call that names another file."""
        arguments = (*call.args, *(each.value for each in call.keywords))
        said = [text for each in arguments for text in names_said(each, file)]
        is_it = any(may_mean(text, self.path) for text in said)
        if is_it:
            self.named.append(file.text.place(file.span_of(call)))
        return is_it or not said

    def _result(
        self, call: ast.Call, file: ParsedPython, at: At, item: tuple[int, int] | None
    ) -> None:
        if item is None:
            self._hold(call, file, at)
            return
        match syntax_tree(file).parent(call):
            case ast.Assign(targets=[ast.Tuple(elts=targets)]) if len(targets) == item[1]:
                self._bind(targets[item[0]], file, at)
            case _:
                self._end(at)


def _is_changed(node: ast.expr, file: ParsedPython) -> bool:
    """True for `config.steps += 1`."""
    return isinstance(syntax_tree(file).parent(node), ast.AugAssign)
