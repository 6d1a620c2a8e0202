"""What can be said of a setting whose value is not followed: the place that a run has it for.

The ways of a setting lead to all places that some run may have it for. It is said to be for one of
them only if the run is seen to come to that one, or may come to no other one. Else the words say
how many there are, or what the run comes there by.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Set
from functools import partial

from precision_lint.facts.amp.regions.autocast import records_no_gradients
from precision_lint.facts.frameworks.sources import CodePlace, Occurrence
from precision_lint.facts.runs.code.becoming import shown
from precision_lint.facts.runs.code.cast_types import type_of
from precision_lint.facts.runs.code.flows import Ends
from precision_lint.facts.runs.code.taking_calls import holds_them, is_of_apex
from precision_lint.facts.runs.code.torch_sinks import TorchPlace
from precision_lint.facts.runs.code.ways import key_of_holder
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.interpreter.reachable import CALLED, may_run
from precision_lint.facts.runs.interpreter.reaching import reached, refuting, undecided
from precision_lint.facts.runs.written.counterparts import plain
from precision_lint.facts.runs.written.understood import written_at
from precision_lint.facts.settings.vocabulary import may_choose_precision
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.model.precision import precision_of
from precision_lint.model.regex import regex
from precision_lint.source.config.settings_tree import Member
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, compared_with_texts
from precision_lint.source.python.syntax_tree import syntax_tree

_GENERAL = frozenset({"train", "trainer", "training", "main", "run", "eval", "test", "model"})
"""Words in the names of many programs."""
_MOST_ALIKE = 3
"""Functions whose places are named together; of more, any one says too little."""
_MOST_KEPT = 2
"""Tables and records that keep an option, besides the place that is named."""
_MOST_CERTAIN = 2
"""The rank of what a library gets: if a run is seen to come there, no other place is guessed."""
OF_TRAINING = ("autocast", "scaler")
"""Places that one setting often decides together."""
_ARGUMENT = regex(r"\((\w+)=\)$")
_WIDTHS = {"4-bit weights": "4bit", "4-bit products": "4bit", "8-bit weights": "8bit"}
_MAKING = frozenset({
    "zeros", "ones", "full", "empty", "normal", "uniform", "rand", "randn", "arange", "array",
    "asarray", "tensor", "zeros_like", "ones_like", "full_like", "linspace", "eye",
})  # fmt: skip
"""Functions that make an array, which may stand for any input."""


@frozen(slots=False)
class Claim:
    """A place that a run has a setting for.

    It may come to `alike` places instead, this one included, or comes to it `only_if` a condition
    holds. If `kept_by` is a setting, that one keeps the run from it.
    """

    place: TorchPlace
    alike: int = 1
    only_if: str = ""
    kept_by: Occurrence | None = None
    at: Related | None = None
    """Where a file says what is called, if it is not seen which call of the program does so."""


def _best_of(
    ends: Ends,
    places: list[TorchPlace],
    name: str,
    written: Occurrence,
    evaluator: Evaluator,
    is_called: bool,
) -> Claim | None:
    """The best place of those to which a setting leads: no argument of a call if there is another
    one. One that another setting keeps the run from counts if no other place is left.
    """
    program = evaluator.program
    idle: Claim | None = None
    possible: TorchPlace | None = None

    def order(place: TorchPlace) -> tuple[bool, bool, int, bool, bool, bool]:
        runs = may_run(place.node, place.file, program)
        is_own = place.file.text.path == program.path
        is_akin, is_used = _is_akin(place, program), _is_used(place, program)
        is_of_test = place.kind == "autocast" and _is_of_test(place)
        return not is_akin, not is_used, _rank(place, program), not runs, is_of_test, not is_own

    for place in sorted(places, key=order):
        if possible is not None and _rank(place, program) > _MOST_CERTAIN:
            continue
        runs = may_run(place.node, place.file, program)
        if not runs and not is_called and not _is_mentioned(place, program):
            continue
        state = reached(place.node, place.file, evaluator)
        if state is False:
            idle = idle or _idle(place, written, evaluator)
        elif state and runs:
            return Claim(place)
        else:
            possible = possible or place
    if possible is not None:
        return _possible(possible, ends, places, name, written, evaluator)
    if idle is not None and idle.kept_by is not None and _other_ends(ends, evaluator):
        return None
    return idle


def claims_of(
    ends: Ends,
    places: list[TorchPlace],
    name: str,
    written: Occurrence,
    evaluator: Evaluator,
    is_called: bool = False,
) -> list[Claim]:
    """The best place of those to which a setting leads, and the region or the scaler that it leads
    to as well.
    """
    best = _best_of(ends, places, name, written, evaluator, is_called)
    if best is None or best.kept_by is not None or best.place.kind not in OF_TRAINING:
        return [best] if best is not None else []
    return [best, *_of_training(best, places, name, written, evaluator)]


def _of_training(
    best: Claim, places: list[TorchPlace], name: str, written: Occurrence, evaluator: Evaluator
) -> Iterator[Claim]:
    """The region of autocast and the scaler, if a run may come to few in which gradients are
    recorded, or else to one only.
    """
    by_kind: dict[str, list[TorchPlace]] = {}
    for place in places:
        runs = may_run(place.node, place.file, evaluator.program)
        if place.kind in OF_TRAINING and place.kind != best.place.kind and runs:
            by_kind.setdefault(place.kind, []).append(place)
    for group in by_kind.values():
        state = {place: reached(place.node, place.file, evaluator) for place in group}
        possible = [place for place in group if state[place] is not False]
        trained = [each for each in possible if not _is_of_test(each)]
        most = _MOST_ALIKE if trained else 1
        possible = trained or possible
        count = len({(each.file.text.path, each.node.lineno) for each in possible})
        if 0 < count <= most:
            place = possible[0]
            is_sure = state[place] is True or count > 1
            condition = "" if is_sure else _condition_of(place, written, name, evaluator)
            yield Claim(place, count, condition)


def _is_of_test(place: TorchPlace) -> bool:
    """True for a region in which no gradients are recorded: it trains nothing."""
    return records_no_gradients(place.node, syntax_tree(place.file))


def _possible(
    place: TorchPlace,
    ends: Ends,
    places: list[TorchPlace],
    name: str,
    written: Occurrence,
    evaluator: Evaluator,
) -> Claim | None:
    """A place that a run may come to. Nothing is said of it if there are many such places, or if
    the run may read the setting for something that is not known: but for options that are kept in
    a table or a record as well, which count as places, and for what a setting decides as well that
    is called as the place is: `prepare(model)` if the weights are loaded in 4 bits.
    """
    alike = _alternatives(place, places, evaluator)
    functions = {syntax_tree(each.file).function(each.node) for each in alike}
    others = _other_ends(ends, evaluator, place)
    is_option = not isinstance(written.origin, Member) and place.kind not in ("argument", "cast")
    is_kept = is_option and len(others) <= _MOST_KEPT and all(_is_kept(*end) for end in others)
    decides_more = _is_called_so(place, name) and all(_is_condition(*end) for end in others)
    if len(functions) > _MOST_ALIKE or (others and not (is_kept or decides_more)):
        return None
    count = len(alike) + (0 if decides_more else len(others))
    return Claim(place, count, _condition_of(place, written, name, evaluator) if count == 1 else "")


def _idle(place: TorchPlace, written: Occurrence, evaluator: Evaluator) -> Claim | None:
    """A place to which a run does not come because of the setting itself, or of another one."""
    own = partial(_is_same, written)
    found = refuting(place.node, place.file, evaluator, is_own=own)
    if not found:
        return None
    reasons = [one for one in found if not own(one)]
    is_declared = isinstance(written.origin, CodePlace)
    if len(reasons) < len(found) and not (is_declared and reasons):
        return Claim(place)
    given = [one for one in reasons if not isinstance(one.origin, CodePlace)]
    by = (given or reasons)[-1]  # what the run is given says more than a default
    if isinstance(by.origin, CodePlace):  # it says nothing where a file is not followed
        return Claim(place, only_if=f"{by.name} is not {shown(by.value)}")
    return Claim(place, kept_by=by)


def _is_same(one: Occurrence, other: Occurrence) -> bool:
    """True for the same setting; of an option that a program declares, its name and its default
    are at places of their own.
    """
    if isinstance(one.origin, CodePlace) and isinstance(other.origin, CodePlace):
        return one.name == other.name and one.file.text.path == other.file.text.path
    return written_at(one) == written_at(other)


def _condition_of(place: TorchPlace, written: Occurrence, name: str, evaluator: Evaluator) -> str:
    """The nearest condition on the way to a place that neither the run nor the setting decides."""
    for condition in undecided(place.node, place.file, evaluator):
        test, value = condition.test, written.value
        if test is None or not isinstance(value, str) or _holds_for(test, name, value) is None:
            return condition.shown
    return ""


def _other_ends(
    ends: Ends, evaluator: Evaluator, place: TorchPlace | None = None
) -> list[tuple[ast.expr, ParsedPython]]:
    """Where the run may read the setting for something that is not known: not for a condition on
    the way to a place.
    """
    return [
        (node, file)
        for node, file in ends.unknown
        if file not in evaluator.program.files or may_run(node, file, evaluator.program)
        if reached(node, file, evaluator) is not False
        if place is None or not _is_on_the_way(node, place)
    ]


def _is_kept(node: ast.expr, file: ParsedPython) -> bool:
    """True for an entry of a display, and for an argument of a class that holds no settings:
    `{"amp": args.amp}`, `Report(amp=args.amp)`.
    """
    syntax = syntax_tree(file)
    parent = syntax.parent(node)
    call = syntax.parent(parent) if isinstance(parent, ast.keyword) else None
    if isinstance(call, ast.Call):
        name = callee_name(call)
        return name[:1].isupper() and not holds_them(name)
    return isinstance(parent, ast.Dict)


def _is_condition(node: ast.expr, file: ParsedPython) -> bool:
    """True for what decides whether something is done, and gets nowhere itself."""
    syntax = syntax_tree(file)
    inner: ast.AST = node
    for parent in syntax.around(node):
        match parent:
            case ast.BoolOp() | ast.UnaryOp() | ast.Compare():
                inner = parent
            case _:
                return isinstance(parent, ast.If) and inner is parent.test
    return False


def _is_called_so(place: TorchPlace, name: str) -> bool:
    """True for the place that the name of a setting names: quantized loading, or an argument of
    this name.
    """
    given = _ARGUMENT.search(place.subject) if place.kind == "argument" else None
    if given is not None:
        return given[1] == name
    return _WIDTHS.get(place.kind, "?") in name


def _is_on_the_way(node: ast.expr, place: TorchPlace) -> bool:
    """True for a part of a condition around a place."""
    around = syntax_tree(place.file).within_function(place.node)
    tests = (each.test for each in around if isinstance(each, ast.If | ast.IfExp | ast.While))
    return any(part is node for test in tests for part in walk(test))


def _alternatives(
    best: TorchPlace, places: list[TorchPlace], evaluator: Evaluator
) -> list[TorchPlace]:
    """The places that a run may come to and that say as much as the first, which it is not seen to
    come to: each model of a family may have one, or each branch of a function that loads models.
    """
    program = evaluator.program

    def kind(place: TorchPlace) -> tuple[int, bool]:
        return _rank(place, program), may_run(place.node, place.file, program)

    found = {(best.file.text.path, best.node.lineno): best}
    for place in places:
        at = place.file.text.path, place.node.lineno
        is_new = at not in found and kind(place) == kind(best)
        if is_new and reached(place.node, place.file, evaluator) is not False:
            found[at] = place
    return [*found.values()]


def may_be_meant(place: TorchPlace, written: Occurrence, name: str) -> bool:
    """False if a place is in a branch for other values of the setting itself, or casts to another
    type than the setting names.
    """
    if isinstance(written.value, str) and (named := precision_of(written.value)) is not None:
        cast = precision_of(type_of(place))
        if cast is not None and cast != named:
            return False
    return not _is_for_another_value(place, name, written.value)


def _is_for_another_value(place: TorchPlace, name: str, value: object) -> bool:
    """True if a place is in a branch for other values of the setting itself."""
    if not isinstance(value, str):
        return False
    inner: ast.AST = place.node
    for parent in syntax_tree(place.file).within_function(place.node):
        if isinstance(parent, ast.If) and inner is not parent.test:
            holds = _holds_for(parent.test, name, value)
            if holds is not None and holds is not (inner in parent.body):
                return True
        inner = parent
    return False


def _holds_for(test: ast.expr, name: str, value: str) -> bool | None:
    """Whether `args.precision in ("fp16", "bf16")` holds for a value of `precision`."""
    match compared_with_texts(test):
        case left, texts, is_positive if key_of_holder(left) == name:
            return (value in texts) is is_positive
    return None


def named_first(places: Iterable[TorchPlace], names: Set[str]) -> list[TorchPlace]:
    """The places in classes that a file names, `model: DualEncoder`, if there are any, or all."""
    places = [*places]
    named = [
        place
        for place in places
        if (owner := enclosing_class(place.node, syntax_tree(place.file))) is not None
        and plain(owner.name) in names
    ]
    return named or places


def _is_mentioned(place: TorchPlace, program: Program) -> bool:
    """True if code mentions the function of a place: what calls it may be far from the start."""
    name = _function_of(place)
    return not name or program.project.python_source_matches(_mentioning(name).encode())


def _is_used(place: TorchPlace, program: Program) -> bool:
    """True if the program mentions the function of a place: others may share what defines it."""
    name = _function_of(place)
    files = program.project.config_files

    def compute() -> bool:
        mentions = re.compile(_mentioning(name))
        return any(mentions.search(files.text(path)) for path in program.paths)

    return not name or files.once(("mentioned in a program", program.path, name), compute)


def _function_of(place: TorchPlace) -> str:
    """The name of the function around a place, if somebody has to mention it."""
    function = syntax_tree(place.file).function(place.node)
    name = getattr(function, "name", "")
    return "" if name.startswith("__") or name in CALLED else name


def _mentioning(name: str) -> str:
    return rf"(?<!def )\b{name}\b"


def _is_akin(place: TorchPlace, program: Program) -> bool:
    """True for a place in `sft_trainer.py` of `train_sft.py`, or in a class that it names:
    `grpo_trainer.py`, which it imports as well, may be for another program.
    """
    own, other = ({*path.stem.lower().split("_")} for path in (program.path, place.file.text.path))
    if not (own & other).isdisjoint(own - _GENERAL):
        return True
    owner = enclosing_class(place.node, syntax_tree(place.file))
    text = program.project.config_files.text(program.path)
    return owner is not None and re.search(rf"\b{owner.name}\b", text) is not None


def is_of_tensor(place: TorchPlace) -> bool:
    """True for the cast of a tensor to a type that is written out, of which a program has many."""
    return place.kind == "cast" and not place.is_module


def _rank(place: TorchPlace, program: Program) -> int:
    """How little a place says: a dtype of torch, apex, whether a loss is scaled, what a library
    gets, and then a call of its own, and last the cast of a tensor to one type.
    """
    if is_of_tensor(place):
        return 5
    if place.kind not in ("argument", "cast"):
        return int(place.kind == "scaler")
    if isinstance(place.node, ast.Call) and is_of_apex(place.node, place.file):
        return 0
    name = callee_name(place.node) if isinstance(place.node, ast.Call) else ""
    given = _ARGUMENT.search(place.subject)
    if given is not None and not may_choose_precision(given[1]):
        return 4  # `load(checkpoint_id=)`: it may be anything
    is_own = program.functions(name) or program.classes(name)
    return 3 if is_own or name in _MAKING else 2
