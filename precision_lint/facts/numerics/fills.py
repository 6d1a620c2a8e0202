"""Calls that fill a half-precision tensor with a number that its dtype does not hold.

`scores.masked_fill(mask, -1e9)` raises in float16, and `torch.where(mask, scores, -1e9)` gives
-inf. The flow says which dtype the tensor has: by the file itself, in a run that calls the
functions of the file under autocast (`half_regions`), or in that of a model whose weights are
loaded in bfloat16 (`half_run`).
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial

from precision_lint.facts.amp.regions.half_regions import half_regions, may_train_under_autocast
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument, Call, Region
from precision_lint.facts.dtypes.domain.values import Constant, ModelOutput, Tensor
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.dtypes.functions_of_file import FunctionsOfFile, Reachable
from precision_lint.facts.dtypes.half_run import calls_in_half, is_plain
from precision_lint.facts.dtypes.operators.conversions import as_dtype
from precision_lint.facts.dtypes.syntax.conditions import (
    guard_excludes_bfloat16,
    guard_excludes_float16,
)
from precision_lint.facts.numerics.wide_numbers import may_be_wide
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import ALIASES, BFLOAT16, FLOAT16
from precision_lint.model.finding import Confidence, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.ranges import LAYOUTS
from precision_lint.model.regex import regex
from precision_lint.source.python.syntax import callee_name, dotted
from precision_lint.source.python.syntax_tree import syntax_tree

_NUMBER = {
    "masked_fill": (1, "value"),
    "masked_fill_": (1, "value"),
    "fill_": (0, "value"),
    "index_fill": (2, "value"),
    "index_fill_": (2, "value"),
    "new_full": (1, "fill_value"),
    "full_like": (1, "fill_value"),
    "full": (1, "fill_value"),
    "where": (1, "other"),
}
"""The argument with the number, by position in a function of torch or in a method."""
_SHIFTED = frozenset({"masked_fill", "index_fill"})
"""Functions of torch that take the tensor first, where the methods take it as their object."""

FILLS = frozenset(_NUMBER)

_WORTH_A_LOOK = regex(
    r"(?<![\w.])(?:\d[\d_]*(?:\.\d*)?[eE]\+?(?:[4-9]|\d\d)|\d{6,}|[6-9]\d{4}|\d+(?:_\d{3})+)"
    r"|\d\s*(?:\*\*|<<|\*)\s*\d|finfo\(|\b[A-Z][A-Z_]{2,}\s*[,)]"
)
"""A number above 65504, as programs write one."""

_NOT_HALF = frozenset(
    f"torch.{name}" for name, meant in ALIASES.items() if meant not in {FLOAT16, BFLOAT16}
)

_HALF = frozenset({BFLOAT16})
_EXCLUDED_BY = {FLOAT16: guard_excludes_float16, BFLOAT16: guard_excludes_bfloat16}


@frozen
class Fill:
    """A call that fills a tensor of a half dtype with a number outside of its range.

    `number` is the argument, `origin` the place that gives the tensor its dtype.
    """

    call: Call
    number: Argument
    dtype: str
    tensor: Tensor
    origin: Origin
    is_certain: bool
    is_of_one_run: bool = False
    """Only this run was looked at: others may give something else."""

    @property
    def is_negative(self) -> bool:
        return _value(self.number) < 0

    @property
    def raises(self) -> bool:
        """False if the number becomes infinite without an error."""
        return self.call.name != "where"


def fills(file: PythonFile) -> Iterator[Fill]:
    """Such calls of a file; of several dtypes that a tensor can have, float16."""
    if _WORTH_A_LOOK.search(file.text.text) is None:
        return
    may_matter = cache(partial(_may_matter, file=file))
    calls = calls_in(file, FILLS, worth=may_matter)
    wide = {call.span: call for call in calls if _is_out_of(FLOAT16, call, file)}
    found: dict[Span, Fill] = {}
    if wide:
        _add(found, list(wide.values()), file, None)
        for dtype, region in half_regions(file).items():
            if any(span not in found and _is_out_of(dtype, wide[span], file) for span in wide):
                is_wide = partial(_is_at, file=file, spans=wide.keys())
                again = calls_in(file, FILLS, worth=is_wide, around=region)
                _add(found, [call for call in again if call.span in wide], file, region)
        for fill in _in_loaded_models(wide, file):
            found.setdefault(fill.call.span, fill)
    yield from (found[span] for span in sorted(found))


def _may_matter(node: ast.expr, file: PythonFile) -> bool:
    """False for a call that fills with no number, or with one that every half dtype holds."""
    if not isinstance(node, ast.Call):
        return False
    name = callee_name(node)
    keywords = {one.arg: one.value for one in node.keywords}
    dtype = keywords.get("dtype")
    if name == "full" if dtype is None else dotted(dtype) in _NOT_HALF:
        return False  # it makes a tensor of another dtype
    position, keyword = _NUMBER.get(name, (0, "value"))
    given = [*node.args[position:], *filter(None, [keywords.get(keyword)])]
    filled = ast.unparse(dtype) if dtype is not None else ""
    return any(
        may_be_wide(each, syntax_tree(file))
        for each in given
        if ast.unparse(each) not in {f"torch.finfo({filled}).min", f"torch.finfo({filled}).max"}
    )


def _is_at(node: ast.expr, file: PythonFile, spans: Container[Span]) -> bool:
    return file.span_of(node) in spans


def _add(
    found: dict[Span, Fill], calls: list[Call], file: PythonFile, region: Region | None
) -> None:
    """The calls whose tensor is known to be of a half dtype, at least on some path."""
    for call in calls:
        fill = None if call.span in found else fill_of(call, file)
        if fill is not None:
            found[call.span] = fill if region is None else replace(fill, is_certain=False)


def _in_loaded_models(wide: Mapping[Span, Call], file: PythonFile) -> Iterator[Fill]:
    """The calls that raise for weights in bfloat16, in a model that can be loaded so."""
    every = [call for call in wide.values() if _is_out_of(BFLOAT16, call, file)]
    nodes = filter(None, (file.node_at(call.span) for call in every))
    around = (syntax_tree(file).function(node) for node in nodes)
    functions = frozenset(each for each in around if isinstance(each, ast.FunctionDef))
    if not functions or may_train_under_autocast(file):
        return
    is_used = file.chosen_by_caller() is not Confidence.LOW
    for each in calls_in_half(file, FILLS, Reachable(FunctionsOfFile(file), functions)):
        call, tensor, number = each.call, _filled(each.call), _number(each.call)
        if tensor is None or number is None or not (each.is_kept or is_used):
            continue
        if tensor.must_be(_HALF) and _is_out_of(BFLOAT16, call, file) and is_plain(call, file):
            yield Fill(call, number, BFLOAT16, tensor, each.loaded, False, is_of_one_run=True)


def fill_of(call: Call, file: PythonFile) -> Fill | None:
    """Such a call, if its tensor is known to be of a half dtype, at least on some path."""
    number, tensor = _number(call), _filled(call)
    if number is None or tensor is None:
        return None
    origin = tensor.origin
    for dtype in (FLOAT16, BFLOAT16):
        is_named = origin is not None and origin.is_named and dtype in tensor.dtypes
        if origin is not None and is_named and _is_out_of(dtype, call, file):
            return Fill(call, number, dtype, tensor, origin, tensor.must_be(frozenset({dtype})))
    return None


def _is_out_of(dtype: str, call: Call, file: PythonFile) -> bool:
    """True if a call fills with a number that a dtype does not hold, in a run of this dtype."""
    number = _number(call)
    if number is None or LAYOUTS[dtype].holds(_value(number)):
        return False
    return not any(_EXCLUDED_BY[dtype](guard, file.text) for guard in call.guards)


def _number(call: Call) -> Argument | None:
    """The argument that is a number."""
    position, keyword = _NUMBER[call.name]
    is_function = call.function is not None
    places = [(position + (is_function and call.name in _SHIFTED), keyword)]
    if call.name == "where":  # `torch.where(mask, x, -1e9)`, `torch.where(mask, -1e9, x)`
        places = [(2, "other"), (1, "input")] if is_function else [(1, "other")]
    for place in places:
        number = call.argument(*place)
        if number is not None and _value(number) != 0:
            return number
    return None


def _value(number: Argument) -> float:
    """The number that an argument is; 0 if that is not known."""
    match number.value:
        case Constant(value=int() | float() as written):
            try:
                return float(written)
            except OverflowError:
                return float("inf")
    return 0.0


def _filled(call: Call) -> Tensor | None:
    """The tensor that is filled, or that is made; None if nothing is known of one."""
    if "dtype" in call.keywords:
        return as_dtype(call.keywords["dtype"].value).of_tensor()
    if call.function is None:
        values = [call.receiver]
    elif call.name == "where":
        values = [call.value(1, "input"), call.value(2, "other")]
    else:
        values = [] if call.name == "full" else [call.value(0, "input")]
    for value in values:
        match value:
            case (Tensor() as tensor) | ModelOutput(tensor=tensor):
                return tensor
    return None
