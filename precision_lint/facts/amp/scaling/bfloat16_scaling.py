"""Where a loss is scaled although training runs in bfloat16, or can run in it.

Each place has a form, which says what scales the loss and where bfloat16 comes from:

    lightning   a plugin of Lightning gets a scaler and a precision that refuses it
    accelerate  an `Accelerator` gets settings of a scaler that it does not make
    mmengine    an optimizer wrapper of MMEngine scales in bfloat16
    apex        apex gets a bfloat16 model
    wrapper     a class that makes a scaler is called in the same code as autocast in bfloat16
    autocast    a GradScaler is on in the same code as autocast in bfloat16
    enabled     the `enabled=` of a GradScaler names bfloat16
    unheeded    the same, and autocast is given no dtype, so that it runs in float16
    plugin      a precision plugin makes a GradScaler for every precision
    guard       a GradScaler is made under a condition that holds for bfloat16
    offered     a GradScaler is on, and a setting makes the autocast dtype bfloat16
    chosen      a GradScaler is always on, and the same code compares a setting with bfloat16
    weights     a GradScaler is always on, and a setting that the program reads makes its weights
                bfloat16
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from precision_lint.facts.amp.scaling import apex, choices, mmengine, plugins, scalers
from precision_lint.facts.amp.scaling.default_dtype import SETTERS, device_type
from precision_lint.facts.amp.scaling.idle_scalers import is_idle
from precision_lint.facts.amp.scaling.local_scalers import is_used_elsewhere
from precision_lint.facts.amp.scaling.offers import bfloat16_offer, weights_offer
from precision_lint.facts.amp.scaling.other_branches import is_of_another_branch
from precision_lint.facts.amp.scaling.scalers import AutocastRegion, Conditions, Wrapper
from precision_lint.facts.amp.scaling.table_choices import chooses_another
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.dtypes.domain.values import Condition, Constant, Dtype
from precision_lint.facts.dtypes.syntax.conditions import (
    admits_bfloat16,
    condition_admits_bfloat16,
    condition_excludes_bfloat16,
    excludes_bfloat16,
)
from precision_lint.model.dtypes import BFLOAT16, FLOAT16
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.functions import functions_around
from precision_lint.source.python.syntax_tree import argument_at, syntax_tree

SCALING_CALLS = frozenset(
    {"GradScaler", "ShardedGradScaler", "autocast", "partial", "scale", "backward", "initialize"}
    | {*SETTERS}
)
"""The calls that `scaling_at` looks at, and those that it compares them with."""

ScalingForm = Literal[
    "lightning", "accelerate", "mmengine", "apex", "wrapper", "autocast", "enabled", "unheeded",
    "plugin", "guard", "offered", "chosen", "weights",
]  # fmt: skip

_OWN_SWITCH = regex(r"scal", re.IGNORECASE)
"""`enabled=cfg.use_grad_scaler`: the user decides, not the code."""


@frozen
class Switch:
    """How a GradScaler that a call makes can be turned off for bfloat16.

    `enabled` is the argument that is there, `dtype` the source of an expression for the dtype that
    training runs in, None if no expression holds it. `is_in_reach` if that expression has the same
    value where the scaler is made.
    """

    call: Call
    enabled: Argument | None
    dtype: str | None = None
    is_in_reach: bool = False


@frozen
class Scaling:
    """A place that scales the loss in bfloat16.

    `subject` is what scales it, as the file or its framework calls it, and `error` what that
    raises; `value` is the value of a setting that chooses bfloat16. `is_always` if no run uses
    another dtype, `is_optional` if a setting of its own turns the scaler on. `switch` is None where
    the code does not make the scaler itself.
    """

    form: ScalingForm
    span: Span
    subject: str = ""
    error: str = ""
    value: str = ""
    is_always: bool = False
    is_optional: bool = False
    related: tuple[Related, ...] = ()
    switch: Switch | None = None


def scaling_in(file: PythonFile) -> Iterator[Scaling]:
    """The places of a file that can be found without the dtypes of its calls."""
    for refused in plugins.refused(file):
        related = file.related(file.span_of(refused.precision), "bfloat16 enters here")
        yield Scaling(
            "lightning",
            file.span_of(refused.scaler),
            refused.plugin,
            refused.error,
            related=(related,),
        )
    for held in scalers.made_by_variable(file):
        conditions = scalers.conditions_around(held, file)
        if not (_is_excluded(conditions, file) or _is_off_in_bfloat16(held, file)):
            found = _made_for_bfloat16(held, conditions, file) or _offered(held, [], file)
            if found is not None:
                yield found
    for ignored in plugins.ignored(file):
        related = file.related(file.span_of(ignored.precision), "bfloat16 enters here")
        yield Scaling("accelerate", file.span_of(ignored.handler), related=(related,))
    for made in mmengine.bfloat16_wrappers(file):
        yield Scaling("mmengine", file.span_of(made))
    if "autocast" not in file.text.text:  # where it is, `scaling_at` knows its dtype
        for wrapper in scalers.wrappers(file):
            yield from _wrapped(wrapper, scalers.regions_elsewhere(wrapper.node, file), file)


def scaling_at(call: Call, file: PythonFile) -> Iterator[Scaling]:
    """The places that a call shows: one that makes a scaler, an autocast context, or apex's."""
    if call.name in {"autocast", "partial"}:
        regions = scalers.regions(call, file)
        if regions and regions[0].call is call:
            for wrapper in scalers.wrappers(file):
                yield from _wrapped(wrapper, regions, file)
    elif scalers.makes_grad_scaler(call.function or ""):
        node = scalers.node_at(file, call.span)
        found = None if node is None else _scaler(call, node, file)
        if found is not None:
            yield found
    elif call.function in apex.INITIALIZE:
        node = scalers.node_at(file, call.span)
        weights = apex.refuses(call, node) if node is not None else None
        if weights is not None:
            related = (weights.origin.related,) if weights.origin else ()
            yield Scaling("apex", call.span, error=apex.REFUSED, related=related)


