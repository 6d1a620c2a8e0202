"""What the flow says of the probes of a program, held against what torch does at each.

`probe(tensor, 7)` marks a place. torch executes the program once for each of `INPUTS`; the flow
sees its source alone.
"""

from __future__ import annotations

import ast
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from precision_lint.facts.dtypes.domain.lattice import join
from precision_lint.facts.dtypes.domain.values import (
    Bottom,
    Condition,
    Constant,
    ModelOutput,
    Tensor,
    Unknown,
    Value,
)
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.origin import Setting
from precision_lint.model.dtypes import FLOATING
from precision_lint.source.text.text import SourceText
from tests.context import python_file
from tests.property.torch_programs import random_program

INPUTS = ((False, False, 0), (True, False, 3), (False, True, 2), (True, True, 1))


@dataclass(slots=True)
class Seen:
    """What torch gave at a probe, over all executions."""

    dtypes: set[str] = field(default_factory=set)
    dimensions: set[bool] = field(default_factory=set)
    """Whether the tensors had a dimension."""
    others: bool = False
    """True if something else than a tensor came by."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A probe at which the flow excludes what really occurs."""

    probe: int
    actual: str
    claimed: str
    cause: str


@dataclass(slots=True)
class Tally:
    """What became of the probes of many programs."""

    programs: int = 0
    raised: int = 0
    probes: int = 0
    fixed: Counter[str] = field(default_factory=Counter)
    """Probes, by construct, at which torch gives one dtype."""
    exact: Counter[str] = field(default_factory=Counter)
    """Those among them for which the flow says that dtype and no other."""
    lost: Counter[str] = field(default_factory=Counter)
    """The constructs at which a program's first inexact probe stands."""
    contradictions: list[tuple[int, Contradiction]] = field(default_factory=list)
    """By seed of the program."""

    @property
    def exact_share(self) -> float:
        return self.exact.total() / max(1, self.fixed.total())

    def __iadd__(self, other: Tally) -> Tally:
        self.programs += other.programs
        self.raised += other.raised
        self.probes += other.probes
        self.fixed += other.fixed
        self.exact += other.exact
        self.lost += other.lost
        self.contradictions += other.contradictions
        return self


def said(source: str) -> dict[int, Value]:
    """What the flow says of each probe."""
    file = python_file(SourceText(Path("program.py"), source))
    values: dict[int, Value] = {}
    for call in calls_in(file, frozenset({"probe"})):
        match call.value(1, "place"):
            case Constant(int() as place):
                value = call.value(0, "tensor")
                values[place] = join(values[place], value) if place in values else value
    return values


def executed(source: str) -> tuple[dict[int, Seen], Exception | None]:
    """What torch gives at each probe that is reached, and the first exception that ended a run."""
    seen: defaultdict[int, Seen] = defaultdict(Seen)

    def probe(value: object, place: int) -> object:
        here = seen[place]
        if isinstance(value, torch.Tensor):
            here.dtypes.add(str(value.dtype).removeprefix("torch."))
            here.dimensions.add(value.dim() > 0)
        else:
            here.others = True
        return value

    scope: dict[str, Any] = {"probe": probe, "__name__": "program"}
    raised: Exception | None = None
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, "program.py", "exec"), scope)
            for flag0, flag1, n in INPUTS:
                try:
                    scope["main"](flag0, flag1, n)
                except Exception as error:
                    raised = raised or error
    except Exception as error:
        raised = error
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        for device in ("cpu", "cuda"):  # a generator that was not exhausted keeps its region open
            torch.set_autocast_enabled(device, False)
    return dict(seen), raised


def judged(source: str) -> tuple[dict[int, Value], dict[int, Seen], list[Contradiction], bool]:
    """What the flow says, what torch gives, where they contradict, whether the program raises."""
    seen, raised = executed(source)
    try:
        values = said(source)
    except Exception as error:
        crash = Contradiction(0, "a program", str(error), f"crash: {type(error).__name__}")
        return {}, seen, [crash], raised is not None
    return values, seen, list(contradictions(values, seen)), raised is not None


def contradictions(
    values: Mapping[int, Value], seen: Mapping[int, Seen]
) -> Iterator[Contradiction]:
    """Where the flow excludes what torch gives, in the order of the probes."""
    for place, here in sorted(seen.items()):
        if not here.dtypes:
            continue
        actual = " ".join(sorted(here.dtypes))
        value = values.get(place)
        cause = "not reached" if value is None else _excluded(value, here)
        if cause:
            yield Contradiction(place, actual, describe(value), cause)


