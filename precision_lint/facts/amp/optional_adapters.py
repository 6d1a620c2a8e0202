"""Runs in which a program adds no adapters and quantizes nothing, though its code can.

`peft_config = LoraConfig() if args.use_peft else None` makes no adapters where the switch is off.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.facts.amp.parsed_arguments import parsed_arguments
from precision_lint.facts.amp.plain_runs import PlainRun, plain_runs
from precision_lint.facts.context import PythonFile
from precision_lint.model.finding import Span
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.code import code_of
from precision_lint.source.python.statements import FUNCTIONS
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import syntax_tree

_NAMED = regex(
    r"(?<![a-z])q?lora|peft|load_in_[48]bit|quantization_config|BitsAndBytesConfig", re.IGNORECASE
)
"""What trains something else than the weights as they were loaded."""
_SAYING = frozenset({
    "add_argument", "print", "info", "warning", "debug", "error", "field", "hasattr", "getattr",
})  # fmt: skip
"""Calls that declare a switch, ask for it, or say something of it."""
_QUANTIZING = regex(
    r"load_in_[48]bit|quantization_config|BitsAndBytesConfig|kbit|prepare_model_for", re.IGNORECASE
)
_CASTS = ("to", "half", "bfloat16")
_BRANCHING = (ast.If, ast.For, ast.While, ast.Try, ast.IfExp)
_MOST_HOPS = 4


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


def _comes_after(call: ast.Call, before: ast.expr | ast.keyword, file: PythonFile) -> bool:
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
    return not names_adapters(file) or all(_is_left_out(each, run, file) for each in adapting(file))


def _is_left_out(node: ast.AST, run: PlainRun, file: PythonFile) -> bool:
    match node:
        case ast.keyword(value=value) if _is_nothing(value, run, file, _MOST_HOPS):
            return True
        case ast.Name() | ast.Attribute() if run.truth(node) is False:
            return True
        case ast.Constant():  # `"lora" in name` tells nothing, `args.tuner == "lora"` may
            test = syntax_tree(file).parent(node)
            if isinstance(test, ast.Compare) and run.truth(test) is False:
                return True
    return not run.reaches(node)


def _is_nothing(value: ast.expr, run: PlainRun, file: PythonFile, hops: int) -> bool:
    """True for an argument that is None or False in a run."""
    if isinstance(value, ast.Constant):
        return not value.value
    if hops == 0:
        return False
    if isinstance(value, ast.IfExp):
        holds = run.truth(value.test)
        chosen = value.body if holds else value.orelse
        return holds is not None and _is_nothing(chosen, run, file, hops - 1)
    if isinstance(value, ast.Name):
        held = binding(value, syntax_tree(file))
        if isinstance(held, list) and held:
            return all(
                _is_nothing(one, run, file, hops - 1) or not run.reaches(one) for one in held
            )
    return run.truth(value) is False


def adapting(file: PythonFile) -> Iterator[ast.expr | ast.keyword]:
    """The names of adapters in code that may add some, or hand them on."""
    syntax = syntax_tree(file)
    for node in file.nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                if _NAMED.search(name) is None or _only_says(node, file):
                    continue
                held = binding(node, syntax) if isinstance(node, ast.Name) else None
                if isinstance(node, ast.Name) and isinstance(held, list) and held:
                    continue  # what it holds is looked at where it is made
                yield node
            case ast.keyword(arg=str(name)) if _NAMED.search(name) is not None:
                if not _only_says(node, file):
                    yield node


def _is_option(node: ast.expr, file: PythonFile) -> bool:
    """True for an option of a parser: what it is set to is looked at where it is read."""
    return isinstance(node, ast.Attribute) and parsed_arguments(node.value, file, None) is not None


def _is_sentence(text: str) -> bool:
    """True for the name of an option, and for more than a word; `"lora"` may choose adapters."""
    return text.startswith("-") or " " in text


def _only_says(node: ast.AST, file: PythonFile) -> bool:
    """True for an import, the field of a class, a condition, an annotation, what is printed."""
    if isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return isinstance(node, ast.Name) or _is_option(node, file)
    is_value = isinstance(node, ast.Constant) and not _is_sentence(str(node.value))
    below: ast.AST = node
    for around in syntax_tree(file).around(node):
        match around:
            case ast.If(test=test) | ast.IfExp(test=test):
                if test is below:
                    return not is_value
            case ast.Assert():
                return not is_value
            case ast.Assign(targets=[ast.Attribute() as target]) if _is_option(target, file):
                return isinstance(node, ast.Attribute) and ast.dump(node.value) == ast.dump(
                    target.value
                )
            case ast.Call() if callee_name(around) in _SAYING and below is not around.func:
                return not is_value
            case ast.AnnAssign(annotation=annotation) if annotation is below:
                return True
            case ast.arg() | ast.Raise() | ast.Expr(value=ast.Constant()):
                return True
            case ast.FunctionDef(returns=returns) if returns is below:
                return True
            case ast.ClassDef():
                return not is_value and isinstance(below, ast.Assign | ast.AnnAssign | ast.Expr)
        if isinstance(around, (*FUNCTIONS, ast.Module)):
            return False
        below = around
    return False
