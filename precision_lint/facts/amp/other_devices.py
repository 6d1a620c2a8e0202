"""Regions that are for CUDA only, in programs that choose other devices as well.

`torch.autocast("cuda", …)` has no effect on tensors of another device: not on the products in it,
and not on an autocast region for that device around it, which `enabled=False` is meant to end. It
matters where the program itself says that it runs elsewhere: it creates other regions for
`x.device.type`, or it chooses `"mps"`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import Literal

from precision_lint.facts.amp.autocast import AutocastCall, autocasts
from precision_lint.facts.context import PythonFile
from precision_lint.facts.settings import holds_settings
from precision_lint.model.finding import Related
from precision_lint.model.memo import fact
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name, dotted, last_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_ACCELERATORS = frozenset({"mps", "xpu", "npu", "hpu", "mlu", "musa"})
"""Devices other than CUDA that have autocast; the host is no place to train on."""

_CHOOSES = (
    rb"(?i)(?:(?:device|accelerator)[\w\"']*\s*(?::[^\n=]*)?=(?!=)|return\b|Literal\[|choices)[^\n]*"
    rb"[\"'](?:mps|xpu|npu|hpu|mlu|musa)[\"':]"
)
"""Files without a match choose no such device, or do so in several lines."""

_MAKES_REGIONS = rb"\bautocast\("
_DEVICE = re.compile(r"device|accelerator", re.IGNORECASE)
_ABOUT_DEVICES = re.compile(r"cuda|device|is_available|gpu", re.IGNORECASE)
_NEEDS_CUDA = (
    r"\.cuda\(|set_device\(|torch\.cuda\.(?:device|current_device|synchronize|Event|Stream)\("
    r"|(?:\.to|torch\.device)\(\s*f?[\"']cuda|device\s*=\s*f?[\"']cuda"
)
"""Code that does not run without CUDA."""

_HOPS = 4
_MOST_FILES = 24


Form = Literal["region", "island", "guess"]
"""What is fixed: a region in half precision, one that keeps float32, or a guess at the device."""


@dataclass(frozen=True, slots=True)
class FixedDevice:
    """A region whose device type is not that of its tensors in every run.

    `node` is the region, or the guess at the device. `device` is what the program calls the device
    that it runs on, and `witness` the place. `is_needed` if the region has to work there, too: it
    keeps a part of a model in float32, or its own file serves any device elsewhere.
    """

    node: ast.expr
    form: Form
    device: str
    witness: Related
    is_needed: bool = True


def fixed_devices(file: PythonFile) -> Iterator[FixedDevice]:
    """The regions of a file that do nothing on a device that its program offers."""
    syntax = syntax_tree(file)
    made = autocasts(syntax)
    guesses: set[ast.expr] = set()
    for each in made:
        guess = _guess_of(each, syntax)
        if guess is not None and guess not in guesses:
            guesses.add(guess)
            if (chosen := _chosen_beside(each, file, syntax)) is not None:
                yield FixedDevice(guess, "guess", *chosen)
    fixed = [each for each in made if _names_cuda(each, syntax)]
    if not fixed or re.search(_NEEDS_CUDA, file.text.text):
        return
    beside = list(_any_device(file))
    for each in fixed:
        function = syntax.function(each.node)
        if any(syntax.function(region.node) is function for region in beside):
            continue  # side by side, the author tells the devices apart
        is_float32 = _is_float32(each, syntax)
        found = _shown(beside[0], file) if beside else None
        if found is None and (is_float32 or each.is_off):
            found = _region_above(file)
        if found is None and not each.is_off:
            found = _chosen(file)
        if found is not None:
            form: Form = "island" if is_float32 or each.is_off else "region"
            is_in_model = form == "island" and _is_in_model(each, syntax)
            yield FixedDevice(each.node, form, *found, bool(beside) or is_in_model)


def _names_cuda(made: AutocastCall, syntax: SyntaxTree) -> bool:
    """True for a region for CUDA that no condition on the device decides about."""
    return made.device == "cuda" and not made.has_stars and not _asks_for_device(made, syntax)


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


def _is_float32(made: AutocastCall, syntax: SyntaxTree) -> bool:
    dtype = made.argument("dtype")
    return dtype is not None and qualified(dtype, syntax.names) in {"torch.float32", "torch.float"}


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
        is_island = made.is_off or _is_float32(made, syntax)
        if is_computed and not is_island and not _asks_for_cuda(made, syntax):
            yield made


def _shown(made: AutocastCall, file: ParsedPython) -> tuple[str, Related]:
    given = made.argument("device_type")
    shown = "any device" if given is None else f"`{ast.unparse(given)}`"
    place = file.text.place(file.span_of(made.node))
    return shown, Related(place, f"autocast is for {shown} here")


def _asks_for_cuda(made: AutocastCall, syntax: SyntaxTree) -> bool:
    return any("cuda" in test for test in _conditions(made, syntax))


# Guesses


def _guess_of(made: AutocastCall, syntax: SyntaxTree) -> ast.IfExp | None:
    """The guess that the device type of a region comes from."""
    given = made.argument("device_type") if made.is_generic else None
    return None if given is None or made.is_off else _guess(given, syntax, _HOPS)


def _guess(node: ast.expr, syntax: SyntaxTree, hops: int) -> ast.IfExp | None:
    """`"cuda" if torch.cuda.is_available() else "cpu"`, by variables and attributes."""
    values: list[ast.expr] = []
    match node:
        case ast.IfExp(test=test, body=ast.Constant(), orelse=ast.Constant()):
            return node if "is_available" in ast.unparse(test) else None
        case ast.Call(func=func, args=[inner]) if last_name(func) == "device":
            values = [inner]
        case ast.Attribute(value=inner, attr="type"):
            values = [inner]
        case ast.Name():
            held = binding(node, syntax)
            values = held if isinstance(held, list) else []
        case ast.Attribute(value=ast.Name(id="self")):
            owner = enclosing_class(node, syntax)
            values = (attribute(node, owner, syntax) if owner is not None else None) or []
    found = [_guess(value, syntax, hops - 1) for value in values] if hops else []
    return found[0] if found and all(found) else None


def _chosen_beside(
    made: AutocastCall, file: PythonFile, syntax: SyntaxTree
) -> tuple[str, Related] | None:
    """The device that a setting chooses, in the class or the function of a region."""
    scope = enclosing_class(made.node, syntax) or syntax.function(made.node)
    for node in ast.walk(scope) if scope is not None else ():
        if isinstance(node, ast.Attribute) and node.attr == "device" and _is_choice(node, syntax):
            place = file.text.place(file.span_of(node))
            return f"`{ast.unparse(node)}`", Related(place, "the device that is used")
    return None


def _is_choice(node: ast.Attribute, syntax: SyntaxTree) -> bool:
    """True for `args.device`, and for `self.device` unless it is a guess as well."""
    match node.value:
        case ast.Name(id="self"):
            return isinstance(node.ctx, ast.Load) and _guess(node, syntax, _HOPS) is None
        case ast.Name(id=holder):
            return holds_settings(holder)
    return False


# Devices that the program chooses


def _chosen(file: PythonFile) -> tuple[str, Related] | None:
    """Where a program that a file is a part of chooses an accelerator other than CUDA."""
    path = file.text.path
    matching = file.project.python_sources_matching(_CHOOSES)
    closest = sorted(matching, key=lambda other: -_shared(other, path))
    others = (other for other in closest if other != path and file.project.concerns(other, path))
    if (own := next(_choices(file), None)) is not None:
        return own
    if any(file.project.uses(other, path) for other in _needing_cuda(file)):
        return None
    for other in islice(others, _MOST_FILES):
        parsed = file.project.module(other)
        found = None if parsed is None else next(_choices(parsed), None)
        if found is not None:
            return found
    return None


def _needing_cuda(file: PythonFile) -> tuple[Path, ...]:
    return file.project.python_sources_matching(_NEEDS_CUDA.encode())


def _shared(one: Path, other: Path) -> int:
    """How many folders two files have in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one.parts, other.parts)))


