"""What code does with a section of a configuration that it holds, and which settings it may read.

It is followed through variables, attributes and tables (`section_holders.py`), functions and what
they return, in all Python files that may have it. Each step is either certain or an end: what gets
a section and is not seen to the end may read all of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.facts.runs.code.plain_copies import is_plain_copy
from precision_lint.facts.runs.code.section_holders import SectionHolders
from precision_lint.facts.runs.code.table_uses import (
    CHANGING_METHODS,
    JOINING,
    OF_TEXTS,
    READING_METHODS,
    SAME,
    SAME_METHODS,
    TEXTS,
    called,
    hands_on_all,
    is_general,
    is_of_library,
    is_recorded,
    keys_of,
    uses_of,
)
from precision_lint.facts.runs.code.ways import (
    class_meant,
    definitions,
    functions_meant,
    may_mean_another,
)
from precision_lint.facts.runs.written.key_paths import MOST_LEAD, At, is_start
from precision_lint.facts.runs.written.loads import may_mean, names_said
from precision_lint.source.python.bindings import enclosing_class, given_by_position
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import (
    callee_name,
    last_name,
    named_parameters,
    positional_parameters,
)
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_STEPS = 4_000
_MOST_LEVELS = 4
_SAVING = frozenset({"dumps", "dump", "safe_dump", "save"})
_MOST_DEFINITIONS = 4
"""Functions of one name that are followed."""


class SectionFlow(SectionHolders):
    """Follows what holds a section to its ends."""

    def follow(self) -> None:
        """Follow all that was put in to its ends."""
        for _ in range(_MOST_STEPS):
            if not self._pending or () in self.ends:  # something may read all of it
                return
            self._use(*self._pending.popleft())
        self.ends.add(())

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
                self.hold(parent, file, at)
            case ast.Return():
                self._returned(parent, file, at, None)
            case ast.BoolOp() | ast.Await():
                self.hold(parent, file, at)
            case ast.IfExp(test=test):
                if test is not node:
                    self.hold(parent, file, at)
            case (
                ast.For(target=target, iter=items) | ast.comprehension(target=target, iter=items)
            ) if items is node:
                self._loop(target, file, at)
            case ast.Tuple(elts=items):
                self._item(parent, items.index(node), file, at)
            case ast.Dict(keys=names, values=values) if node in values:
                name = names[values.index(node)]
                if name is None:  # `{**config}`
                    self.hold(parent, file, at)
                else:
                    self._kept_in(parent, name, file, at)
            case ast.DictComp(key=name, value=value) if value is node:
                whole = _as_entry_of(at, name, parent)
                self.hold(parent, file, whole)
                if whole is None:
                    self._end(at)
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
                self.hold(node, file, at)
            elif isinstance(node.ctx, ast.Load) or _is_changed(node, file):
                self.hold(node, file, at.into(name))
        elif name in READING_METHODS and call.args:
            for key in keys_of(call.args[0], file):
                self.hold(call, file, at.into(key))
        elif name in ("items", "values"):
            self._loop_over(call, file, at, is_paired=name == "items")
        elif name in SAME_METHODS:
            self.hold(call, file, at)
        elif name not in CHANGING_METHODS and name not in OF_TEXTS:
            self._end(at)

    def _entry(self, node: ast.Subscript, key: ast.expr, file: ParsedPython, at: At) -> None:
        """`config["model"]`, `configs[0]`, `config[name]`."""
        if not isinstance(node.ctx, ast.Load) and not _is_changed(node, file):
            return
        if isinstance(key, ast.Slice):
            self.hold(node, file, at)
            return
        for each in keys_of(key, file):
            self.hold(node, file, at.into(each))

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

    def _loop(self, target: ast.expr, file: ParsedPython, at: At) -> None:
        """`for item in config["items"]`: of a table, these are the names of its entries."""
        depth = len(at.keys)
        below = (each for each in self.wanted if is_start(at.keys, each))
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
                self.hold(call, file, at.into(key))
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
            self.hold(call, file, at)
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
        if callee_name(call) in _SAVING:
            self.saved.append(file.text.place(file.span_of(call)))
        for parent in syntax_tree(file).around(call):
            if isinstance(parent, ast.stmt):
                if isinstance(parent, ast.Assign | ast.Return):
                    self._end(at)
                return
            if isinstance(parent, ast.Call) and callee_name(parent) in ("loads", "safe_load"):
                self.hold(parent, file, at)

    def _taken(
        self, call: ast.Call, argument: int | ast.keyword, file: ParsedPython, at: At
    ) -> None:
        functions = self._functions(call, file)
        if not functions or any(isinstance(each, ast.Starred) for each in call.args):
            self._end(at)
            return
        if all(is_plain_copy(function) for _, function in functions):
            self.hold(call, file, at)
            return
        for home, function in functions:
            names = given_by_position(function, syntax_tree(home))
            match argument:
                case _ if hands_on_all(function, home):
                    self._end(at)
                case int() if argument < len(names):
                    self.read(names[argument], function, home, at)
                case ast.keyword(arg=str(given)):
                    self._by_name(given, function, home, at)
                case ast.keyword():
                    if not at.lead:
                        needed = _asked_of(call, function, home)
                        self.needed.update((*at.keys, name) for name in needed)
                    self._unpacked(function, home, at)
                case _:
                    self._end(at)

    def _by_name(self, name: str, function: FunctionDefinition, file: ParsedPython, at: At) -> None:
        """`build(config=config)`: a parameter, or an entry of `**kwargs`."""
        if any(each.arg == name for each in named_parameters(function.args)):
            self.read(name, function, file, at)
        elif (rest := function.args.kwarg) is not None and len(at.lead) < MOST_LEAD:
            self.read(rest.arg, function, file, at.within(name))
        else:
            self._end(at)

    def _unpacked(self, function: FunctionDefinition, file: ParsedPython, at: At) -> None:
        """`build(**config)`: each parameter is a key, and a starred one has the others."""
        for each in named_parameters(function.args):
            self.read(each.arg, function, file, at.into(each.arg))
        if (rest := function.args.kwarg) is not None:
            self.read(rest.arg, function, file, at)

    def _functions(
        self, call: ast.Call, file: ParsedPython
    ) -> Sequence[tuple[ParsedPython, FunctionDefinition]]:
        """The functions of the code that a call may mean; none if it may mean another one."""
        name = called(call, file)
        if not name or is_general(call) or is_of_library(call, file, self.project):
            return ()
        if may_mean_another(call.func, file, self.project):
            return ()
        found = functions_meant(call, file, self.project) or [
            (home, function)
            for home in self._mentioning(name)
            for function in definitions(home).get(name, ())
        ]
        found = found or self._of_class(call.func, file) or self._of_class_above(call, file)
        is_plain = all(self._is_plain(function, home) for home, function in found)
        return found if is_plain and len(found) <= _MOST_DEFINITIONS else ()

    def _is_plain(self, function: FunctionDefinition, file: ParsedPython) -> bool:
        """False for a function that another one of the code wraps, and for the `__init__` of a
        class whose objects are made in a way of its own.
        """
        names = (last_name(getattr(each, "func", each)) for each in function.decorator_list)
        if any(name in definitions(home) for name in names for home in self._mentioning(name)):
            return False
        owner = enclosing_class(function, syntax_tree(file))
        return owner is None or function.name != "__init__" or not self._is_made(owner, file)

    def _is_made(self, owner: ast.ClassDef, file: ParsedPython, levels: int = _MOST_LEVELS) -> bool:
        """True for a class with a metaclass, or a `__new__`, of the code."""
        kinds = {last_name(each.value) for each in owner.keywords if each.arg == "metaclass"}
        own = {each.name for each in owner.body if isinstance(each, FunctionDefinition)}
        if kinds - {"ABCMeta"} or "__new__" in own:
            return True
        above = (class_meant(each, file, self.project) for each in owner.bases if levels)
        return any(self._is_made(found[1], found[0], levels - 1) for found in above if found)

    def _of_class(
        self, node: ast.expr, file: ParsedPython, levels: int = _MOST_LEVELS
    ) -> list[tuple[ParsedPython, FunctionDefinition]]:
        """The `__init__` of a class of the project by its name in a file: its own, or that of the
        one class that it extends. None if that is not seen.
        """
        found = class_meant(node, file, self.project) if levels else None
        if found is None:
            return []
        home, owner = found
        for each in owner.body:
            if isinstance(each, FunctionDefinition) and each.name in ("__init__", "__new__"):
                return [(home, each)] if each.name == "__init__" else []
        return self._of_class(owner.bases[0], home, levels - 1) if len(owner.bases) == 1 else []

    def _of_class_above(
        self, call: ast.Call, file: ParsedPython
    ) -> list[tuple[ParsedPython, FunctionDefinition]]:
        """What `super().__init__(config)` calls."""
        match call.func:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
                owner = enclosing_class(call, syntax_tree(file))
                if owner is not None and len(owner.bases) == 1:
                    return self._of_class(owner.bases[0], file)
        return []

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
                elif not is_of_library(call, home, self.project) and self._may_load(call, home):
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
            self.hold(call, file, at)
            return
        match syntax_tree(file).parent(call):
            case ast.Assign(targets=[ast.Tuple(elts=targets)]) if len(targets) == item[1]:
                self._bind(targets[item[0]], file, at)
            case _:
                self._end(at)


def _asked_of(call: ast.Call, function: FunctionDefinition, file: ParsedPython) -> Iterator[str]:
    """The parameters that what a call unpacks has to have: no default, and nothing else gives
    them.
    """
    given = {each.arg for each in call.keywords}
    if sum(each.arg is None for each in call.keywords) > 1:
        return
    names = given_by_position(function, syntax_tree(file))[len(call.args) :]
    own = positional_parameters(function.args)
    last = len(own) - len(function.args.defaults)
    needed = {each.arg for each in own[:last]}
    yield from (name for name in names if name in needed and name not in given)


def _as_entry_of(at: At, name: ast.expr, made: ast.DictComp) -> At | None:
    """What a table stands for that is made of the entries of a section, under their own names:
    `{str(k): v for k, v in config.items()}`; None if they may get others.
    """
    if isinstance(name, ast.Call) and callee_name(name) == "str" and len(name.args) == 1:
        name = name.args[0]
    match made.generators, name:
        case [ast.comprehension(target=ast.Tuple(elts=[ast.Name(id=own), _]))], ast.Name(id=said):
            if own == said and at.keys[-1:] == (None,) and not at.lead:
                return At(at.keys[:-1])
    return None


def _is_changed(node: ast.expr, file: ParsedPython) -> bool:
    """True for `config.steps += 1`."""
    return isinstance(syntax_tree(file).parent(node), ast.AugAssign)
