"""Places that set what the place of an option sets, without the option.

`torch.backends.cuda.matmul.allow_tf32` is one switch of the whole process. Where a program sets it
at its head and again under `if args.allow_tf32`, the option decides nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from precision_lint.facts.runs.code.torch_sinks import TorchPlace, running_places
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.roles.uses import Use, use_of
from precision_lint.source.python.statements import Definition
from precision_lint.source.python.syntax import dotted
from precision_lint.source.python.syntax_tree import syntax_tree

_SETTING = ("allow_tf32", "set_float32_matmul_precision")
"""Names of what sets a switch."""


def rivals(place: TorchPlace, own: Iterable[TorchPlace], evaluator: Evaluator) -> Iterator[Use]:
    """What a run is given at other places that set the same switch, but for those of the option."""
    if place.kind != "matmul":
        return
    known = {id(each.node) for each in (place, *own)}
    program = evaluator.program
    files = {file.text.path: file for name in _SETTING for file in program.mentioning(name)}
    for one in running_places(files.values(), program):
        if one.kind == "matmul" and id(one.node) not in known and _switch(one) == _switch(place):
            use = use_of(one, evaluator)
            if use is not None and use.is_reached:
                yield use


def with_rivals(
    use: Use, given: Iterable[Use | None], others: tuple[Use, ...], started: Path
) -> Use | None:
    """What an option decides at a place where `given` are its uses in the runs with each value:
    what others set in any case if that is the same. None if it is not clear which comes last.
    """
    runs = (*given,)
    reached = [each for each in runs if each is not None and each.is_reached]
    values = {_value(each) for each in (*reached, *others)}
    if len(values) == 1 and None not in values and (first := _certain(others, started)):
        return replace(use, sink=first.sink, value=f"{_value(first)} in any case", only_if="")
    is_first = all(_precedes(each, use.sink) for each in others)
    is_off = all(each.is_certain and _value(each) == "off" for each in others)
    is_set = len(reached) == len(runs) and all(each.is_certain for each in reached)
    return use if is_first and (is_off or is_set) else None


def without_effect(found: Iterable[Use]) -> Iterator[Use]:
    """The uses without switches that a run leaves alone at one place and sets at another one."""
    every = [*found]
    for use in every:
        if use.is_reached or not any(_is_same(use, other) for other in every):
            yield use


def _is_same(use: Use, other: Use) -> bool:
    kinds = {use.sink.kind, other.sink.kind}
    return other.is_reached and kinds == {"matmul"} and _switch(use.sink) == _switch(other.sink)


def _value(use: Use) -> str | None:
    """What a switch is set to, by whichever call."""
    return {"high": "tf32", "highest": "off"}.get(use.value or "", use.value)


def _certain(others: Iterable[Use], started: Path) -> Use | None:
    """One that each run of the program comes to: at the top level of the file that is started."""
    top = (each for each in others if each.is_certain and _is_at_top(each.sink))
    own = (each for each in top if each.sink.file.text.path == started)
    return next(own, None)


def _precedes(use: Use, place: TorchPlace) -> bool:
    """True for what a module does before it comes to a place, or at its import."""
    if not _is_at_top(use.sink):
        return False
    is_before = use.sink.file is place.file and use.sink.node.lineno < place.node.lineno
    return is_before or not _is_at_top(place)


def _is_at_top(place: TorchPlace) -> bool:
    around = syntax_tree(place.file).around(place.node)
    return not any(isinstance(each, Definition) for each in around)


def _switch(place: TorchPlace) -> bool:
    """True for the switch of convolutions; the others set that of products."""
    match place.node:
        case ast.Assign(targets=[target, *_]):
            return "cudnn" in (dotted(target) or "")
    return False