def _wrapped(
    wrapper: Wrapper, regions: list[AutocastRegion], file: PythonFile
) -> Iterator[Scaling]:
    """A class that makes a scaler inside, called in the same code as autocast in bfloat16."""
    region = _in_bfloat16(regions)
    if region is None or region.dtype is None or _is_excluded(wrapper.conditions, file):
        return
    yield Scaling(
        "wrapper",
        file.span_of(wrapper.node),
        ast.unparse(wrapper.node.func),
        is_always=_is_always(region.dtype),
        related=(*_related(region, region.dtype), *filter(None, [wrapper.made])),
    )


def _scaler(call: Call, node: ast.Call, file: PythonFile) -> Scaling | None:
    """A GradScaler that the code makes itself."""
    enabled = _enabled(call)
    if enabled is not None and _is_tied_to_float16(enabled, file):
        return None
    if any(each.scaler is node for each in plugins.refused(file)):
        return None  # it raises before anything is scaled
    if is_idle(node, file):
        return None
    conditions = scalers.conditions_around(node, file)
    if _is_excluded(conditions, file):
        return None
    if enabled is None and call.has_stars:
        return _made_for_bfloat16(node, conditions, file)
    regions = _regions_of(call, node, file)
    switch = None if enabled is None else argument_at(enabled.span, node, file)
    is_on = conditions if switch is None else (*conditions, (switch, True))
    if any(is_of_another_branch(one, call, node, is_on, file) for one in regions):
        return None
    if (region := _in_bfloat16(regions)) is not None:
        return _with_autocast(call, enabled, region, file)
    if any(one.dtype is not None and one.dtype.dtypes for one in regions):
        return None  # float16, or several of their own
    if regions and all(one.dtype is None for one in regions):
        if enabled and admits_bfloat16(_condition(enabled, file)):
            return Scaling("unheeded", call.span, related=(regions[0].related,))
    elif (found := _chosen(call, node, enabled, conditions, regions, file)) is not None:
        return found
    if "enabled" not in call.keywords and any(map(_is_configured, regions)):
        offer = weights_offer(file)
        if offer is not None:
            return Scaling(
                "weights",
                call.span,
                value=offer.with_place,
                related=(offer.related,),
                switch=Switch(call, enabled),
            )
    return None


