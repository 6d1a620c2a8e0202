"""What members of objects, entries of tables and parts of texts come to in one run."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeAlias

from precision_lint.facts.amp.regions.autocast import is_autocast
from precision_lint.facts.runs.formats import yacs
from precision_lint.facts.runs.interpreter.imported_names import assigning
from precision_lint.facts.runs.interpreter.known import Given, Holder, Items, Known, Options, Thing
from precision_lint.facts.runs.interpreter.places import MAX_CALLS, Evaluation, Miss, Place
from precision_lint.facts.runs.interpreter.reaching import reached
from precision_lint.facts.settings.vocabulary import names_precision
from precision_lint.model.dtypes import ALIASES, DtypeName
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import Scope, SyntaxTree, syntax_tree

_Store: TypeAlias = "tuple[ParsedPython, ast.expr]"
_RunningStore: TypeAlias = "tuple[bool | None, ParsedPython, ast.expr]"


class Members:
    """Looks members up, unless the program assigns them before they are read."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    def member(self, owner: ast.expr, name: str, at: Place) -> Known | None:
        """An option or a setting, unless the program assigns it before it is read."""
        known = self._evaluation.at(owner, at)
        if known is None or not isinstance(known.value, Holder):
            return None
        if name == "__dict__":
            return known
        if isinstance(known.value, yacs.Part):
            return self._evaluation.noted(known.value.get(name))
        if stores := self._running(self._stored(name, owner, at)):
            return self._assigned_member(stores)
        match known.value:
            case Options() if (items := self._evaluation.items(name)) is not None:
                return Known(items)
            case Holder() as holder:
                found = holder.get(name)
                is_section = found is None and isinstance(holder, Options)
                if is_section and name in self._evaluation.program.sections:
                    return Known(holder)
                return self._evaluation.noted(found)
        return None

    def _stored(self, name: str, read: ast.expr, at: Place) -> list[_Store]:
        """Where a member is assigned, but for what comes later in the function that reads it."""
        own = at.syntax.function(read)
        return [
            (file, node)
            for file, node in self._evaluation.program.assigned.get(name, ())
            if not (
                file is at.file and own is at.syntax.function(node) and node.lineno > read.lineno
            )
        ]

    def _running(self, stores: list[_Store]) -> list[_RunningStore]:
        """The assignments that may run, each with whether it certainly does."""
        if len(stores) > MAX_CALLS:
            return [(None, *store) for store in stores]
        states = ((reached(node, file, self._evaluation), file, node) for file, node in stores)
        return [store for store in states if store[0] is not False]

    def _assigned_member(self, stores: list[_RunningStore]) -> Known | None:
        """The value of the one assignment that runs, if it is certain that no other does."""
        if len(stores) != 1 or not stores[0][0]:
            return None
        ((_, file, node),) = stores
        match syntax_tree(file).parent(node):
            case ast.Assign(targets=[target], value=value) if target is node:
                known = self._evaluation.at(value, Place(file))
                if known is None or not known.is_plain:
                    return None
                return known if known.written is not None else self._because(node, file, known)
        return None

    def _because(self, node: ast.expr, file: ParsedPython, known: Known) -> Known:
        """A constant that is assigned where a setting holds: `if args.amp: args.half = True`."""
        for parent in syntax_tree(file).around(node):
            match parent:
                case ast.If(test=test):
                    decision = self._evaluation.at(test, Place(file))
                    if decision is not None and decision.written is not None:
                        return decision.derived(known.value)
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                    break
        return known

    def item(self, owner: ast.expr, key: ast.expr, at: Place) -> Known | None:
        index = self._evaluation.at(key, at)
        if index is None:
            return None
        if qualified(owner, at.syntax.names) == "os.environ" and isinstance(index.value, str):
            return self._evaluation.noted(self._evaluation.run.variable(index.value))
        if isinstance(index.value, int) and not isinstance(index.value, bool):
            inner = self._evaluation.at(owner, at)
            if inner is not None and isinstance(inner.value, Items):
                return self._evaluation.noted(inner.value.at(index.value))
            is_options = inner is not None and isinstance(inner.value, Holder)
            return inner if is_options and index.value == 0 else None  # `parse_known_args()[0]`
        if isinstance(owner, ast.Name) and (table := self._table(owner, at)) is not None:
            return self.looked_up(*table, index, at, owner)
        return self.member(owner, index.value, at) if isinstance(index.value, str) else None

    def part(self, owner: ast.expr, part: ast.Slice, at: Place) -> Known | None:
        """A part of a text: `args.config[-5:]`."""
        whole = self._evaluation.at(owner, at)
        if whole is None or not isinstance(whole.value, str):
            return None
        bounds: list[int | None] = []
        for bound in (part.lower, part.upper, part.step):
            known = self._evaluation.at(bound, at) if bound is not None else Known(None)
            if known is None or not isinstance(known.value, int | None):
                return None
            bounds.append(known.value)
        return whole.derived(whole.value[slice(*bounds)])

    def _table(self, name: ast.Name, at: Place) -> tuple[ast.Dict, Place] | None:
        """The display that a name stands for, if it is assigned once and nothing changes it, and
        where it is.
        """
        known = self._evaluation.at(name, at)
        if known is not None and not isinstance(known.value, Given):
            return None
        syntax = at.syntax
        for scope in (syntax.function(name), syntax.tree):
            if (table := _display(name.id, scope, syntax)) is not None:
                return table, at
        found = assigning(name.id, at.file, self._evaluation.program.project)
        if found is None:
            return None
        home, own = found
        table = _display(own, syntax_tree(home).tree, syntax_tree(home))
        return (table, Place(home, {}, at.depth)) if table is not None else None

    def looked_up(
        self, table: ast.Dict, home: Place, index: Known | None, at: Place, node: ast.expr
    ) -> Known | None:
        """`{"bf16": torch.bfloat16}[args.dtype]`, at a node that raises for other keys."""
        if index is None or not index.is_plain:
            return None
        for key, value in zip(table.keys, table.values, strict=True):
            match key:
                case ast.Constant(value=one) if one == index.value:
                    found = self._evaluation.at(value, home)
                    return index.derived(found.value) if found is not None else None
        names = [key.value for key in table.keys if isinstance(key, ast.Constant)]
        is_added = index.value in self._evaluation.program.assigned
        if len(names) == len(table.keys) and not is_added:
            self._miss(index, node, at, f"KeyError: {index.value!r}", names)
        return None

    def _miss(
        self, known: Known, node: ast.expr, at: Place, error: str, names: Sequence[object] = ()
    ) -> None:
        """A value of a setting for which the program raises."""
        if known.written is not None and known.is_plain:
            accepted = tuple(str(name) for name in names)
            self._evaluation.missed.append(Miss(known, node, at.file, error, accepted))

    def attribute(
        self, owner: ast.expr, key: ast.expr, rest: list[ast.expr], at: Place
    ) -> Known | None:
        name = self._evaluation.at(key, at)
        if name is None or not isinstance(name.value, str):
            return None
        if isinstance(owner, ast.Name) and qualified(owner, at.syntax.names) == "torch":
            if name.value in ALIASES:
                return name.derived(DtypeName(f"torch.{ALIASES[name.value]}"))
            if names_precision(name.value) and not rest:
                error = f"AttributeError: module 'torch' has no attribute {name.value!r}"
                self._miss(name, owner, at, error)
            return None
        if is_autocast(f"{qualified(owner, at.syntax.names)}.{name.value}"):
            return Known(Thing())
        return self.member(owner, name.value, at)

    def has_attribute(self, owner: ast.expr, key: ast.expr, at: Place) -> Known | None:
        """`hasattr(torch.cuda.amp, "autocast")`; of settings, only what they certainly have."""
        name = self._evaluation.at(key, at)
        if name is None or not isinstance(name.value, str):
            return None
        if is_autocast(f"{qualified(owner, at.syntax.names)}.{name.value}"):
            return Known(True)
        known = self._evaluation.at(owner, at)
        is_held = known is not None and isinstance(known.value, Holder)
        return Known(True) if is_held and self.member(owner, name.value, at) is not None else None

    def get(self, owner: ast.expr, key: ast.expr, rest: list[ast.expr], at: Place) -> Known | None:
        index = self._evaluation.at(key, at)
        known = self._evaluation.at(owner, at)
        if isinstance(owner, ast.Name) and (table := self._table(owner, at)) is not None:
            before, self._evaluation.missed = self._evaluation.missed, []
            found = self.looked_up(*table, index, at, owner)
            is_missed, self._evaluation.missed = bool(self._evaluation.missed), before
            if is_missed:  # `get` raises nothing
                assert index is not None
                fallback = self._evaluation.at(rest[0], at) if rest else Known(None)
                return index.derived(fallback.value) if fallback is not None else None
            return found
        if index is None or not isinstance(index.value, str) or known is None:
            return None
        found = self.member(owner, index.value, at)
        is_absent = isinstance(known.value, Holder) and not known.value.has(index.value)
        if (
            found is None
            and is_absent
            and rest
            and index.value not in self._evaluation.program.assigned
        ):
            return self._evaluation.at(rest[0], at)
        return found


def _display(name: str, scope: Scope | None, syntax: SyntaxTree) -> ast.Dict | None:
    """The display that is all that a scope assigns to a name."""
    stores = syntax.stores(scope, name) if scope is not None else []
    match [syntax.parent(store) for store in stores]:
        case [ast.Assign(value=ast.Dict() as table) | ast.AnnAssign(value=ast.Dict() as table)]:
            return table
    return None
