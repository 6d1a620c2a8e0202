"""Regions that are for CUDA only, in programs that choose other devices as well.

`torch.autocast("cuda", …)` has no effect on tensors of another device: not on the products in it,
and not on an autocast region for that device around it, which `enabled=False` is meant to end. It
matters where the program itself says that it runs elsewhere: it creates other regions for
`x.device.type`, or it chooses `"mps"`. The same holds for a region that is for the CPU wherever
there is no CUDA.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal

from precision_lint.facts.amp.regions.autocast import AutocastCall, autocasts, region_of
from precision_lint.facts.amp.regions.cpu_regions import device_taken_for_cpu
from precision_lint.facts.amp.regions.device_choices import NEEDS_CUDA, chosen_device
from precision_lint.facts.amp.regions.device_guesses import chosen_beside, guess_of
from precision_lint.facts.amp.regions.lowered import may_hold_lowered
from precision_lint.facts.context import PythonFile
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MAKES_REGIONS = rb"\bautocast\("
_ABOUT_DEVICES = regex(r"cuda|device|is_available|gpu", re.IGNORECASE)
_LAUNCHER = regex(r"accelerator\.device")
_MOST_FILES = 24
_SINGLE = frozenset({"torch.float32", "torch.float"})
_HALF = frozenset({"torch.float16", "torch.half"})
"""A region in float16 is not meant for the CPU, which a guess takes for the other device."""


Form = Literal["region", "island", "guess", "cpu"]
"""What is fixed: a region in half precision, one that keeps float32, a guess at the device, or a
region that takes every other device for the CPU."""


@frozen
class FixedDevice:
    """A region whose device type is not that of its tensors in every run.

    `node` is the region, or what gives it the device type. `device` is what the program calls the
    device that it runs on, and `witness` the place. `is_needed` if the region has to work there,
    too: its own file serves any device elsewhere, it keeps a part of a model in float32 and the
    program names a device that is not CUDA, or it takes that device for the CPU. In another file,
    `x.device.type` shows no other device. Nor does `accelerator.device.type`: Accelerate finds that
    device, and the program offers none.
    """

    node: ast.expr
    form: Form
    device: str
    witness: Related
    is_needed: bool


def fixed_devices(file: PythonFile) -> Iterator[FixedDevice]:
    """The regions of a file that do nothing on a device that its program offers."""
    syntax = syntax_tree(file)
    made = autocasts(syntax)
    guesses: set[ast.expr] = set()
    for each in made:
        guess = guess_of(each, syntax)
        if guess is not None and guess not in guesses and not _has_dtype(each, _HALF, syntax):
            guesses.add(guess)
            if (chosen := chosen_beside(each, file, syntax)) is not None:
                yield FixedDevice(guess, "guess", *chosen, is_needed=False)
    yield from _for_the_cpu(made, file, syntax)
    fixed = [each for each in made if _names_cuda(each, syntax) and _has_effect(each, syntax)]
    if not fixed or re.search(NEEDS_CUDA, file.text.text):
        return
    beside = list(_any_device(file))
    for each in fixed:
        function = syntax.function(each.node)
        if any(syntax.function(region.node) is function for region in beside):
            continue  # side by side, the author tells the devices apart
        is_float32 = _has_dtype(each, _SINGLE, syntax)
        found = _shown(beside[0], file) if beside else None
        if found is None and (is_float32 or each.is_off):
            found = _region_above(file)
        if found is None and not each.is_off:
            found = chosen_device(file)
        if found is not None:
            form: Form = "island" if is_float32 or each.is_off else "region"
            is_in_model = form == "island" and _is_in_model(each, syntax)
            offers = any(not _is_of_launcher(region) for region in beside)
            is_needed = offers or (is_in_model and chosen_device(file) is not None)
            yield FixedDevice(each.node, form, *found, is_needed)


def _for_the_cpu(
    made: Iterable[AutocastCall], file: PythonFile, syntax: SyntaxTree
) -> Iterator[FixedDevice]:
    """Where a device that the file chooses is taken for the CPU, by regions that are on there."""
    seen: set[ast.expr] = set()
    for each in made:
        if each.is_off or _has_dtype(each, _SINGLE, syntax) or _asks_for_device(each, syntax):
            continue
        found = device_taken_for_cpu(each, file, syntax)
        if found is not None and found[0] not in seen and _has_effect(each, syntax):
            seen.add(found[0])
            yield FixedDevice(found[0], "cpu", *found[1:], is_needed=True)


def _names_cuda(made: AutocastCall, syntax: SyntaxTree) -> bool:
    """True for a region for CUDA that no condition on the device decides about."""
    return made.device == "cuda" and not made.has_stars and not _asks_for_device(made, syntax)


def _has_effect(made: AutocastCall, syntax: SyntaxTree) -> bool:
    """False for a region around nothing that autocast runs in half precision."""
    region = region_of(made, syntax)
    return region is None or may_hold_lowered(region.body, syntax)


def _asks_for_device(made: AutocastCall, syntax: SyntaxTree) -> bool:
    return any(map(_ABOUT_DEVICES.search, _conditions(made, syntax)))


def _conditions(made: AutocastCall, syntax: SyntaxTree) -> list[str]:
    """What decides whether a region is on: `enabled=`, and the conditions around it."""
    enabled = made.argument("enabled")
    around = syntax.within_function(made.node)
    tests = [parent.test for parent in around if isinstance(parent, ast.If | ast.IfExp)]
    return [ast.unparse(test) for test in [*tests, *filter(None, [enabled])]]


def _is_in_model(made: AutocastCall, syntax: SyntaxTree) -> bool:
    """True in a module: its weights have the dtype that its user chooses."""
    owner = enclosing_class(made.node, syntax)
    return owner is not None and any(last_name(base).endswith("Module") for base in owner.bases)


def _has_dtype(made: AutocastCall, names: frozenset[str], syntax: SyntaxTree) -> bool:
    dtype = made.argument("dtype")
    return dtype is not None and qualified(dtype, syntax.names) in names


# Regions for any device


def _region_above(file: PythonFile) -> tuple[str, Related] | None:
    """A region for the device at hand in a file that uses this one."""
    path = file.text.path
    users = (
        other
        for other in file.project.python_sources_matching(_MAKES_REGIONS)
        if other != path and file.project.uses(other, path)
    )
    for other in islice(users, _MOST_FILES):
        parsed = file.project.module(other)
        found = None if parsed is None else next(_any_device(parsed), None)
        if parsed is not None and found is not None:
            return _shown(found, parsed)
    return None


def _any_device(file: ParsedPython) -> Iterator[AutocastCall]:
    """The regions that are on, for the type of a device that the code computes."""
    syntax = syntax_tree(file)
    for made in autocasts(syntax):
        is_computed = made.is_generic and made.device is None and not made.has_stars
        is_island = made.is_off or _has_dtype(made, _SINGLE, syntax)
        if is_computed and not is_island and not _asks_for_cuda(made, syntax):
            yield made


def _is_of_launcher(made: AutocastCall) -> bool:
    given = made.argument("device_type")
    return given is not None and _LAUNCHER.search(ast.unparse(given)) is not None


def _shown(made: AutocastCall, file: ParsedPython) -> tuple[str, Related]:
    given = made.argument("device_type")
    shown = "any device" if given is None else f"`{ast.unparse(given)}`"
    place = file.text.place(file.span_of(made.node))
    return shown, Related(place, f"autocast is for {shown} here")


def _asks_for_cuda(made: AutocastCall, syntax: SyntaxTree) -> bool:
    return any("cuda" in test for test in _conditions(made, syntax))