def _excluded(value: Value, here: Seen) -> str | None:
    """What of the things seen the value excludes."""
    match value:
        case Unknown() | Setting():
            return None
        case Tensor() | ModelOutput(tensor=Tensor()):
            tensor = value if isinstance(value, Tensor) else value.tensor
            allowed = tensor.dtypes | (FLOATING if tensor.caller_chosen else frozenset())
            if not tensor.may_be_other and not here.dtypes <= allowed:
                return "dtype"
            if isinstance(value, Tensor):
                if value.scalar is False and False in here.dimensions:
                    return "no dimension"
                if value.scalar and True in here.dimensions:
                    return "a dimension"
            return None
        case Condition() if here.dtypes == {"bool"}:
            return None
    return f"a tensor, for {type(value).__name__}"


def is_exact(value: Value | None, dtype: str) -> bool:
    """True if the flow says this dtype and no other."""
    return isinstance(value, Tensor) and value.dtypes == {dtype} and value.must_be(value.dtypes)


def describe(value: Value | None) -> str:
    match value:
        case None | Bottom():
            return "nothing"
        case Tensor():
            words = (
                sorted(value.dtypes)
                + ["chosen"] * value.caller_chosen
                + ["partial"] * value.may_be_other
            )
            scalar = {True: "scalar", False: "dimensioned", None: "either"}[value.scalar]
            return f"Tensor {' '.join(words)} ({scalar})"
        case ModelOutput():
            return f"Output of {describe(value.tensor)}"
    return type(value).__name__


def tally(seeds: range, device: str = "cpu") -> Tally:
    """Judge the programs of some seeds, up to one that ends all use of the GPU."""
    torch.set_num_threads(1)
    total = Tally()
    for seed in seeds:
        if not _works(device):
            break
        program = random_program(seed, device)
        values, seen, found, raised = judged(program.source)
        total.programs += 1
        total.raised += raised
        total.probes += len(seen)
        total.contradictions += [(seed, contradiction) for contradiction in found]
        is_first = True
        for place, here in sorted(seen.items()):
            if len(here.dtypes) != 1 or here.others:
                continue
            construct = program.constructs[place]
            total.fixed[construct] += 1
            if is_exact(values.get(place), *here.dtypes):
                total.exact[construct] += 1
            elif is_first:
                total.lost[construct] += 1
                is_first = False
    return total


def _works(device: str) -> bool:
    """False after an assertion in a CUDA kernel: every later call of the process raises."""
    try:
        torch.ones(1, device=device).item()
    except RuntimeError:
        return False
    return True


def still_contradicts(source: str, cause: str) -> bool:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return False
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.While)]
    if not all(any(isinstance(inner, ast.AugAssign) for inner in loop.body) for loop in loops):
        return False  # it would never end
    return any(found.cause == cause for found in judged(source)[2])


def minimal(source: str, cause: str) -> str:
    """The source with all taken out that the contradiction does not need, greedily."""
    skipped = 0
    while True:
        for tried, candidate in enumerate(islice(_smaller(source), skipped, None), skipped):
            if len(candidate) < len(source) and still_contradicts(candidate, cause):
                source, skipped = candidate, tried
                break
        else:
            if not skipped:
                return source
            skipped = 0


def _smaller(source: str) -> Iterator[str]:
    """The program without a statement, with a block's body for the block, with a part for an
    expression.
    """
    count = sum(1 for _ in ast.walk(ast.parse(source)))
    for index in range(count):
        tree = ast.parse(source)
        node = list(ast.walk(tree))[index]
        for name, children in ast.iter_fields(node):
            if isinstance(children, list) and children and isinstance(children[0], ast.stmt):
                for place in range(len(children)):
                    for instead in (None, "body"):
                        yield from _with_statement(source, index, name, place, instead)
    for index in range(count):
        yield from _with_expression(source, index)


def _with_statement(
    source: str, index: int, name: str, place: int, instead: str | None
) -> Iterator[str]:
    tree = ast.parse(source)
    children = getattr(list(ast.walk(tree))[index], name)
    body = getattr(children[place], instead, []) if instead else []
    if instead and not (isinstance(body, list) and body):
        return
    children[place : place + 1] = body
    if not children and name == "body" and not isinstance(list(ast.walk(tree))[index], ast.Module):
        return
    yield ast.unparse(tree) + "\n"


def _with_expression(source: str, index: int) -> Iterator[str]:
    node = list(ast.walk(ast.parse(source)))[index]
    for name, child in ast.iter_fields(node):
        if not isinstance(child, ast.expr):
            continue
        parts = [part for part in ast.iter_child_nodes(child) if isinstance(part, ast.expr)]
        for place in range(len(parts)):
            tree = ast.parse(source)
            parent = list(ast.walk(tree))[index]
            whole = getattr(parent, name)
            part = [part for part in ast.iter_child_nodes(whole) if isinstance(part, ast.expr)]
            setattr(parent, name, part[place])
            yield ast.unparse(tree) + "\n"
