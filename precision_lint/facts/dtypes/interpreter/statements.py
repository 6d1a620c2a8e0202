"""The interpreter of statements: what a body does to its variables, and what it returns."""

from __future__ import annotations

import ast
from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import Region
from precision_lint.facts.dtypes.domain.containers import keyword_of
from precision_lint.facts.dtypes.domain.environment import (
    Environment,
    bind,
    join_into,
    replace_everywhere,
)
from precision_lint.facts.dtypes.domain.lattice import join, join_all, reading
from precision_lint.facts.dtypes.domain.values import (
    SOME_DTYPE,
    UNKNOWN,
    AutocastContext,
    ClassObject,
    Constant,
    Dictionary,
    FunctionValue,
    Instance,
    Sequence,
    Unknown,
    Value,
    Variable,
)
from precision_lint.facts.dtypes.interpreter import contexts, iterating
from precision_lint.facts.dtypes.interpreter.annotations import annotated
from precision_lint.facts.dtypes.interpreter.assignments import Assignments
from precision_lint.facts.dtypes.interpreter.capturing import never_matches
from precision_lint.facts.dtypes.interpreter.changes import Changes
from precision_lint.facts.dtypes.interpreter.expressions import Evaluator
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.loaded_in_half import returned as handed_on
from precision_lint.facts.dtypes.interpreter.loops import certainly_passes, may_break, without_pass
from precision_lint.facts.dtypes.interpreter.narrowing import refine, refine_case, without_bfloat16
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.operators.autocast import region_given, region_of
from precision_lint.facts.dtypes.syntax.conditions import (
    condition_excludes_bfloat16,
    guard_excludes_bfloat16,
)
from precision_lint.facts.dtypes.syntax.mutations import elements
from precision_lint.facts.dtypes.syntax.relevance import (
    context_call,
    is_named_as_context,
    may_open_autocast,
)
from precision_lint.facts.dtypes.syntax.rewriting import Rewriting, rewriting
from precision_lint.facts.origin import PathCondition
from precision_lint.source.python.statements import (
    FunctionDefinition,
    Loop,
    Try,
    TryStar,
    TypeAlias,
    With,
    bound_names,
    is_leaving,
    unknown_statement,
)
from precision_lint.source.python.syntax import callee_name, last_name

_MOST_ENTRIES = 8
"""Entries of a mapping that a loop takes one by one."""

_PASSES = 4
"""How often a loop body is interpreted at most.

The state at the head of a loop only rises: each pass is joined into it. A pass moves facts along
one assignment, so that a chain of as many variables is followed; dtypes are few, but a container
may come to hold itself without end. What the last pass still changes is widened to `UNKNOWN`.
"""


_NO_REGIONS = frozenset(
    {
        "no_grad", "inference_mode", "enable_grad", "set_grad_enabled", "open", "device", "profile",
        "record_function", "suppress", "tqdm", "sdp_kernel", "sdpa_kernel", "ThreadPoolExecutor",
        "ProcessPoolExecutor", "Pool", "TemporaryDirectory", "NamedTemporaryFile", "StringIO",
        "BytesIO", "redirect_stdout", "redirect_stderr", "catch_warnings", "Lock", "safe_open",
        "raises", "SummaryWriter", "nullcontext", "fork_rng", "detect_anomaly",
        "set_detect_anomaly",
    }
)  # fmt: skip
"""Contexts of libraries that have nothing to do with autocast."""


