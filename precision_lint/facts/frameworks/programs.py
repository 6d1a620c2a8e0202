"""What the program of a run does with the weights that it trains, as far as its file shows.

The tables see it as a link to `program`: `program:weights` is the dtype of what is trained, if the
options of the run make that certain.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from precision_lint.facts.amp.training_step.conditions import truth
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import Model
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.frameworks.sources import CodePlace, Occurrence
from precision_lint.facts.frameworks.table import Key
from precision_lint.facts.project.facts import Recording
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import cached_property
from precision_lint.model.trace import Question, repeat, traced
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython

_TRAINERS = frozenset({"Trainer", "Seq2SeqTrainer", "prepare"})
_ADAPTERS = frozenset({"get_peft_model", "add_adapter"})
_ASKED = _TRAINERS | _ADAPTERS


@frozen(slots=False)
class _Weights:
    """The dtype of what is trained, and the cast that makes it so."""

    dtype: str
    cast: Span


@frozen(slots=False)
class _Known:
    """What the weights are in the runs in which some options have these values."""

    switches: Mapping[str, bool | None]
    weights: _Weights | None
    asked: tuple[Question, ...]


@frozen(eq=False, slots=False)
class ProgramSource:
    """The program of a run; `option` is whether one of its switches is on, None if unknown."""

    file: ParsedConfig
    project: Recording
    option: Callable[[str], bool | None]

    @property
    def span(self) -> Span:
        return Span(0, 0)

    def get(self, name: str) -> Occurrence | None:
        return self.weights if name == "weights" else None

    def all(self, name: str) -> Iterator[Occurrence]:
        if written := self.get(name):
            yield written

    def may_define(self, key: Key) -> bool:
        return True

    @cached_property
    def weights(self) -> Occurrence | None:
        """The dtype of the one model that is trained, if a cast makes it certain in this run."""
        python = self.file.python
        if python is None or not any(name in python.text.text for name in _TRAINERS):
            return None
        found = self._known(python)
        if found is None:
            return None
        return Occurrence("the weights", found.dtype, CodePlace(found.cast), self.file)

    def _known(self, python: ParsedPython) -> _Weights | None:
        """What is known of a run with the same switches, as far as the program asks for them."""
        key = (ProgramSource, python.text.path)
        known: list[_Known] = self.project.config_files.once(key, list)
        for each in known:
            if all(self.option(name) is value for name, value in each.switches.items()):
                repeat(each.asked)
                return each.weights
        switches: dict[str, bool | None] = {}
        weights, asked = traced(lambda: self._weights(python, switches))
        known.append(_Known(switches, weights, asked))
        return weights

    def _weights(self, python: ParsedPython, switches: dict[str, bool | None]) -> _Weights | None:
        """The dtype of the weights; `switches` takes the options that it depends on."""

        def option(name: str) -> bool | None:
            return switches.setdefault(name, self.option(name))

        program = PythonFile.of(python, self.project)
        calls = calls_in(program, _ASKED, _ASKED, lambda test: _holds(test, option))
        trainers = [call for call in calls if call.name in _TRAINERS]
        given = {argument for call in trainers if (argument := call.argument(0, "model"))}
        names = {program.text[argument.span] for argument in given}
        models = {value for one in given if isinstance(value := reading(one.value), Model)}
        if len(names) != 1 or len(models) != 1:
            return None
        (model,) = models
        (dtype, *others), cast = sorted(model.parameters.dtypes) or [""], model.cast
        is_certain = not (others or model.parameters.is_open or model.is_widened)
        if not dtype or cast is None or cast.source.path != program.text.path or not is_certain:
            return None
        adapters = [call.span.start for call in calls if call.name in _ADAPTERS]
        if any(cast.span.start < adapter for adapter in adapters):
            return None  # PEFT keeps its added weights in float32
        return _Weights(dtype, cast.span)


def _holds(test: ast.expr, option: Callable[[str], bool | None]) -> bool | None:
    """Whether a condition holds with the options of a run."""
    switches = {
        ast.unparse(node): value
        for node in walk(test)
        if isinstance(node, ast.Attribute) and (value := option(node.attr)) is not None
    }
    return truth(test, switches)
