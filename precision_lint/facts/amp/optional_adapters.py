"""Runs in which a program adds no adapters and quantizes nothing, though its code can.

`peft_config = LoraConfig() if args.use_peft else None` makes no adapters where the switch is off.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.facts.amp.optional_places import Place, is_left_out, places_naming
from precision_lint.facts.amp.plain_runs import PlainRun, plain_runs
from precision_lint.facts.context import PythonFile
from precision_lint.model.finding import Span
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.code import code_of
from precision_lint.source.python.syntax_tree import syntax_tree

_NAMED = regex(
    r"(?<![a-z])q?lora|peft|load_in_[48]bit|quantization_config|BitsAndBytesConfig", re.IGNORECASE
)
"""What trains something else than the weights as they were loaded."""
_QUANTIZING = regex(
    r"load_in_[48]bit|quantization_config|BitsAndBytesConfig|kbit|prepare_model_for", re.IGNORECASE
)
_CASTS = ("to", "half", "bfloat16")
_BRANCHING = (ast.If, ast.For, ast.While, ast.Try, ast.IfExp)


@fact
def names_adapters(file: PythonFile) -> bool:
    """True if the code of a file has a name of adapters or quantization."""
    return _NAMED.search(file.text.text) is not None and _NAMED.search(code_of(file)) is not None


@fact
def has_adapters(file: PythonFile) -> bool:
    """True if each run may add adapters or quantize, as far as the code says it by its names."""
    if not names_adapters(file):
        return False
    return may_always_adapt(file) or not runs_without_adapters(file)


@fact
def may_always_adapt(file: PythonFile) -> bool:
    """True if a place that may add adapters is under no condition: no run has to be looked at."""
    return any(
        not isinstance(node, ast.keyword) and _is_unconditional(node, file)
        for node in adapting(file)
    )


def _is_unconditional(node: ast.AST, file: PythonFile) -> bool:
    """True for a place at the top of a module that no condition is around."""
    syntax = syntax_tree(file)
    conditions = (isinstance(each, ast.If | ast.IfExp) for each in syntax.around(node))
    return syntax.function(node) is None and not any(conditions)


@fact
def casts_after_adapters(file: PythonFile) -> tuple[Span, ...]:
    """The casts of a module to another dtype (`model.to(torch.bfloat16)`) that come after all
    adapters were added: they cast the adapters as well.
    """
    if _QUANTIZING.search(code_of(file)) is not None:
        return ()
    places = [*adapting(file)]
    syntax = syntax_tree(file)
    return tuple(
        file.span_of(call)
        for method in _CASTS
        for call in syntax.calls(method)
        if isinstance(call.func, ast.Attribute) and (method != "to" or call.args or call.keywords)
        if places and all(_comes_after(call, each, file) for each in places)
    )


def _comes_after(call: ast.Call, before: Place, file: PythonFile) -> bool:
    """True for a later statement of the same function, under no condition that the other lacks."""
    syntax = syntax_tree(file)
    if syntax.body(call) is not syntax.body(before):
        return False
    conditions = [each for each in syntax.within_function(call) if isinstance(each, _BRANCHING)]
    around = [*syntax.within_function(before)]
    is_met = all(any(each is other for other in around) for each in conditions)
    return is_met and file.span_of(call).start > file.span_of(before).end


@fact
def runs_without_adapters(file: PythonFile) -> tuple[PlainRun, ...]:
    """The plain runs that come to no place which may add adapters or quantize."""
    return tuple(run for run in plain_runs(file) if is_without_adapters(run, file))


def is_without_adapters(run: PlainRun, file: PythonFile) -> bool:
    """True if a run comes to no place of a file which may add adapters or quantize."""
    return not names_adapters(file) or all(is_left_out(each, run, file) for each in adapting(file))


def adapting(file: PythonFile) -> Iterator[Place]:
    """The names of adapters in code that may add some, or hand them on."""
    return places_naming(lambda name: _NAMED.search(name) is not None, file)