class StatementInterpreter:
    """The statements of one frame, interpreted in order."""

    def __init__(self, analysis: Interprocedural, frame: Frame) -> None:
        self.analysis = analysis
        self.frame = frame
        self.evaluate = Evaluator(analysis, frame)
        self.assignments = Assignments(self.evaluate)
        self.changes = Changes(self.evaluate, self.assignments)

    def block(self, statements: list[ast.stmt], env: Environment) -> bool:
        """Interpret statements in order; False if control never reaches the end."""
        guards, within = self.frame.guards, self.frame.slice
        above = len(guards)
        for node in statements:
            if (within is None or node in within.entered) and not self.statement(node, env):
                del guards[above:]
                return False
            # an assertion that excludes bfloat16 guards those after it
            if isinstance(node, ast.Assert) and condition_excludes_bfloat16(node.test):
                guards.append(PathCondition(self.evaluate.span_of(node.test), True))
        del guards[above:]
        return True

    def statement(self, node: ast.stmt, env: Environment) -> bool:
        """Interpret a statement of the slice; False if control never passes it."""
        match node:
            case ast.Assign(targets=targets, value=expression):
                value = self.evaluate(expression, env)
                for target in targets:
                    self.assignments.assign(target, value, expression, env)
            case ast.AnnAssign(target=target, value=expression):
                value = self.evaluate(expression, env)
                if isinstance(reading(value), Unknown):
                    declared = annotated(self.analysis, self.frame.module, node.annotation, target)
                    is_given = isinstance(value, Variable) and isinstance(declared, Instance)
                    value = value if is_given else declared  # who gives an object knows more of it
                if expression is not None or not isinstance(value, Unknown):
                    self.assignments.assign(target, value, expression, env)
            case ast.AugAssign():
                self.assignments.augmented(node, env)
            case ast.Expr(value=expression):
                self.frame.discarded = expression
                if not self.enters_or_leaves(expression, env):
                    self.changes.expression(expression, env)
                return not is_leaving(node)
            case ast.Return(value=expression):
                returned: Value = Constant(None)
                if expression is not None:
                    is_asked = self.frame.evaluates(node)
                    returned = self.evaluate(expression, env) if is_asked else UNKNOWN
                    if self.analysis.is_half_run:
                        place = self.evaluate.span_of(expression)
                        returned = handed_on(returned, self.evaluate.source, place)
                self.frame.returned = join(self.frame.returned, returned)
                self.frame.exits.append(env.copy())
                return False
            case ast.Raise(exc=exception, cause=cause):
                if self.frame.evaluates(node):
                    self.evaluate(exception, env)
                    self.evaluate(cause, env)
                return False
            case ast.Continue() | ast.Break():
                self.frame.leave(env)
                return False
            case ast.If(test=test, body=body, orelse=orelse):
                if self.frame.evaluates(node):
                    self.evaluate(test, env)
                return self.branch(test, body, orelse, env)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self.loop(node, env)
            case ast.With() | ast.AsyncWith():
                return self.context(node, env)
            case ast.Try() | TryStar():
                return self.attempt(node, env)
            case ast.Match(subject=subject, cases=cases):
                return self.match(subject, cases, env)
            case ast.Assert(test=test):
                self.evaluate(test, env)
                env.replace_with(refine(self.evaluate, test, env, True))
            case ast.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Name):
                        env.pop(target.id, None)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.define(node, env)
            case ast.ClassDef():
                name = f"{self.frame.scope}.{node.name}".lstrip(".")
                definition = self.frame.module.class_(node, name, self.frame.function)
                env[node.name] = ClassObject(definition)
                for method in definition.functions:
                    self.analysis.closures[method] = self.analysis.closures.over(self.frame, env)
                within = replace(self.frame, scope=name, owner=None)
                StatementInterpreter(self.analysis, within).block(node.body, env.copy())
            case ast.Import() | ast.ImportFrom() | TypeAlias():
                for name in bound_names(node):  # what was known under the name is hidden
                    env.pop(name, None)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                self.frame.outer |= set(names)
            case ast.Pass():
                pass
            case _:
                unknown_statement(node)
        return True

    # Names

    def define(self, node: FunctionDefinition, env: Environment) -> None:
        name = f"{self.frame.scope}.{node.name}".lstrip(".")
        definition = self.frame.module.function(node, name, None, self.frame.function)
        for decorator in node.decorator_list:
            self.evaluate(decorator, env)
        closure = None
        if self.frame.function is not None:
            closure = self.analysis.closures.over(self.frame, env)
            self.analysis.closures[definition] = closure
        env[node.name] = FunctionValue(definition, None, closure)

    # Control flow

    def branch(
        self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], env: Environment
    ) -> bool:
        span = self.evaluate.span_of(test)
        sides = []
        around = len(self.frame.autocast)
        entered: list[Region | None] = []
        known = self.evaluate.holds(test, env)
        chosen = self.evaluate.chosen(test, [*body, *orelse]) if known is None else None
        if not self.frame.records:
            known = chosen if known is None else known
        for statements, holds in ((body, True), (orelse, False)):
            if known is not None and known is not holds:
                continue
            branch = refine(self.evaluate, test, env, holds).copy()
            self.frame.guards.append(PathCondition(span, holds))
            aside = chosen is not None and chosen is not holds
            self.frame.aside += aside
            sides.append((branch, holds, self.block(statements, branch)))
            self.frame.aside -= aside
            self.frame.guards.pop()
            entered += self.frame.autocast[around:]  # the other side does not run in them
            del self.frame.autocast[around:]
        self.frame.autocast += entered
        for branch, holds, _ in sides:
            if guard_excludes_bfloat16(PathCondition(span, holds), self.evaluate.source):
                for other in [each for each, at, _ in sides if at is not holds]:
                    _leave_to(other, branch, env)
        ends = [(branch, holds) for branch, holds, reaches in sides if reaches]
        left = [branch for branch, holds in ends if chosen is None or chosen is holds]
        return join_into(left or [branch for branch, _ in ends], env)

    def match(self, subject: ast.expr, cases: list[ast.match_case], env: Environment) -> bool:
        value = self.evaluate(subject, env)
        reaches = []
        is_exhausted = False
        for case in cases:
            if not self.frame.records and never_matches(self.evaluate, case.pattern, value, env):
                continue
            branch = refine_case(self.evaluate, subject, value, case.pattern, env)
            if case.guard is not None:
                self.evaluate(case.guard, branch)
                branch = refine(self.evaluate, case.guard, branch, True).copy()
            elif isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                is_exhausted = True
            if self.block(case.body, branch):
                reaches.append(branch)
        if not is_exhausted:
            reaches.append(env.copy())
        return join_into(reaches, env)

    def loop(self, node: Loop, env: Environment) -> bool:
        found = rewriting(node) if isinstance(node, ast.For) else None
        start = env if found is None else env.copy()
        outer, self.frame.left = self.frame.left, []
        is_endless = isinstance(node, ast.While) and (
            isinstance(node.test, ast.Constant) and bool(node.test.value)
        )
        self.frame.loops += 1
        iterated = [] if isinstance(node, ast.While) else [node.iter]
        self.frame.iterated += iterated
        around, self.frame.elements = self.frame.elements, self.frame.elements | elements(node)
        entries = self._entries(node, env)
        if self.frame.asked_name is not None and isinstance(node, ast.For):
            entries = self._entry_under(self.frame.asked_name, node, env)
        if entries and isinstance(node, ast.For):
            self._unrolled(node, entries, env)
        else:
            self._iterated(node, env)
        self.frame.loops -= 1
        del self.frame.iterated[len(self.frame.iterated) - len(iterated) :]
        self.frame.elements = around
        left, self.frame.left = self.frame.left, outer
        if found is not None and isinstance(node, ast.For) and self.frame.evaluates(node):
            self.rewrite(node, found, start, env)
        completes = self.block(node.orelse, env)
        if is_endless and not left:
            return False
        return completes or bool(left)

    def _entries(self, node: Loop, env: Environment) -> tuple[Value, ...]:
        """The entries of a mapping that a loop takes to its end, if all of them are known."""
        match node:
            case ast.For(iter=ast.Call(func=ast.Attribute(attr="items"), args=[])) if (
                self.frame.evaluates(node) and not may_break(node)
            ):
                match self.evaluate(node.iter, env):
                    case Sequence(items=tuple(entries)) if 1 < len(entries) <= _MOST_ENTRIES:
                        return entries
        return ()

    def _entry_under(self, name: str, node: ast.For, env: Environment) -> tuple[Value, ...]:
        """The pass of a loop over names, or over the entries of a mapping, that takes one name."""
        match node.iter:
            case ast.Call(func=ast.Attribute(value=owner, attr="items"), args=[]):
                held = self.evaluate.read(owner, env)
                return (Sequence(UNKNOWN, (Constant(name), keyword_of(held, name))),)
        match self.evaluate.read(node.iter, env):
            case Sequence(items=tuple(items)):
                names = [each.value for each in items if isinstance(each, Constant)]
                if len(names) == len(items):
                    self.frame.asked_among.update(str(each) for each in names)
                    return (Constant(name),)
        return ()

    def _unrolled(self, node: ast.For, entries: tuple[Value, ...], env: Environment) -> None:
        """A pass for each entry: what goes under a key stays under it.

        Calls in the body are taken down once, with what any of the entries can be.
        """
        start, records = env.copy(), self.frame.records
        self.frame.records = False
        for entry in entries:
            inner = env.copy()
            bind(node.target, entry, inner)
            ends = [inner] if self.block(node.body, inner) else []
            if ends or self.frame.left:
                join_into([*ends, *self.frame.left], env)
            self.frame.left = []
        self.frame.records = records
        if records:
            join_into([start, env], start)
            bind(node.target, join_all(entries), start)
            self.block(node.body, start)
            self.frame.left = []

    def _iterated(self, node: Loop, env: Environment) -> None:
        """Passes until nothing changes any more."""
        untouched = env.copy()
        for _ in range(_PASSES if self.frame.loops <= 2 else 2):
            before = env.copy()
            inner = env.copy()
            if isinstance(node, ast.While):
                if self.frame.evaluates(node):
                    self.evaluate(node.test, inner)
                inner = refine(self.evaluate, node.test, inner, True).copy()
            elif self.frame.evaluates(node):
                bind(
                    node.target,
                    iterating.item(self.analysis, self.evaluate(node.iter, inner)),
                    inner,
                )
            ends = [inner] if self.block(node.body, inner) else []
            ends += self.frame.left
            join_into([before, *ends], env)
            if env == before:
                if ends and not isinstance(node, ast.While):
                    skipped = [] if certainly_passes(node) else [without_pass(untouched, ends)]
                    join_into([*skipped, *ends], env)
                return
        _give_up(before, env)

    def rewrite(
        self, node: ast.For, found: Rewriting, start: Environment, env: Environment
    ) -> None:
        """What a loop that assigns every entry of a mapping leaves in it."""
        held = env.get(found.mapping)
        if held is None or isinstance(reading(held), Sequence):
            return
        inner = start.copy()
        bind(node.target, iterating.item(self.analysis, self.evaluate(node.iter, inner)), inner)
        self.block([*found.before], inner)
        replace_everywhere(held, Dictionary(self.evaluate(found.value, inner)), env)

    def enters_or_leaves(self, expression: ast.expr, env: Environment) -> bool:
        """`torch.autocast(…).__enter__()`: the rest of the body, or of the block of a `with`."""
        method, opened = context_call(expression)
        context = None if opened is None else self.evaluate.read(opened, env)
        if isinstance(context, Unknown) and opened is not None and self._may_be_region(opened):
            context = AutocastContext(None, SOME_DTYPE)
        if not isinstance(context, AutocastContext):
            return False
        if method == "__enter__":
            self.frame.autocast.append(region_of(context))
        else:
            del self.frame.autocast[-1:]
        return True

    def context(self, node: With, env: Environment) -> bool:
        before = len(self.frame.autocast)
        for item in node.items:
            opened = _opened(item.context_expr)
            is_named = isinstance(opened, ast.Call) and callee_name(opened) == "autocast"
            if not (is_named or self.frame.evaluates(node)):
                continue
            value = self.evaluate(opened, env)
            if item.optional_vars is not None:
                bind(item.optional_vars, contexts.entered(self.evaluate, value), env)
            context = reading(value)
            if isinstance(context, Variable) and not self.analysis.is_intraprocedural:
                region = region_given(context) if self._may_be_given_region(opened) else None
                if region is not None and self.frame.region is None:
                    self.frame.autocast.append(region)
                continue
            if is_named and not isinstance(context, AutocastContext):
                context = AutocastContext(None, SOME_DTYPE)  # a wrapper of the project's own
            elif isinstance(context, Unknown) and self._may_be_region(opened):
                context = AutocastContext(None, SOME_DTYPE)
            if isinstance(context, AutocastContext):
                self.frame.autocast.append(region_of(context))
        reaches = self.block(node.body, env)
        del self.frame.autocast[before:]
        return reaches

    def _may_be_region(self, opened: ast.expr) -> bool:
        """True if a context of which nothing is known may turn autocast on."""
        if self.analysis.is_program_run:
            return not isinstance(opened, ast.Call) or callee_name(opened) not in _NO_REGIONS
        if not self.analysis.is_intraprocedural:
            return False
        is_named = is_named_as_context(opened) and last_name(_called(opened)) not in _NO_REGIONS
        return is_named or may_open_autocast(opened, self.evaluate.source)

    def _may_be_given_region(self, opened: ast.expr) -> bool:
        return may_open_autocast(opened, self.evaluate.source) or is_named_as_context(opened)

    def attempt(self, node: Try, env: Environment) -> bool:
        start = env.copy()
        during = env.copy()
        completes = True
        for statement in node.body:  # the body can fail anywhere: handlers see every state
            completes = self.block([statement], env)
            join_into([during, env], during)
            if not completes:
                break
        completes = completes and self.block(node.orelse, env)
        reaches = [env.copy()] if completes else []
        imported = _imported(node.body)
        for handler in node.handlers:
            inner = start.copy()
            join_into([start, during], inner)
            if handler.name:
                bind(ast.Name(handler.name, ast.Store()), self.caught(handler.type, inner), inner)
            if self.block(handler.body, inner):
                for name in imported:  # `except ImportError: wandb = None`: it has nothing to say
                    if inner.get(name) == Constant(None):
                        inner.pop(name)
                reaches.append(inner)
        through = join_into(reaches, env)
        if not through:
            join_into([during], env)
        return self.block(node.finalbody, env) and through

    def caught(self, kind: ast.expr | None, env: Environment) -> Value:
        """What `except kind as error` gives to `error`: an object of a class of the project."""
        kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
        classes = [None if each is None else self.evaluate.read(each, env) for each in kinds]
        found = [Instance(one.definition) for one in classes if isinstance(one, ClassObject)]
        return join_all(found) if len(found) == len(kinds) else UNKNOWN


def _called(context: ast.expr) -> ast.expr:
    return context.func if isinstance(context, ast.Call) else context


def _opened(context: ast.expr) -> ast.expr:
    """The operand that `with a and b:` enters: a context counts as true."""
    match context:
        case ast.BoolOp(op=op, values=values):
            return values[-1 if isinstance(op, ast.And) else 0]
    return context


def _imported(body: list[ast.stmt]) -> set[str]:
    """The names that the imports among some statements bind."""
    imports = (each for each in body if isinstance(each, ast.Import | ast.ImportFrom))
    return {name for each in imports for name in bound_names(each)}


def _leave_to(other: Environment, branch: Environment, before: Environment) -> None:
    """`if use_bf16: x = x.float()`: where it is not in use, `x` is what the other branch cures."""
    for name, value in other.items():
        if name in branch and branch[name] == before.get(name) != value:
            branch[name] = without_bfloat16(branch[name])


def _give_up(before: Environment, env: Environment) -> None:
    """Widening: what a loop still changes in the last pass is unknown."""
    for name, value in env.items():
        if before.get(name) != value:
            env[name] = UNKNOWN
