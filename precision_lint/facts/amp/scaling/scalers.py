"""Which calls create a gradient scaler, where it is used, and the autocast regions of its training.

A scaler is made in one place and autocast is entered in another: in a function of another file that
the scaler is passed to, in a base class, or in a class of the project that creates the scaler.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping, Sequence

from precision_lint.facts.amp.regions.autocast import autocast_call
from precision_lint.facts.amp.scaling import apex, default_dtype
from precision_lint.facts.amp.scaling.local_scalers import is_used_elsewhere
from precision_lint.facts.amp.scaling.users import Users
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument, Call, Calls
from precision_lint.facts.dtypes.domain.values import Constant, Dtype, Symbol
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, module_of
from precision_lint.facts.dtypes.whole_program.program import Found, Program
from precision_lint.model.dtypes import ALIASES, BFLOAT16
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding, enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Leaving
from precision_lint.source.python.syntax import dotted, qualified, resolved
from precision_lint.source.python.syntax_tree import syntax_tree

_ROOTS = frozenset({"torch", "fairscale"})
_WRAPPER = regex(r"scaler|amp", re.IGNORECASE)
_OF_PACKAGES = frozenset({"timm.utils.NativeScaler", "timm.utils.cuda.NativeScaler"})
"""Classes of other packages that make a scaler which is always on."""

_MOST_CALLEES = 8
_AUTOCAST = frozenset({"autocast", *default_dtype.SETTERS})


@frozen
class AutocastRegion:
    """A place that makes an autocast context: its call, the file, the dtype that it runs in.

    `dtype` is None where nothing says it: float16 on CUDA. `given` is the argument that says it,
    and `giver` the call that this is an argument of: its own, or one that sets the default.
    `device` is the device type whose own default it is, where that is bfloat16.
    """

    call: Call
    file: PythonFile
    dtype: Dtype | None
    given: Argument | None = None
    giver: Call | None = None
    device: str | None = None

    @property
    def related(self) -> Related:
        if self.device is not None:
            message = f"the autocast region: bfloat16 is the default on {self.device}"
        elif self.call.name in default_dtype.SETTERS:
            message = "the default of autocast"
        else:
            message = "the autocast region"
        return self.file.related(self.call.span, message)


@frozen
class Wrapper:
    """A call of a class that makes a scaler inside and leaves it on: `NativeScaler()`."""

    node: ast.Call
    conditions: tuple[tuple[ast.expr, bool], ...]
    """The conditions around the call, and whether they hold there."""

    made: Related | None
    """Where the class makes the scaler; None in another package."""


def makes_grad_scaler(function: str) -> bool:
    """True for the qualified name of torch's GradScaler, or of a sharded one."""
    root, name = function.partition(".")[0], function.rpartition(".")[2]
    return root in _ROOTS and name in {"GradScaler", "ShardedGradScaler"}


def enabled_position(function: str) -> int:
    """The position of `enabled`: those that take a device first have it one later."""
    has_device = function.startswith(("torch.amp.", "torch.GradScaler", "torch.distributed."))
    return 5 if has_device else 4


def regions(call: Call, file: PythonFile) -> list[AutocastRegion]:
    """The autocast contexts of the file that contains a call: those of training if there are any.

    A function that scales a loss or runs backward trains; the others may be inference.
    """
    module = call.module
    return module.fact(regions, lambda: _regions(module, file))


def _regions(module: Calls, file: PythonFile) -> list[AutocastRegion]:
    found = [one for one in (_region(made, module, file) for made in module) if one is not None]
    training = {one.scope for name in ("scale", "backward") for one in module.named(name)}
    return [one for one in found if one.call.scope in training] or found


def defaults(call: Call, file: PythonFile) -> list[AutocastRegion]:
    """The default dtypes that a file sets, for autocast contexts that are made out of sight."""
    return [
        AutocastRegion(one.call, file, one.dtype, one.given, one.call)
        for one in default_dtype.defaults(call.module)
        if one.device not in default_dtype.BFLOAT16_DEVICES
    ]


