"""The functions of a file: who calls whom, and which of them take or give a fixed dtype.

What is not known by its name may be any function of that name; see `escaping` for what is done
with it.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import chain, pairwise
from operator import attrgetter

from precision_lint.facts.dtypes.operators.module_inputs import LAYERS
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import cached_property
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted

WHOLE = -1
"""All of what a function returns, where its items have positions."""

_ROW: Callable[[ast.stmt], int] = attrgetter("lineno")
_WORD = regex(r"[^\W\d]\w*")


@frozen
class Imported:
    """What a file imports that returns something fixed: a function, or `forward` of a class."""

    name: str
    function: ast.FunctionDef
    positions: Set[int]


class FunctionsOfFile:
    """The functions of a file, and which of them take or give a fixed dtype."""

    def __init__(self, file: ParsedPython) -> None:
        self.file = file
        every = sorted(file.nodes_of(ast.FunctionDef), key=_ROW)
        assigned = sorted(file.nodes_of(ast.Assign), key=_ROW)
        self.functions = [each for each in every if each.name != "__init__"]
        self.giving: set[str] = set()
        """What functions are called that give something fixed, and the modules with such a one."""
        self._words: dict[ast.FunctionDef, list[Set[str]]] = {}
        self._named: dict[str, list[ast.FunctionDef]] = {}
        self._of_class: dict[str, list[ast.FunctionDef]] = {}
        self._own: dict[ast.FunctionDef, _Own] = {}
        self._called: dict[ast.AST, list[ast.FunctionDef]] = {}
        self._mentioned: dict[ast.FunctionDef, list[ast.FunctionDef]] = {}
        self.held: dict[str, set[str]] = {}
        """By attribute, the classes of the modules that objects hold under this name."""
        self.taking: dict[ast.FunctionDef, set[str]] = {}
        self._given: dict[tuple[ast.FunctionDef, bool], set[int]] = {}
        """The results that are fixed, by position in what is returned; `WHOLE` for all of it.

        One entry for calls that give the function something fixed, and one for the others.
        """
        self._imported: set[ast.FunctionDef] = set()
        for function in self.functions:
            self._named.setdefault(function.name, []).append(function)
        for node in sorted(file.nodes_of(ast.ClassDef), key=_ROW):
            own = _Own(node, assigned)
            self._own |= dict.fromkeys(own.methods.values(), own)
            self._of_class[node.name] = [*filter(None, [own.methods.get("forward")])]
            for attribute, made in own.held.items():
                self.held.setdefault(attribute, set()).update(made)
        self.changed: dict[ast.FunctionDef, bool] = {}
        """The functions of which something is known that was not when they were walked.

        False if that is only what they are given.
        """

    def take_over(self, imported: Sequence[Imported]) -> None:
        """Functions and classes of other files, as they are called here."""
        for each in imported:
            self._imported.add(each.function)
            holder = self._of_class if each.function.name == "forward" else self._named
            holder.setdefault(each.name, []).append(each.function)
        for each in imported:
            self.give(each.function, {*each.positions}, is_given=False)

    def take(self, function: ast.FunctionDef, names: set[str]) -> None:
        """A function is given something fixed for some of its parameters."""
        if function in self._imported:
            return
        taken = self.taking.setdefault(function, set())
        if not names <= taken:
            taken |= names
            self.changed.setdefault(function, False)

    def give(self, function: ast.FunctionDef, positions: set[int], *, is_given: bool) -> None:
        """A function returns something fixed."""
        given = self._given.setdefault((function, is_given), set())
        if not positions <= given:
            given |= positions
            names = self._names_of(function)
            self.giving.update(names)
            self.changed |= {each: True for name in names for each in self._naming.get(name, ())}

    def given(self, function: ast.FunctionDef, *, is_given: bool) -> Set[int]:
        """The results of a call that are fixed."""
        alone = self._given.get((function, False), set())
        return alone | self._given.get((function, True), set()) if is_given else alone

    def _names_of(self, function: ast.FunctionDef) -> list[str]:
        """The name of a function, and those of the modules of its class."""
        held = self.held.items()
        return [function.name, *(name for name, made in held if function in self._forwards(made))]

    def words_by_row(self, function: ast.FunctionDef) -> list[Set[str]]:
        """The words of the rows of a function, from its first one on."""
        if function not in self._words:
            text = self.file.text
            starts = [*text.line_starts, len(text.text)]
            rows = pairwise(starts[function.lineno - 1 : (function.end_lineno or 0) + 1])
            self._words[function] = [frozenset(_WORD.findall(text.text, *row)) for row in rows]
        return self._words[function]

    @cached_property
    def _naming(self) -> Mapping[str, list[ast.FunctionDef]]:
        """The functions of the file, by the names of others and of modules in their bodies."""
        known = self._named.keys() | self.held.keys()
        naming: dict[str, list[ast.FunctionDef]] = {}
        for function in self.functions:
            above = function.body[0].lineno - function.lineno
            words = chain.from_iterable(self.words_by_row(function)[above:])
            for name in known.intersection(words):
                naming.setdefault(name, []).append(function)
        return naming

    def mentioned(self, function: ast.FunctionDef) -> list[ast.FunctionDef]:
        """The functions of the file that a function names, and those of modules that it names."""
        if function in self._imported:
            return []
        if function not in self._mentioned:
            self._mentioned[function] = list(dict.fromkeys(self.called(function, function)))
        return self._mentioned[function]

    def called(self, function: ast.AST, within: ast.FunctionDef) -> list[ast.FunctionDef]:
        """The functions of the file that an expression may stand for, or look up."""
        if function not in self._called:
            self._called[function] = self._find(function, self._own.get(within))
        return self._called[function]

    def _find(self, function: ast.AST, own: _Own | None) -> list[ast.FunctionDef]:
        found: list[ast.FunctionDef] = []
        for node in walk(function):
            match node:
                case ast.Name(id=name):
                    found += self._named.get(name, [])
                case ast.Attribute(value=ast.Name(id="self"), attr=name) if own and (
                    name in own.held or name in own.methods
                ):
                    found += self._forwards(own.held.get(name, ()))
                    found += filter(None, [own.methods.get(name)])
                case ast.Attribute(attr=name):
                    methods = self._named.get(name, []) if name != "forward" else []
                    found += self._forwards(self.held.get(name, ())) or methods
        return found

    def _forwards(self, classes: Iterable[str]) -> list[ast.FunctionDef]:
        return [each for one in classes for each in self._of_class.get(one, [])]

    def is_layer(self, function: ast.expr) -> bool:
        """True for an attribute that may hold a layer with weights."""
        named = (each.attr for each in walk(function) if isinstance(each, ast.Attribute))
        return any(not LAYERS.isdisjoint(self.held.get(name, ())) for name in named)

    def is_embedding(self, function: ast.expr) -> bool:
        """True for an attribute that holds an embedding: a call looks up rows of its weights."""
        return isinstance(function, ast.Attribute) and self.held.get(function.attr) == {"Embedding"}


@frozen
class Reachable:
    """Some functions of a file, and which of them others may call."""

    _known: FunctionsOfFile
    _functions: frozenset[ast.FunctionDef]

    def __bool__(self) -> bool:
        return bool(self._functions)

    def below(self, function: ast.AST) -> frozenset[ast.FunctionDef]:
        """Those that a function may call, by others or by itself."""
        found: set[ast.FunctionDef] = set()
        pending = [function]
        while self._functions and pending:
            current = pending.pop()
            if isinstance(current, ast.FunctionDef) and current not in found:
                found.add(current)
                pending += self._known.mentioned(current)
        return self._functions & found


class _Own:
    """The methods of a class, and by attribute the classes of the modules that it holds."""

    def __init__(self, node: ast.ClassDef, assigned: list[ast.Assign]) -> None:
        self.methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
        self.held: dict[str, set[str]] = {}
        first = bisect_left(assigned, node.lineno, key=_ROW)
        for each in assigned[first : bisect_right(assigned, node.end_lineno or 0, key=_ROW)]:
            match each:
                case ast.Assign(targets=[ast.Attribute(attr=name)], value=value):
                    below = walk(value) if dotted(value) is None else []
                    made = {callee_name(one) for one in below if type(one) is ast.Call}
                    self.held.setdefault(name, set()).update(made)
