"""What compiles in a kernel and still goes wrong: half-precision sums, offsets that overflow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from precision_lint.finding import Related, Span
from precision_lint.triton_types import wording
from precision_lint.triton_types.dtypes import INDEX, Dtypes
from precision_lint.triton_types.expressions import Patches
from precision_lint.triton_types.interpreter import TooLong
from precision_lint.triton_types.launches import follow_their_input
from precision_lint.triton_types.notes_buffers import allocated_alike, shown_to_be_floats
from precision_lint.triton_types.notes_observer import Key, Kind, Observer, Sight, doubles_in
from precision_lint.triton_types.notes_remedies import Change, Pin, changes, pin
from precision_lint.triton_types.parameters import values_of
from precision_lint.triton_types.refusals import Refusal
from precision_lint.triton_types.rejections import ASSUMPTIONS, Analysis
from precision_lint.triton_types.remedies import Remedy
from precision_lint.triton_types.values import Tensor, Trace, Value, origins

_NARROWEST = "fp16"
"""What is computed in bf16 in some version of Triton is computed in fp16 in all of them."""
_ABOUT_POINTERS = frozenset({"atomic", "update"})
_ABOUT_INDICES = frozenset({"offset", "late cast"})
_DOUBLE = frozenset({"fp64"})
_MAX_REMEDIES = 16


@dataclass(frozen=True, slots=True)
class Note:
    """Something that Triton accepts in a kernel, and that the author may not have meant.

    `subject` is the function that sums, the variable that accumulates, the parameter that is
    addressed, updated or float64, or the number that half precision has not. `holds_for` are the
    dtypes of the pointers for which it is so.
    """

    kind: Kind
    span: Span
    subject: str
    holds_for: frozenset[str]
    is_shown: bool
    """The kernel or its launch show that it may be so: elements that take the dtype of what the
    caller passes, a parameter that is a float for certain."""
    is_conditional: bool = False
    """For some compile-time choices only."""
    computed_in: frozenset[str] = frozenset()
    """The dtypes that a number is converted to."""
    said: str = ""
    """What Triton says where a float64 parameter does not compile; empty if it does."""
    related: tuple[Related, ...] = ()
    remedy: Remedy | Pin | None = None

    @property
    def always(self) -> bool:
        """Whatever the pointers point to: half precision is written in the file."""
        return self.holds_for == frozenset(ASSUMPTIONS)


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes of one kernel, and the pointer parameters that int64 offsets are added to."""

    notes: tuple[Note, ...] = ()
    wide: frozenset[str] = frozenset()


def notes_of(analysis: Analysis) -> Notes:
    """The notes of a kernel whose parameters an analysis knows."""
    with suppress(TooLong):
        return _Notary(analysis).notes()
    return Notes()