def _region(call: Call, module: Calls, file: PythonFile) -> AutocastRegion | None:
    """`autocast("cuda", dtype)`, or `partial(torch.autocast, dtype=dtype)`."""
    match call.name, call.arguments:
        case "autocast", _:
            is_autocast = (call.function or "").startswith("torch.")
            given = call.argument(1, "dtype")
        case "partial", [first, *_]:
            is_autocast = isinstance(first.value, Symbol) and _is_autocast(first.value.name)
            given = call.argument(2, "dtype")
        case _:
            return None
    enabled = call.keywords.get("enabled")
    if not is_autocast or (enabled is not None and enabled.value == Constant(False)):
        return None
    if given is None and not call.has_stars:
        return _in_default_dtype(call, module, file)
    dtype = given.value if given is not None else None
    if not isinstance(dtype, Dtype) or not dtype.dtypes:
        assigned = None if given is None else _assigned_to_attribute(file.text[given.span], file)
        dtype = assigned or Dtype(may_be_other=True)
    return AutocastRegion(call, file, dtype, given, call)


def _in_default_dtype(call: Call, module: Calls, file: PythonFile) -> AutocastRegion:
    """A region that is given no dtype: what the file sets for its device, or what torch takes."""
    device = default_dtype.device_type(call, file)
    default = default_dtype.default_for(device, module)
    if default is not None:
        return AutocastRegion(call, file, default.dtype, default.given, default.call)
    if device in default_dtype.BFLOAT16_DEVICES:
        return AutocastRegion(call, file, Dtype(frozenset({BFLOAT16})), device=device)
    return AutocastRegion(call, file, None)


def _assigned_to_attribute(path: str, file: PythonFile) -> Dtype | None:
    """The values that the file assigns to `params.dtype`, for any class of `params`."""
    dtypes = {
        ALIASES[node.value.attr]
        for node in file.nodes
        if "." in path
        and isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Attribute)
        and dotted(node.value.value) == "torch"
        and node.value.attr in ALIASES
        and any(dotted(target) == path for target in node.targets)
    }
    return Dtype(frozenset(dtypes), may_be_other=True) if dtypes else None


def given_dtypes(regions: list[AutocastRegion]) -> Iterator[tuple[ast.expr, ParsedPython]]:
    """The expressions of dtypes that the flow does not know, each with its file."""
    for region in regions:
        is_known = region.dtype is not None and not region.dtype.may_be_other
        if region.given is None or region.giver is None or is_known:
            continue
        made = node_at(region.file, region.giver.span)
        for node in () if made is None else (*made.args, *(one.value for one in made.keywords)):
            if region.file.span_of(node) == region.given.span:
                yield node, region.file


def autocast_dtypes(node: ast.Call, file: PythonFile) -> Iterator[tuple[ast.expr, ParsedPython]]:
    """The dtypes of autocast contexts in the class that makes a scaler, or in its file.

    The contexts may be those of a function of the project that enters autocast with its `dtype`.
    """
    syntax = syntax_tree(file)
    owner = enclosing_class(node, syntax)
    program = Program(file)
    for call in syntax.calls("autocast"):
        if owner is not None and enclosing_class(call, syntax) is not owner:
            continue
        if is_used_elsewhere(node, call, syntax):
            continue
        made = autocast_call(call, syntax)
        if made is not None:
            dtype = None if made.is_off else made.argument("dtype")
        elif _enters_autocast(dotted(call.func), program):
            dtype = next((one.value for one in call.keywords if one.arg == "dtype"), None)
        else:
            continue
        if dtype is not None:
            yield dtype, file


def _enters_autocast(name: str | None, program: Program) -> bool:
    """True for a function of the project that hands its `dtype` to autocast of torch."""
    found = None if name is None else _resolve(name, program)
    if found is None or not isinstance(found.definition, Function):
        return False
    syntax = syntax_tree(found.module.file)
    calls = (autocast_call(node, syntax) for node in walk(found.definition.node))
    given = (call.argument("dtype") for call in calls if call is not None)
    return any(isinstance(each, ast.Name) and each.id == "dtype" for each in given)


