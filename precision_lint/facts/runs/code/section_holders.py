"""What holds a section of a configuration in code: expressions, variables, attributes, tables."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.table_uses import (
    closed_classes,
    is_of_parser,
    is_read_by_base,
    keys_of,
)
from precision_lint.facts.runs.code.ways import members
from precision_lint.facts.runs.written.key_paths import MOST_LEAD, At, Keys, is_start
from precision_lint.model.finding import Place
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import Memo, cached_property
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import dotted, parameters
from precision_lint.source.python.syntax_tree import syntax_tree


def _is_local(read: ast.Name, file: ParsedPython) -> bool:
    """True for a variable of a function that has the name of a global one."""
    syntax, name = syntax_tree(file), read.id
    function = syntax.function(read)
    while function is not None:
        if any(each.arg == name for each in parameters(function.args)):
            return True
        if syntax.stores(function, name):
            return not syntax.is_declared_global(function, name)
        function = syntax.function(function)
    return False


def _is_before(read: ast.Name, store: ast.Name, file: ParsedPython) -> bool:
    """True for a read of a variable that certainly runs before an assignment of it, and not again:
    `with open(config) as stream: config = json.load(stream)`.
    """
    syntax = syntax_tree(file)
    function = syntax.function(store)
    if syntax.function(read) is not function:
        return False
    around = set(syntax.within_function(store))
    is_looped = any(isinstance(each, ast.For | ast.AsyncFor | ast.While) for each in around)
    own = next(each for each in syntax.around(store) if isinstance(each, ast.stmt))
    return not is_looped and (read.lineno, read.col_offset) < (own.lineno, own.col_offset)


@frozen(eq=False, slots=False)
class SectionHolders(Memo):
    """What holds a file, or a section of it, in some Python files.

    `reads` are the settings that are read, and `ends` the sections that go where it is not seen.
    `named` are the places that say the name of the file, and `saved` those that write it again.
    `needed` are settings without which a call of a function raises.
    """

    path: Path
    wanted: frozenset[Keys]
    paths: tuple[Path, ...]
    project: Recording
    named: list[Place] = field(default_factory=list)
    saved: list[Place] = field(default_factory=list)
    reads: set[Keys] = field(default_factory=set)
    ends: set[Keys] = field(default_factory=set)
    needed: set[Keys] = field(default_factory=set)
    _seen: set[tuple[int, At]] = field(default_factory=set)
    _bound: set[tuple[object, ...]] = field(default_factory=set)
    _pending: deque[tuple[ast.expr, ParsedPython, At]] = field(default_factory=deque)

    def hold(self, node: ast.expr, file: ParsedPython, at: At | None) -> None:
        """An expression stands for a section."""
        if at is None or (id(node), at) in self._seen:
            return
        self._seen.add((id(node), at))
        below = [each for each in self.wanted if is_start(at.keys, each)]
        if any(len(each) == len(at.keys) for each in below) and not at.lead:
            self.reads.add(at.keys)
        if any(len(each) > len(at.keys) for each in below) or (below and at.lead):
            self._pending.append((node, file, at))

    def read(self, name: str, scope: ast.AST, file: ParsedPython, at: At | None) -> None:
        """A variable of a scope stands for a section."""
        is_global = isinstance(scope, ast.Module)
        for each in syntax_tree(file).reads(scope, name):
            match each:
                case ast.Name(ctx=ast.Load()) if not (is_global and _is_local(each, file)):
                    self.hold(each, file, at)

    def _end(self, at: At) -> None:
        """What gets a section may read all of it."""
        self.ends.add(at.keys)

    def _bind(self, target: ast.expr, file: ParsedPython, at: At) -> None:
        """A target of an assignment stands for a section."""
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

    def _bind_entry(self, target: ast.expr, file: ParsedPython, at: At) -> None:
        """A target stands for any entry of a section."""
        inner = at.into(None)
        if inner is not None:
            self._bind(target, file, inner)

    def _bind_name(self, target: ast.Name, file: ParsedPython, at: At) -> None:
        syntax, name = syntax_tree(file), target.id
        scope = syntax.body(target)
        if isinstance(scope, ast.ClassDef):
            self._bind_member(name, at)
            return
        if len(at.lead) > MOST_LEAD:
            self._end(at)
            return
        is_global = isinstance(scope, ast.Module) or syntax.is_declared_global(scope, name)
        is_outer = not is_global and not syntax.stores(scope, name)
        if is_global or is_outer:
            self.read(name, syntax.tree, file, at)
        else:
            for each in syntax.reads(scope, name):
                match each:
                    case ast.Name(ctx=ast.Load()) if not _is_before(each, target, file):
                        self.hold(each, file, at)
        key = (file.text.path, name), at
        if is_global and key not in self._bound:
            self._bound.add(key)
            self._imported(name, file, at)

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
                    self.hold(node, file, at)

    def _kept_in(self, table: ast.expr, key: ast.expr, file: ParsedPython, at: At) -> None:
        """`{"config": config}`, `dict(config=config)`, `table["config"] = config`."""
        for name in keys_of(key, file):
            if len(at.lead) < MOST_LEAD:
                self.hold(table, file, at.within(name))
            else:
                self._end(at)

    def _imported(self, name: str, home: ParsedPython, at: At) -> None:
        """Where other modules read a global variable."""
        for file in self._mentioning(name):
            if file is home:
                continue
            for node in file.nodes:
                for each in node.names if isinstance(node, ast.ImportFrom) else ():
                    if each.name in (name, "*"):
                        self.read(each.asname or name, file.tree, file, at)
            modules = syntax_tree(file).names
            for read, holder in members(file).get(name, ()):
                root = (dotted(holder) or "").partition(".")[0]
                if root in modules or isinstance(holder, ast.Call):  # `configs.base.MODEL`
                    self.hold(read, file, at)

    def _mentioning(self, name: str) -> Iterator[ParsedPython]:
        """The files whose text has a name."""
        for path in self.paths:
            if name in self.project.config_files.text(path):
                file = self.project.module(path)
                if file is not None:
                    yield file

    @cached_property
    def _defined(self) -> frozenset[str]:
        """The classes of the code whose members no library may read."""
        return closed_classes(map(self.project.config_files.text, self.paths))