@dataclass(slots=True)
class _Notary:
    analysis: Analysis
    _runs: dict[str, Observer] = field(default_factory=dict)
    _treated: dict[tuple[str, Remedy], Observer] = field(default_factory=dict)

    def notes(self) -> Notes:
        found = sorted([*self._sighted(), *self._doubles()], key=lambda note: note.span)
        return Notes(tuple(found), frozenset(self._run(_NARROWEST).wide))

    def _run(self, elements: str) -> Observer:
        if elements not in self._runs:
            self._runs[elements] = self._observed(elements)
        return self._runs[elements]

    def _observed(
        self,
        elements: str,
        patches: Patches | None = None,
        doubles: frozenset[str] = frozenset(),
    ) -> Observer:
        analysis = self.analysis
        given = values_of(analysis.function, analysis.launches, analysis.usage, elements)
        # Sizes and strides are below 2^31: what is int64 then is so for a reason.
        parameters = {name: _narrowed(value) for name, value in given.items()}
        for name in doubles:
            value = parameters[name]
            assert isinstance(value, Tensor)
            mark = Trace("double", self._span_of(name), name)
            provenance = replace(value.provenance, traces=frozenset({mark}))
            parameters[name] = Tensor(_DOUBLE, 0, provenance=provenance)
        observer = Observer(analysis.function, analysis.version, patches)
        observer.run(analysis.function, parameters)
        return observer

    # Sums, updates, offsets.

    def _sighted(self) -> Iterator[Note]:
        first = self._run(_NARROWEST).sights
        if self._run(_NARROWEST).meets_small_numbers:
            first = self._run("bf16").sights | first
        if not first:
            return
        module, function = self.analysis.module, self.analysis.function
        allocated = allocated_alike(module, function)
        usage = self._run(_NARROWEST).usage
        varying = allocated.union(follow_their_input(module, function), usage.varying)
        varying -= usage.integer_elements | usage.doubtful_elements
        for position, (key, sight) in enumerate(first.items()):
            tried = (_NARROWEST,) if sight.kind in _ABOUT_INDICES else ASSUMPTIONS
            holds_for = [elements for elements in tried if key in self._run(elements).sights]
            if sight.kind in _ABOUT_POINTERS:
                is_shown = sight.subject in allocated
            else:
                is_shown = not varying.isdisjoint(origins(sight.value))
            yield Note(
                sight.kind,
                sight.place,
                sight.subject,
                frozenset(ASSUMPTIONS if sight.kind in _ABOUT_INDICES else holds_for),
                is_shown,
                sight.is_conditional,
                frozenset[str]().union(*(_computed_in(self._run(e), key) for e in holds_for)),
                related=tuple(self._related(sight)),
                remedy=self._remedy(tried, key) if position < _MAX_REMEDIES else None,
            )

    def _related(self, sight: Sight) -> Iterator[Related]:
        text = self.analysis.module.text
        if sight.related is not None:
            message = {
                "accumulator": "it starts in half precision here",
                "update": "what was stored is loaded again here",
            }[sight.kind]
            yield Related(text.place(sight.related), message)
        if sight.kind in ("reduction", "infinity", "zero") and isinstance(sight.value, Tensor):
            for load in sorted(sight.value.loads):
                yield Related(text.place(load), "half precision enters here")

    def _remedy(self, tried: Sequence[str], key: Key) -> Remedy | None:
        """The first remedy after which it is gone, and Triton refuses nothing new; a safe one if
        there is one."""
        runs = [self._run(elements) for elements in tried]
        sights = [run.sights[key] for run in runs if key in run.sights]
        pinned = frozenset[Span]().union(*(run.usage.pinned for run in runs))
        unsafe = None
        for change in changes(self.analysis.module, self.analysis.function, sights, pinned):
            if (change.remedy.is_safe or unsafe is None) and self._cures(change, key, tried):
                if change.remedy.is_safe:
                    return change.remedy
                unsafe = change.remedy
        return unsafe

    def _cures(self, change: Change, key: Key, tried: Sequence[str]) -> bool:
        for elements in tried:
            before, treated = self._run(elements), (elements, change.remedy)
            if treated not in self._treated:
                self._treated[treated] = self._observed(elements, change.patches)
            after = self._treated[treated]
            if key in after.sights or after.refusals.found.keys() - before.refusals.found.keys():
                return False
        return True

    # Scalars that are float64 under torch.compile.

    def _doubles(self) -> Iterator[Note]:
        scalars = frozenset(
            name
            for name, value in values_of(
                self.analysis.function, self.analysis.launches, self.analysis.usage, "fp32"
            ).items()
            if isinstance(value, Tensor) and value.dtypes == {"fp32"}
        )
        if not scalars:
            return
        runs = {e: self._observed(e, doubles=scalars) for e in ("fp32", "bf16")}
        shown = shown_to_be_floats(self.analysis.module, self.analysis.function)
        shown = shown.union(runs["fp32"].factors)
        refused = {e: self._refused(e, run) for e, run in runs.items()}
        for name in sorted(scalars):
            sights = [
                sight
                for sight in runs["fp32"].sights.values()
                if sight.kind == "float64" and sight.subject == name
            ]
            both = [found.get(name) for found in refused.values()]
            refusal = both[0] if all(both) else None
            if refusal is None and not sights:
                continue
            place = refusal.crossing or refusal.at if refusal else sights[0].place
            yield Note(
                "float64",
                self._span_of(name),
                name,
                frozenset(ASSUMPTIONS),
                is_shown=name in shown,
                said=wording.said(refusal, self.analysis.version) if refusal else "",
                related=(Related(self.analysis.module.text.place(place), "float64 from here on"),),
                remedy=pin(self.analysis.module, self.analysis.function, name),
            )

    def _refused(self, elements: str, run: Observer) -> dict[str, Refusal]:
        """What Triton certainly refuses only because parameters are float64, by parameter."""
        found: dict[str, Refusal] = {}
        for key, refusal in run.refusals.found.items():
            if key in self._run(elements).refusals.found or refusal.choices:
                continue
            for name in doubles_in(refusal.before) | doubles_in(refusal.after):
                found.setdefault(name, refusal)
        return found

    def _span_of(self, name: str) -> Span:
        function = self.analysis.function
        (argument,) = (one for one in function.parameters if one.arg == name)
        return self.analysis.module.span(argument)


def _computed_in(run: Observer, key: Key) -> Dtypes:
    value = run.sights[key].value
    return value.dtypes if isinstance(value, Tensor) else frozenset()


def _narrowed(value: Value) -> Value:
    """A run-time integer of either width as int32."""
    if isinstance(value, Tensor) and value.dtypes >= INDEX:
        return replace(value, dtypes=value.dtypes - {"int64"})
    return value