def made_by_variable(file: PythonFile) -> Iterator[ast.Call]:
    """The calls of a variable that holds a class of scalers: `scaler_type(init_scale=1024.0)`."""
    syntax = syntax_tree(file)
    for node in file.nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        values = None if node.func.id in syntax.names else binding(node.func, syntax)
        if isinstance(values, list) and values:
            made = [qualified(value, syntax.names) for value in values]
            if all(map(makes_grad_scaler, made)):
                yield node


def _is_autocast(name: str) -> bool:
    return name.startswith("torch.") and name.endswith(".autocast")


def regions_elsewhere(node: ast.Call, file: PythonFile) -> list[AutocastRegion]:
    """The autocast contexts of other files that a scaler is handed to, or whose class it joins."""
    program = Program(file)
    found: list[AutocastRegion] = []
    for definition in _users(node, file, program):
        if definition.module is program.main or "autocast" not in definition.module.file.text.text:
            continue
        other = PythonFile.of(definition.module.file, file.project)
        module = calls_in(other, _AUTOCAST)
        for call in module:
            is_inside = f"{call.scope}.".startswith(f"{definition.name}.")
            region = _region(call, module, other) if is_inside else None
            if region is not None:
                found.append(region)
    return found


def _receivers(node: ast.Call, file: PythonFile) -> Iterator[tuple[ast.Call, str | None]]:
    """The calls that a scaler, made by `node`, is an argument of, with its keyword."""
    holder = next((held for held in _holders(file.tree, node)), None)
    for call in file.nodes:
        if not isinstance(call, ast.Call) or call is node:
            continue
        given = [(None, one) for one in call.args]
        for name, one in [*given, *((each.arg, each.value) for each in call.keywords)]:
            if one is node or (holder and dotted(one) == holder):
                yield call, name
                break


def _holders(tree: ast.Module, made: ast.Call) -> Iterator[str]:
    """The name that a scaler is assigned to: `scaler`, `self.scaler`."""
    for statement in walk(tree):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(inner is made for inner in walk(statement.value)):
                yield from filter(None, map(dotted, targets))


def _users(node: ast.Call, file: PythonFile, program: Program) -> list[Function | Class]:
    """The functions that get the scaler, and the base classes of the class that makes it."""
    given = {dotted(call.func): name for call, name in _receivers(node, file)}
    owner = enclosing_class(node, syntax_tree(file))
    if owner is not None:
        given |= {dotted(base): None for base in owner.bases}
    found: list[Function | Class] = []
    for name, keyword in given.items():
        match name and _resolve(name, program):
            case Found(definition=Class() as definition) if keyword and definition.is_record:
                found += _reading(definition, keyword, program)
            case Found(definition=(Function() | Class()) as definition):
                found.append(definition)
    return found[:_MOST_CALLEES]


def _reading(record: Class, field: str, program: Program) -> Iterator[Function]:
    """The functions that get a record in which the scaler is, and read it there."""
    users = Users(program)
    for file in users.of(record, record.name):
        for definition in module_of(file).top.values():
            match definition:
                case Function():
                    functions: tuple[Function, ...] = (definition,)
                case Class():
                    functions = definition.functions
                case _:
                    continue
            for function in functions:
                if any(
                    each.attr == field and users.class_of(each.value, file) is record
                    for each in walk(function.node)
                    if isinstance(each, ast.Attribute)
                ):
                    yield function


def _resolve(name: str, program: Program) -> Found | None:
    if "." not in name:
        return program.name(program.main, name)
    return program.find(program.main, resolved(name, program.main.imports))


def wrappers(file: PythonFile) -> Iterator[Wrapper]:
    """The calls that make a scaler by a class of the project or a package that wraps one."""
    program = Program(file)
    for node, conditions in calls_under(file.tree, ()):
        name = dotted(node.func)
        if name is None:
            continue
        qualified = resolved(name, program.main.imports)
        if not conditions and apex.scales(node, qualified):
            yield Wrapper(node, conditions, None)
        if not (_WRAPPER.search(name) or _WRAPPER.search(qualified.rpartition(".")[2])):
            continue
        found = _resolve(name, program)
        if found is not None and isinstance(found.definition, Class):
            made = _always_on(found.definition)
            if made is not None:
                other = found.definition.module.file
                place = Related(other.text.place(other.span_of(made)), "the scaler is made here")
                yield Wrapper(node, conditions, place)
        elif found is None and qualified in _OF_PACKAGES:
            yield Wrapper(node, conditions, None)


