"""Runs models without one of their casts, each in a process of its own."""

from __future__ import annotations

import contextlib
import copy
import re
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from tests.model_zoo.facts import MODES, Span
from tests.model_zoo.mutants import Outcome
from tests.model_zoo.removals import Site, original_row, sites, without
from tests.model_zoo.tiny import Tiny, candidates
from tests.model_zoo.tracer import Tracer

SECONDS = 4
"""For a run in one mode."""
FIRST = 40
"""Seconds for finding a model of an architecture that runs."""
SLOW = 0.5
"""Seconds; float16 is left out where it takes longer: its convolutions are slow on CPU."""

ATTENTION = (None, "eager")
"""The default is a function of torch for most; the other form is in the file of the model."""

_WIDTHS = {"float64": 3, "float32": 2, "float16": 1, "bfloat16": 1, "complex128": 3, "complex64": 2}
_DTYPE = re.compile(r"[a-z]+\d+")
_ADDRESS = re.compile(r"0x[0-9a-f]+")


@dataclass(frozen=True)
class Run:
    """What one run did: the dtypes of each row, whether its results are finite, or its error."""

    rows: Mapping[int, frozenset[str]]
    is_finite: bool = True
    error: str = ""
    row: int | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Base:
    """A model of an architecture that runs, and what it does with all casts."""

    tiny: Tiny
    module: ModuleType
    source: str
    attention: str | None
    runs: Mapping[str, Run]
    ran_rows: frozenset[int]

    @property
    def sites(self) -> list[Site]:
        """The casts that ran and can be removed."""
        return [
            site
            for site in sites(self.source)
            if not self.ran_rows.isdisjoint(site.rows) and _compiles(self.source, site)
        ]


def bases(architecture: str) -> Iterator[Base]:
    """The first model of an architecture that runs in float32, with each form of attention."""
    deadline = time.monotonic() + FIRST
    for tiny in candidates(architecture):
        module = sys.modules[type(tiny.model).__module__]
        if "float32" in _runs(tiny, module.__file__ or "", None, ("float32",)):
            for attention in ATTENTION:
                with contextlib.suppress(Exception):  # not every model has every form
                    yield _base(tiny, module, attention)
            return
        if time.monotonic() > deadline:
            return


def _base(tiny: Tiny, module: ModuleType, attention: str | None) -> Base:
    path = module.__file__ or ""
    source = Path(path).read_text("utf-8")
    rows: set[int] = set()
    with _rows_of(path, rows):
        runs = _runs(_rebuilt(module, source, tiny, attention), path, None, MODES)
    runs = {mode: run for mode, run in runs.items() if not run.error and run.is_finite}
    if runs.get("float16", Run({})).seconds > SLOW:
        del runs["float16"]
    return Base(tiny, module, source, attention, runs, frozenset(rows))


def outcomes(base: Base, site: Site) -> dict[str, Outcome]:
    """What the model does without a cast, by mode, against what it does with it."""
    source = without(base.source, site.removed, site.inserted)
    path = base.module.__file__ or ""
    try:
        tiny = _rebuilt(base.module, source, base.tiny, base.attention)
    except Exception as error:
        failed = Outcome("raises", _said(error), _row(error, path, site.removed))
        return dict.fromkeys(base.runs, failed)
    runs = _runs(tiny, path, site.removed, tuple(base.runs))
    return {mode: _outcome(base.runs[mode], run, site) for mode, run in runs.items()}


def _compiles(source: str, site: Site) -> bool:
    try:
        compile(without(source, site.removed, site.inserted), "file", "exec")
    except SyntaxError:
        return False
    return True


def _rebuilt(module: ModuleType, source: str, tiny: Tiny, attention: str | None) -> Tiny:
    """The model again, of the classes that this source defines."""
    before = dict(vars(module))
    exec(compile(source, module.__file__ or "", "exec"), vars(module))
    changed = {
        name: value
        for name, value in before.items()
        if getattr(value, "__module__", "") == module.__name__ and vars(module)[name] is not value
    }
    for other in [*sys.modules.values()]:
        if getattr(other, "__name__", "").startswith("transformers") and other is not module:
            for name, old in changed.items():
                if vars(other).get(name) is old:
                    setattr(other, name, vars(module)[name])
    torch.manual_seed(0)
    made = vars(module)[type(tiny.model).__name__]
    options = {} if attention is None else {"attn_implementation": attention}
    model = made._from_config(copy.deepcopy(tiny.model.config), **options)
    return Tiny(model.eval(), tiny.inputs)