def _choices(file: ParsedPython) -> Iterator[tuple[str, Related]]:
    """The devices other than CUDA that a file gives to a variable, an option or a field."""
    syntax = syntax_tree(file)
    for node in _named_accelerators(file):
        name = _receiver(node, syntax)
        if name is not None and _DEVICE.search(name):
            place = file.text.place(file.span_of(node))
            yield f'"{node.value!s}"', Related(place, "the device is chosen here")


@fact
def _named_accelerators(file: ParsedPython) -> tuple[ast.Constant, ...]:
    return tuple(
        node
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.partition(":")[0] in _ACCELERATORS
    )


def _receiver(node: ast.expr, syntax: SyntaxTree) -> str | None:
    """The name of what gets a value: a variable, a parameter, an option, a function's result."""
    inner: ast.AST = node
    for parent in syntax.around(node):
        match parent:
            case ast.IfExp(test=test) if inner is test:
                return None
            case ast.IfExp() | ast.BoolOp() | ast.Tuple() | ast.List() | ast.Set():
                pass
            case ast.Call(func=func) if last_name(func) == "device":
                pass
            case ast.Subscript(value=owner) if last_name(owner) == "Literal":
                pass
            case ast.keyword(arg="choices" | "default"):
                call = syntax.parent(parent)
                return _option(call) if isinstance(call, ast.Call) else None
            case ast.keyword(arg=name):
                return name
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
                return dotted(target)
            case ast.Return():
                function = syntax.function(parent)
                return function.name if isinstance(function, FunctionDefinition) else None
            case _:
                return None
        inner = parent
    return None


def _option(call: ast.Call) -> str | None:
    """The flag of `parser.add_argument("--device", …)`."""
    match call.args:
        case [ast.Constant(value=str(flag)), *_] if callee_name(call) == "add_argument":
            return flag
    return None