def _always_on(definition: Class) -> ast.Call | None:
    """The call in the constructor of a class that creates a scaler which is always enabled.

    `GradScaler() if self.fp16 else None` is not: float16 may hang on the same switch.
    """
    constructor = definition.methods.get("__init__")
    if constructor is None or isinstance(constructor.node, ast.Lambda):
        return None
    for node, conditions in calls_under(constructor.node, ()):
        is_alone = not any(keyword.arg in {"enabled", None} for keyword in node.keywords)
        made = resolved(dotted(node.func) or "", definition.module.imports)
        if is_alone and not conditions and makes_grad_scaler(made) and len(node.args) < 5:
            return node
    return None


Conditions = tuple[tuple[ast.expr, bool], ...]


def calls_under(node: ast.AST, conditions: Conditions) -> Iterator[tuple[ast.Call, Conditions]]:
    """Every call below a node, with the conditions around it.

    After `if bf16: return None`, the condition does not hold for the rest of the block.
    """
    if isinstance(node, ast.Call):
        yield node, conditions
    if isinstance(node, ast.IfExp):
        yield from calls_under(node.test, conditions)
        yield from calls_under(node.body, (*conditions, (node.test, True)))
        yield from calls_under(node.orelse, (*conditions, (node.test, False)))
        return
    if isinstance(node, ast.If):
        yield from calls_under(node.test, conditions)
        yield from _calls_in(node.body, (*conditions, (node.test, True)))
        yield from _calls_in(node.orelse, (*conditions, (node.test, False)))
        return
    for _, value in ast.iter_fields(node):
        if isinstance(value, list):
            yield from _calls_in(value, conditions)
        elif isinstance(value, ast.AST):
            yield from calls_under(value, conditions)


def _calls_in(
    nodes: Sequence[object], conditions: Conditions
) -> Iterator[tuple[ast.Call, Conditions]]:
    """The calls of a list of nodes; a statement that leaves tells what holds after it."""
    for node in nodes:
        if isinstance(node, ast.AST):
            yield from calls_under(node, conditions)
        if isinstance(node, ast.If) and isinstance(node.body[-1], Leaving):
            conditions = (*conditions, (node.test, False))


class _Named(ast.NodeTransformer):
    """Puts the conditions that names hold in the place of the names."""

    def __init__(self, held: Mapping[str, ast.expr]) -> None:
        self._held = held

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._held.get(node.id, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._held.get(dotted(node) or "", node)


def spelled_out(test: ast.expr, file: PythonFile) -> ast.expr:
    """A condition with `use_scaler` replaced by what the file assigns to it, if it does so once."""
    held: dict[str, list[ast.expr]] = {}
    for node in file.nodes:
        if isinstance(node, ast.Assign):
            for name in filter(None, map(dotted, node.targets)):
                held.setdefault(name, []).append(node.value)
    conditions = {
        name: values[0]
        for name, values in held.items()
        if len(values) == 1 and isinstance(values[0], ast.Compare | ast.BoolOp | ast.UnaryOp)
    }
    changed: ast.expr = _Named(conditions).visit(copy.deepcopy(test))
    return changed


def conditions_around(node: ast.Call, file: PythonFile) -> Conditions:
    """The conditions around a call, and whether they hold there."""
    return _calls(file)[file.span_of(node)][1]


def node_at(file: PythonFile, span: Span) -> ast.Call | None:
    """The call at exactly `span`."""
    return _calls(file)[span][0] if span in _calls(file) else None


@fact
def _calls(file: PythonFile) -> Mapping[Span, tuple[ast.Call, Conditions]]:
    """The calls of a file, with the conditions around each."""
    return {file.span_of(found[0]): found for found in calls_under(file.tree, ())}