def _runs(tiny: Tiny, path: str, removed: Span | None, modes: tuple[str, ...]) -> dict[str, Run]:
    """A run in each mode; those that take too long are left out."""
    found = {}
    for mode in modes:
        with contextlib.suppress(TimeoutError):
            found[mode] = _run(tiny, mode, path, removed)
    return found


def _run(tiny: Tiny, mode: str, path: str, removed: Span | None) -> Run:
    tracer = Tracer(path.__eq__)
    tracer.mode = mode
    torch.manual_seed(0)
    start = time.monotonic()
    with _limited():
        model, inputs = tiny.model, tiny.inputs
        context: Any = contextlib.nullcontext()
        if mode == "autocast bfloat16":
            context = torch.autocast("cpu", dtype=torch.bfloat16)
        elif mode != "float32":
            dtype = getattr(torch, mode)
            model = copy.deepcopy(model).to(dtype)
            inputs = {
                name: value.to(dtype) if value.is_floating_point() else value
                for name, value in inputs.items()
            }
        try:
            with context, tracer:
                output = model(**inputs)
            results = [
                each
                for each in tree_leaves(dict(output))
                if isinstance(each, torch.Tensor) and each.is_floating_point()
            ]
            if mode != "float16":
                _backward(output, results)
            model.zero_grad()
        except TimeoutError:
            raise
        except Exception as error:
            return Run({}, error=_said(error), row=_row(error, path, removed))
    rows: dict[int, set[str]] = {}
    for (_, span), by_mode in tracer.results.items():
        row = span[0] if removed is None else original_row(span[0], removed)
        rows.setdefault(row, set()).update(map(str, by_mode[mode]))
    rows[0] = {str(each.dtype).removeprefix("torch.") for each in results}
    is_finite = all(bool(each.isfinite().any()) for each in results)
    is_finite = is_finite and not any(bool(each.isnan().any()) for each in results)
    seconds = time.monotonic() - start
    return Run({row: frozenset(each) for row, each in rows.items()}, is_finite, seconds=seconds)


def _backward(output: Any, results: list[torch.Tensor]) -> None:
    loss = output.get("loss") if hasattr(output, "get") else None
    if loss is None:
        loss = sum(each.float().sum() for each in results if each.requires_grad)
    if isinstance(loss, torch.Tensor) and loss.requires_grad:
        loss.backward()


def _outcome(base: Run, run: Run, site: Site) -> Outcome:
    if run.error:
        return Outcome("raises", run.error, run.row)
    if not run.is_finite:
        return Outcome("non-finite")
    kinds = {
        _change(dtypes, run.rows[row])
        for row, dtypes in base.rows.items()
        if row not in site.rows and row in run.rows and run.rows[row] != dtypes
    }
    return Outcome(next((kind for kind in ("promotes", "narrows") if kind in kinds), "same"))


def _change(before: frozenset[str], after: frozenset[str]) -> str:
    """Whether the dtypes that are new are wider than those that went."""
    gone, new = (max(map(_width, some), default=0) for some in (before - after, after - before))
    return "promotes" if new > gone else "narrows"


def _width(result: str) -> int:
    """The width of a result: of the widest item if it is a tuple."""
    return max(map(_WIDTHS.get, _DTYPE.findall(result), repeat(0)), default=0)


def _said(error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {_ADDRESS.sub('0x…', first)[:160]}"


def _row(error: BaseException, path: str, removed: Span | None) -> int | None:
    """The innermost row of the file in the traceback, as a row of the file with the cast."""
    rows = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == path and frame.lineno is not None
    ]
    if not rows:
        return None
    return rows[-1] if removed is None else original_row(rows[-1], removed)


@contextlib.contextmanager
def _rows_of(path: str, rows: set[int]) -> Iterator[None]:
    """Collect the rows of a file that run."""

    def line(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            rows.add(frame.f_lineno)
        return line

    def called(frame: FrameType, *_: object) -> Any:
        return line if frame.f_code.co_filename == path else None

    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(None)


@contextlib.contextmanager
def _limited(seconds: int = SECONDS) -> Iterator[None]:
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def _stop(*_: object) -> None:
    raise TimeoutError
