"""Accelerators that scale no loss, as they compute in full precision: what a region of torch makes
float16 beside them is not scaled.

Run with accelerate 1.15: `Accelerator(mixed_precision="no")` makes no scaler, whatever the
environment says. Without an argument, `accelerate launch` may choose, and Python alone does not.
"""

from __future__ import annotations

import ast

from precision_lint.facts.amp.launch_backends import names_backend
from precision_lint.facts.amp.plain_runs import PlainRun, plain_runs
from precision_lint.facts.amp.scaling.plugins import accelerators
from precision_lint.facts.amp.unset_options import is_unset
from precision_lint.facts.context import PythonFile
from precision_lint.model.finding import Related
from precision_lint.model.memo import fact
from precision_lint.source.python.syntax_tree import syntax_tree

_OTHER_SETTINGS = frozenset({"deepspeed_plugin", "deepspeed_plugins", "megatron_lm_plugin"})
"""Backends that scale by themselves."""


@fact
def unscaled_accelerators(file: PythonFile) -> tuple[Related, ...]:
    """What says that all Accelerators of a file are without a scaler: their own argument, or the
    command that starts the program; nothing if one of them may have one.
    """
    found = [_without_scaler(call, file) for call in accelerators(syntax_tree(file))]
    known = [each for each in found if each is not None]
    return tuple(dict.fromkeys(known)) if len(known) == len(found) else ()


def _without_scaler(call: ast.Call, file: PythonFile) -> Related | None:
    given = {each.arg: each.value for each in call.keywords}
    if None in given or given.keys() & _OTHER_SETTINGS or len(call.args) > 2:
        return None
    precision = given.get("mixed_precision")
    match precision:
        case ast.Constant(value="no"):
            return (
                None
                if names_backend(file)
                else file.related(file.span_of(precision), "no loss is scaled with this")
            )
    runs = plain_runs(file)
    if not runs or not all(run.is_shown and _is_off(precision, run, file) for run in runs):
        return None
    return runs[0].place


def _is_off(precision: ast.expr | None, run: PlainRun, file: PythonFile) -> bool:
    """True if a run chooses full precision, or starts Python alone and chooses nothing."""
    launch = run.environment.launch
    by_python = launch is not None and not launch.by_accelerate
    match precision:
        case None | ast.Constant(value=None):
            return by_python
    known = run.value(precision)
    if known is not None and isinstance(known.value, str):
        return known.value.lower() == "no"
    return by_python and is_unset(precision, run, file)
