"""Runs a function of the host over dtypes, statement by statement."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from precision_lint.facts.triton.dtypes import FLOATS, HALF
from precision_lint.facts.triton.hosts.expressions import Expressions, Surroundings
from precision_lint.facts.triton.hosts.scopes import Host
from precision_lint.facts.triton.hosts.values import (
    ANYTHING,
    HostValue,
    OneOf,
    Several,
    elements,
    joined,
    named,
)
from precision_lint.facts.triton.values import NONE, UNKNOWN, Pointer
from precision_lint.source.python.statements import (
    Definition,
    Leaving,
    Try,
    With,
    bound_names,
    own_statements,
    single_targets,
)
from precision_lint.source.python.truth import implied

Environment = dict[str, HostValue]

_KEPT = 20_000
"""Variables that the environments of one function keep; a longer one is not followed."""


class Run(Expressions):
    """One function, given what its parameters are, and variables of the function around it."""

    def __init__(
        self,
        host: Host,
        given: Mapping[str, HostValue],
        around: Surroundings,
        captured: Mapping[str, HostValue] | None = None,
    ) -> None:
        super().__init__(host, around)
        self.before: dict[ast.stmt, Environment] = {}
        """What is known before each statement that is reached."""
        self.returned: list[HostValue] = []
        self._where_true: list[Environment] = []
        """What is known at each `return` of what may be true."""
        self.saved: list[Several] = []
        """What each `ctx.save_for_backward` is given."""
        self.noted: Environment = {}
        """What attributes of `ctx` are set to."""
        self._size = 0
        self.variables = dict(captured or {})
        for name in host.parameters:
            self.variables[name] = named(given.get(name, UNKNOWN), host.key(name))
        self._execute(host.node.body)

    def at(self, statement: ast.stmt, expression: ast.expr) -> HostValue:
        """The value of an expression of a statement."""
        after, self.variables = self.variables, dict(self.before.get(statement, {}))
        found = self.evaluate(expression)
        self.variables = after
        return found

    def result(self) -> HostValue:
        """What the function returns."""
        return joined(self.returned) if self.returned else UNKNOWN

    def if_true(self, parameter: str) -> HostValue:
        """What a parameter is where the function returns what is true."""
        found = [known.get(parameter, UNKNOWN) for known in self._where_true]
        return joined(found) if found else UNKNOWN

    def _execute(self, body: Iterable[ast.stmt]) -> bool:
        """Run statements; False if control does not pass the last one."""
        return all(self._statement(statement) for statement in body)

    def _statement(self, statement: ast.stmt) -> bool:
        self._size += len(self.variables)
        if self._size > _KEPT:
            self.variables = dict.fromkeys(self.variables, ANYTHING)
        self.before[statement] = dict(self.variables)
        match statement:
            case ast.Assign(targets=targets, value=value):
                found = self.evaluate(value)
                for target in targets:
                    self._assign(target, found)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self.evaluate(value))
            case ast.AugAssign(target=target, value=value):
                self.evaluate(value)
                if not isinstance(self.evaluate(target), Pointer):  # a tensor keeps its dtype
                    self._assign(target, self.evaluate(ast.BinOp(target, statement.op, value)))
            case ast.Expr(value=value):
                self._effect(value)
                self.evaluate(value)
            case ast.Return(value=value):
                self.returned.append(NONE if value is None else self.evaluate(value))
                if not (value is None or (isinstance(value, ast.Constant) and not value.value)):
                    self.assume(value, True)
                    self._where_true.append(dict(self.variables))
                return False
            case ast.Assert(test=test):
                self.evaluate(test)
                self.assume(test, True)
            case ast.If():
                return self._if(statement)
            case ast.For(iter=iterable, target=target, body=body, orelse=orelse):
                self.evaluate(iterable)
                self._loop(target, body)
                return self._execute(orelse)
            case ast.While(test=test, body=body):
                self.evaluate(test)
                self._loop(None, body)
            case _ if isinstance(statement, With):
                for item in statement.items:
                    self.evaluate(item.context_expr)
                return self._execute(statement.body)
            case _ if isinstance(statement, Try):
                return self._try(statement)
            case _ if isinstance(statement, Leaving):
                return False
            case _:
                self._forget(statement)
        return True

    def _if(self, node: ast.If) -> bool:
        self.evaluate(node.test)
        before = self.variables
        after = []
        for body, truth in ((node.body, True), (node.orelse, False)):
            self.variables = dict(before)
            self.assume(node.test, truth)
            if self._execute(body):
                after.append(self.variables)
        self.variables = _merged(after) if after else before
        return bool(after)

    def _loop(self, target: ast.expr | None, body: list[ast.stmt]) -> None:
        for _ in range(2):
            before = dict(self.variables)
            if target is not None:
                self._assign(target, UNKNOWN)
            self._execute(body)
            self.variables = _merged([before, self.variables])

    def _try(self, node: ast.Try) -> bool:
        before = dict(self.variables)
        after = []
        if self._execute([*node.body, *node.orelse]):
            after.append(self.variables)
        broken = _merged([before, self.variables])
        for handler in node.handlers:
            self.variables = dict(broken)
            if self._execute(handler.body):
                after.append(self.variables)
        self.variables = _merged(after) if after else broken
        return self._execute(node.finalbody) and bool(after)

    def _forget(self, statement: ast.stmt) -> None:
        """What another statement does to variables is not known."""
        if isinstance(statement, Definition):
            self.variables.pop(statement.name, None)
            return
        for inner in own_statements([statement]):
            self.before.setdefault(inner, dict(self.variables))
            for name in bound_names(inner):
                self.variables[name] = ANYTHING

    def _assign(self, target: ast.expr, value: HostValue) -> None:
        match target:
            case ast.Name(id=name):
                self.variables[name] = named(value, self.host.key(f"{name}@{target.lineno}"))
            case ast.Attribute(value=ast.Name(id="ctx"), attr=attribute):
                self.noted[attribute] = joined([value, *_present(self.noted, attribute)])
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                if isinstance(value, OneOf):
                    value = joined(o for o in value.options if len(o.values) == len(parts))
                fits = isinstance(value, Several) and len(value.values) == len(parts)
                for position, part in enumerate(parts):
                    one = value.values[position] if fits and isinstance(value, Several) else UNKNOWN
                    self._assign(part, one)
            case ast.Starred():
                for single in single_targets(target):
                    self._assign(single, UNKNOWN)

    def _effect(self, value: ast.expr) -> None:
        match value:
            case ast.Call(func=ast.Attribute(attr="save_for_backward"), args=args):
                self.saved.append(Several(tuple(map(self.evaluate, args))))

    def assume(self, test: ast.expr, truth: bool) -> None:
        """What a condition says of the dtypes of variables, if it is true or if it is not."""
        for part, holds in implied(test, truth):
            match part:
                case ast.Compare(
                    left=ast.Attribute(value=ast.Name(id=name), attr="dtype"),
                    ops=[op],
                    comparators=[given],
                ):
                    says = isinstance(op, ast.Eq | ast.Is | ast.In)
                    if says == holds or (
                        isinstance(op, ast.NotEq | ast.IsNot | ast.NotIn) and not holds
                    ):
                        self._is_of(name, given)
                case ast.Call() if holds:
                    self.variables |= self._around.known_after(self, part)

    def _is_of(self, name: str, given: ast.expr) -> None:
        """A variable has one of the dtypes given."""
        many = given.elts if isinstance(given, ast.Tuple | ast.List | ast.Set) else [given]
        dtypes = [elements(self.evaluate(one)) for one in many]
        known = [one for one in dtypes if one is not None]
        found = frozenset[str]().union(*known)
        # Which half dtype it is, if it is one, stays open.
        if known and len(known) == len(dtypes) and found <= FLOATS and found.isdisjoint(HALF):
            self.variables[name] = Pointer(found)


def _present(noted: Environment, attribute: str) -> list[HostValue]:
    return [noted[attribute]] if attribute in noted else []


def _merged(several: list[Environment]) -> Environment:
    """What is known after one of several branches."""
    first, *others = several
    found = dict(first)
    for other in others:
        for name, value in other.items():
            found[name] = joined([found[name], value]) if name in found else value
    return found