def _chosen(
    call: Call,
    node: ast.Call,
    enabled: Argument | None,
    conditions: Conditions,
    regions: list[AutocastRegion],
    file: PythonFile,
) -> Scaling | None:
    """A scaler that is on for a setting that names bfloat16."""
    if enabled and admits_bfloat16(_condition(enabled, file)):
        return Scaling("enabled", call.span, switch=Switch(call, enabled))
    if (precision := plugins.unchecked_precision(node, file)) is not None:
        related = file.related(file.span_of(precision), "the precision is chosen here")
        return Scaling("plugin", call.span, related=(related,))
    if (found := _made_for_bfloat16(node, conditions, file)) is not None:
        return found
    if (offered := _offered(node, regions, file)) is not None:
        return replace(offered, is_optional=_has_own_switch(call, enabled, file))
    if not conditions and enabled is None and not regions:
        test = choices.bfloat16_choice(node, file)
        if test is not None:
            related = file.related(file.span_of(test), "bfloat16 is one of the dtypes here")
            value = f"`{ast.unparse(test)}`"
            return Scaling("chosen", call.span, value=value, related=(related,))
    return None


def _made_for_bfloat16(node: ast.Call, conditions: Conditions, file: PythonFile) -> Scaling | None:
    """A scaler that is made under `precision == "bf16"`."""
    for test, holds in conditions:
        if condition_admits_bfloat16(scalers.spelled_out(test, file), holds):
            related = file.related(file.span_of(test), "bfloat16 is chosen here")
            return Scaling("guard", file.span_of(node), related=(related,))
    return None


def _offered(node: ast.Call, regions: list[AutocastRegion], file: PythonFile) -> Scaling | None:
    """A scaler beside autocast whose dtype a setting or a parameter chooses."""
    dtypes = scalers.given_dtypes(regions) if regions else scalers.autocast_dtypes(node, file)
    for given, source in dtypes:
        offer = bfloat16_offer(given, file, of=source)
        if offer is not None and not chooses_another(offer, node, file):
            region = Related(source.text.place(source.span_of(given)), "the dtype of autocast")
            return Scaling(
                "offered",
                file.span_of(node),
                value=offer.with_place,
                related=(offer.related, region),
            )
    return None


def _regions_of(call: Call, node: ast.Call, file: PythonFile) -> list[AutocastRegion]:
    """The autocast contexts that a scaler can be used with."""
    regions = [one for one in scalers.regions(call, file) if _may_meet(node, one, file)]
    if not regions:
        regions = scalers.regions_elsewhere(node, file)
        if not any(one.dtype for one in regions):
            regions = scalers.defaults(call, file) or regions
    if device_type(call, file) == "cuda":  # the CPU is another way to train
        return [one for one in regions if one.device != "cpu"]
    return regions


def _may_meet(made: ast.Call, region: AutocastRegion, file: PythonFile) -> bool:
    """True unless a scaler is a variable of a function that has nothing to do with the region."""
    entered = scalers.node_at(file, region.call.span)
    return entered is None or not is_used_elsewhere(made, entered, syntax_tree(file))


def _with_autocast(
    call: Call, enabled: Argument | None, region: AutocastRegion, file: PythonFile
) -> Scaling:
    dtype = region.dtype
    assert dtype is not None
    is_always = _is_always(dtype)
    given = None if region.given is None else region.file.text[region.given.span]
    is_in_reach = region.file is file and (is_always or _is_in_reach(call, region, file))
    return Scaling(
        "autocast",
        call.span,
        is_always=is_always,
        is_optional=_has_own_switch(call, enabled, file),
        related=tuple(_related(region, dtype)),
        switch=Switch(call, enabled, given, is_in_reach),
    )


def _is_excluded(conditions: Conditions, file: PythonFile) -> bool:
    """True if code under these conditions does not run in bfloat16."""
    return any(
        condition_excludes_bfloat16(scalers.spelled_out(test, file), holds)
        for test, holds in conditions
    )


def _is_off_in_bfloat16(node: ast.Call, file: PythonFile) -> bool:
    """True if `enabled=` turns a scaler off in bfloat16, or may."""
    for keyword in node.keywords:
        if keyword.arg is None:
            return True
        if keyword.arg == "enabled":
            return condition_excludes_bfloat16(scalers.spelled_out(keyword.value, file))
    return False


