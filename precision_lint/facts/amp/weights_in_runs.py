"""The dtype that the options and files of a run choose for the weights of a model.

`torch.float16 if args.fp16 else (torch.bfloat16 if args.bf16 else torch.float32)` is bfloat16 in a
run with `--bf16 True`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from precision_lint.facts.amp.optional_adapters import is_without_adapters
from precision_lint.facts.amp.parsed_arguments import ParsedArguments, parsed_arguments
from precision_lint.facts.amp.plain_runs import PlainRun, configured_runs
from precision_lint.facts.context import PythonFile
from precision_lint.facts.origin import Origin
from precision_lint.facts.project.origin_nodes import origin_node
from precision_lint.facts.settings.chosen_expressions import Choosing
from precision_lint.model.dtypes import ALIASES, FLOAT32
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import syntax_tree
from precision_lint.source.python.truth import truth

_SWITCHES = frozenset({"fp16", "bf16"})
_OFF_BY_DEFAULT = frozenset({"TrainingArguments", "Seq2SeqTrainingArguments"})
"""Classes of transformers whose switches are off (5.23); `bf16` of TRL's is on (1.16)."""
_TRUE = frozenset({"true", "1", "yes", "y", "t"})
_FALSE = frozenset({"false", "0", "no", "n", "f"})
"""What HfArgumentParser takes for a switch (transformers 5.23)."""


@frozen
class ChosenDtype:
    """A dtype, and the command whose options choose it, or the setting of a file that does so."""

    dtype: str
    command: Related


def chosen_dtype(
    origin: Origin, run: PlainRun, parsed: ParsedArguments | None, file: PythonFile
) -> ChosenDtype | None:
    """The dtype that the choice around an origin comes to in a run; None if that is not known, or
    if no command starts the run.
    """
    dtype = _dtype_in(run, origin, parsed, file)
    return None if dtype is None or run.place is None else ChosenDtype(dtype, run.place)


def _dtype_in(
    run: PlainRun, origin: Origin, parsed: ParsedArguments | None, file: PythonFile
) -> str | None:
    found = origin_node(origin, file, file.project)
    if found is None:
        return None
    named, module = found
    holds = partial(_holds, run=run, parsed=parsed, module=module, file=file)
    key = partial(_key, run=run, module=module)
    syntax = syntax_tree(module)
    chosen = Choosing(syntax, lambda test: truth(test, holds), key).chosen(named)
    return None if chosen is None else ALIASES.get(last_name(chosen))


def chosen_in_runs(
    origin: Origin, node: ast.expr, file: PythonFile
) -> Iterator[tuple[ChosenDtype, PlainRun]]:
    """What the settings of the runs that come to a node choose at an origin, instead of float32;
    of a program that no command starts, what its files choose.
    """
    found = origin_node(origin, file, file.project)
    if found is None or not _is_instead_of_float32(*found):
        return
    for run in configured_runs(file):
        if not run.reaches(node) or not is_without_adapters(run, file):
            continue
        asking = partial(_dtype_in, run, origin, None, file)
        dtype, place = asking(), run.place or run.setting_read(asking)
        if dtype is not None and place is not None:
            yield ChosenDtype(dtype, place), run


def _is_instead_of_float32(named: ast.expr, module: ParsedPython) -> bool:
    """True for one of several dtypes that a choice has, or that a variable is assigned; what is
    assigned to it after the choice may be another one.
    """
    syntax = syntax_tree(module)
    outer: ast.AST = named
    around: ast.AST = named
    for around in syntax.within_function(named):
        if isinstance(around, ast.stmt):
            break
        outer = around if isinstance(around, ast.IfExp | ast.Dict) else outer
    offered: list[ast.AST] = [outer]
    match around:
        case ast.Assign(targets=[ast.Name() as target]):
            branching = [
                each for each in syntax.within_function(around) if isinstance(each, ast.If)
            ]
            last = (branching[-1] if branching else around).end_lineno or 0
            stores = syntax.stores(syntax.function(target) or syntax.tree, target.id)
            if any(each.lineno > last for each in stores):
                return False
            offered += [syntax.parent(each) or each for each in stores]
    names = (each.attr for one in offered for each in walk(one) if isinstance(each, ast.Attribute))
    return any(ALIASES.get(name) == FLOAT32 for name in names)


def _holds(
    part: ast.expr,
    run: PlainRun,
    parsed: ParsedArguments | None,
    module: ParsedPython,
    file: PythonFile,
) -> bool | None:
    match part:
        case ast.Attribute(value=owner, attr=name) if name in _SWITCHES and module is file:
            library = "" if parsed is None else parsed.library
            arguments = parsed_arguments(owner, file, (library,)) if library else None
            if arguments is not None:
                return _is_on(arguments.value(name, run), library)
    return run.truth(part, module)


def _is_on(given: object, library: str) -> bool | None:
    if given is None:
        return False if library in _OFF_BY_DEFAULT else None
    word = str(given).lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _key(table: ast.Dict, run: PlainRun, module: ParsedPython) -> object:
    """The name that is looked up in a table where it stands: `{…}[args.dtype]`."""
    match syntax_tree(module).parent(table):
        case ast.Subscript(value=looked_in, slice=key) if looked_in is table:
            known = run.value(key, module)
            return None if known is None else known.value
    return None