def _in_bfloat16(regions: list[AutocastRegion]) -> AutocastRegion | None:
    """The first region that can run in bfloat16, unless the scaler may belong to another one.

    A region in float16 whose function has another one with a chosen dtype is for an older torch.
    """
    chosen = {_place(one) for one in regions if _dtypes(one) >= {FLOAT16, BFLOAT16}}
    for one in regions:
        if _dtypes(one) & {FLOAT16, BFLOAT16} == {FLOAT16} and _place(one) not in chosen:
            return None
    return next((one for one in regions if BFLOAT16 in _dtypes(one)), None)


def _dtypes(region: AutocastRegion) -> frozenset[str]:
    return region.dtype.dtypes if region.dtype is not None else frozenset({FLOAT16})


def _place(region: AutocastRegion) -> tuple[Path, str]:
    """The file and the function that make a region."""
    return region.file.text.path, region.call.scope


def _is_always(dtype: Dtype) -> bool:
    return dtype.dtypes == {BFLOAT16} and not (dtype.caller_chosen or dtype.may_be_other)


def _related(region: AutocastRegion, dtype: Dtype) -> list[Related]:
    related = [region.related]
    if dtype.origin is not None:
        related.append(replace(dtype.origin.related, message="bfloat16 enters here"))
    return related


def _is_configured(region: AutocastRegion) -> bool:
    """True if a setting turns the region on: `enabled=cfg.training.mixed_precision`."""
    enabled = region.call.keywords.get("enabled")
    return enabled is not None and "." in region.file.text[enabled.span]


def _is_in_reach(call: Call, region: AutocastRegion, file: PythonFile) -> bool:
    """True if the name that holds the region's dtype holds the same where the scaler is made."""
    if region.given is None or region.giver is None:
        return False
    name = file.text[region.given.span]
    is_same_variable = call.scope in {region.giver.scope, ""} or name.startswith("self.")
    return (
        is_same_variable
        and call.dtypes.get(name) == region.given.value
        and call.module.imports.get("torch") == "torch"
    )


def _enabled(call: Call) -> Argument | None:
    """`enabled=`, by keyword or position."""
    return call.argument(scalers.enabled_position(call.function or ""), "enabled")


def _condition(enabled: Argument, file: PythonFile) -> str:
    """The source of the condition that `enabled=` is, or that its variable was assigned.

    Of a parameter it is what the one caller in the file gives.
    """
    match enabled.value:
        case Condition(text=text):
            return text
    return _given_by_caller(enabled, file) or file.text[enabled.span]


def _given_by_caller(enabled: Argument, file: PythonFile) -> str | None:
    """What the calls of a function give to its parameter, if they are alike."""
    name = file.text[enabled.span]
    around = functions_around(file, enabled.span.start)
    if not around:
        return None
    function = around[-1]
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if name not in (*names, *(each.arg for each in function.args.kwonlyargs)):
        return None
    of_self = names[:1] in (["self"], ["cls"])
    position = names.index(name) - of_self if name in names else None
    written: set[str] = set()
    for call in syntax_tree(file).calls(function.name):
        given = [each.value for each in call.keywords if each.arg == name]
        if not given and position is not None:
            given = call.args[position : position + 1]
        written |= {file.text[file.span_of(each)] for each in given}
    return written.pop() if len(written) == 1 else None


def _is_tied_to_float16(enabled: Argument, file: PythonFile) -> bool:
    """True if `enabled=` is off, or depends on float16 alone."""
    if isinstance(enabled.value, Constant):
        return not enabled.value.value
    return excludes_bfloat16(_condition(enabled, file))


def _has_own_switch(call: Call, enabled: Argument | None, file: PythonFile) -> bool:
    """True if a setting turns the scaler on by itself: `if use_grad_scaler:`, `enabled=scale_loss`.

    The user decides then. `if scaler is None:` is no setting.
    """
    conditions = [file.text[guard.span] for guard in call.guards if guard.holds]
    if enabled is not None:
        conditions.append(_condition(enabled, file))
    return any(_OWN_SWITCH.search(one) and "None" not in one for one in conditions)
