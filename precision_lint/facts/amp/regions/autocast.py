"""Where a file makes autocast contexts, what they surround, and what they run in half precision."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.dtypes.operators.einsum import multiplies_elements
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.statements import FunctionDefinition, With
from precision_lint.source.python.syntax import innermost_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree

_GENERIC = frozenset({"torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast"})
"""`autocast(device_type, dtype, enabled, cache_enabled)`."""
_OF_ONE_DEVICE = {
    f"torch.{device}.amp.{module}autocast": device
    for device in ("cuda", "cpu")
    for module in ("", "autocast_mode.")
}
"""`autocast(enabled, dtype, cache_enabled)`, deprecated."""


def is_autocast(name: str) -> bool:
    """True for the qualified name of one of torch's classes of regions."""
    return name in _GENERIC or name in _OF_ONE_DEVICE


RegionNode = With | FunctionDefinition
"""What a context can surround."""

_FUNCTIONS = {
    **{f"torch.{name}": 2 for name in ("matmul", "mm", "bmm", "mv")},
    **{f"torch.{name}": 3 for name in ("addmm", "addmv", "addbmm", "baddbmm")},
    "torch.nn.functional.linear": 2,
    **{f"torch.nn.functional.conv{dims}d": 2 for dims in (1, 2, 3)},
    **{f"torch.nn.functional.conv_transpose{dims}d": 2 for dims in (1, 2, 3)},
    "torch.nn.functional.scaled_dot_product_attention": 3,
}
"""Lower-precision operators of CUDA and of CPU alike, and how many tensors they multiply."""
WITHOUT_GRADIENTS = frozenset({"no_grad", "inference_mode"})
_METHODS = frozenset({"matmul", "mm", "bmm", "mv"})


@frozen
class AutocastCall:
    """A call that creates an autocast context; its arguments by meaning, None where absent."""

    node: ast.Call
    is_generic: bool
    device: str | None
    """The device type according to its name or a literal; None if it may be one of several."""

    def argument(self, name: str) -> ast.expr | None:
        """An argument by keyword or by position; None if absent or in a starred argument."""
        for keyword in self.node.keywords:
            if keyword.arg == name:
                return keyword.value
        order = (
            ("device_type", "dtype", "enabled", "cache_enabled")
            if self.is_generic
            else ("enabled", "dtype", "cache_enabled")
        )
        before = self.node.args[: order.index(name) + 1] if name in order else []
        is_given = len(before) == order.index(name) + 1 if before else False
        if not is_given or any(isinstance(given, ast.Starred) for given in before):
            return None
        return before[-1]

    @property
    def has_stars(self) -> bool:
        """True if `*args` or `**kwargs` can pass what is not seen here."""
        return any(isinstance(given, ast.Starred) for given in self.node.args) or any(
            keyword.arg is None for keyword in self.node.keywords
        )

    @property
    def is_off(self) -> bool:
        """True for `enabled=False`."""
        match self.argument("enabled"):
            case ast.Constant(value=False):
                return True
        return False


def autocast_call(node: ast.AST, syntax: SyntaxTree) -> AutocastCall | None:
    """The autocast context that an expression makes, if it is a call of torch's autocast."""
    if not isinstance(node, ast.Call):
        return None
    classes = _classes(node.func, syntax)
    if classes and all(name in _OF_ONE_DEVICE for name in classes):
        devices = {_OF_ONE_DEVICE[name] for name in classes}
        return AutocastCall(node, False, devices.pop() if len(devices) == 1 else None)
    if not classes or not all(name in _GENERIC for name in classes):
        return None
    made = AutocastCall(node, True, None)
    match made.argument("device_type"):
        case ast.Constant(value=str(device)):
            return AutocastCall(node, True, device.partition(":")[0])
    return made


def _classes(called: ast.expr, syntax: SyntaxTree) -> frozenset[str]:
    """The names of what is called: of all that a variable may hold, if it holds classes of regions.

    `autocast = torch.cuda.amp.autocast if on_cuda else torch.cpu.amp.autocast` takes the same
    arguments on both devices.
    """
    name = qualified(called, syntax.names)
    if not isinstance(called, ast.Name) or name not in _holders(syntax):
        return frozenset({name})
    held = binding(called, syntax)
    values = held if isinstance(held, list) else []
    return frozenset(qualified(one, syntax.names) for each in values for one in _either(each))


@fact
def _holders(syntax: SyntaxTree) -> frozenset[str]:
    """The variables to which a file assigns classes of regions, and no import gives the name."""
    return frozenset(
        target.id
        for node in syntax.nodes
        if isinstance(node, ast.Assign)
        and any(is_autocast(qualified(one, syntax.names)) for one in _either(node.value))
        for target in node.targets
        if isinstance(target, ast.Name) and target.id not in syntax.names
    )


def _either(value: ast.expr) -> Iterator[ast.expr]:
    """Both of `cuda.amp.autocast if on_cuda else cpu.amp.autocast`, or the value itself."""
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            yield from _either(body)
            yield from _either(orelse)
        case _:
            yield value


@fact
def autocasts(syntax: SyntaxTree) -> list[AutocastCall]:
    """The autocast contexts that a file makes, in source order."""
    made = (autocast_call(node, syntax) for node in syntax.every_call)
    found = [each for each in made if each is not None]
    return sorted(found, key=lambda each: (each.node.lineno, each.node.col_offset))


def region_of(made: AutocastCall, syntax: SyntaxTree) -> RegionNode | None:
    """What an autocast context surrounds: the `with` that enters it, the function under it."""
    parent = syntax.parent(made.node)
    if isinstance(parent, ast.withitem):
        parent = syntax.parent(parent)
        return parent if isinstance(parent, With) else None
    if isinstance(parent, FunctionDefinition):
        return parent if made.node in parent.decorator_list else None
    return None


def regions_around(node: ast.AST, syntax: SyntaxTree) -> Iterator[AutocastCall]:
    """The autocast contexts that a node's function enters around it, innermost first."""
    for parent in syntax.within_function(node):
        match parent:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                contexts = [item.context_expr for item in reversed(items)]
            case ast.FunctionDef(decorator_list=decorators):
                contexts = decorators
            case _:
                continue
        for context in contexts:
            if (made := autocast_call(context, syntax)) is not None:
                yield made


def records_no_gradients(node: ast.AST, syntax: SyntaxTree) -> bool:
    """True under `with torch.no_grad():` or `inference_mode()`, or in a function under them."""
    for parent in syntax.within_function(node):
        match parent:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                contexts = [item.context_expr for item in items]
            case ast.FunctionDef(decorator_list=decorators):
                contexts = decorators
            case _:
                continue
        if any(innermost_name(each) in WITHOUT_GRADIENTS for each in contexts):
            return True
    return False


def multiplied(node: ast.AST, syntax: SyntaxTree) -> list[ast.expr]:
    """The tensors that a product multiplies, where autocast casts them; none for other nodes."""
    match node:
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return [left, right]
        case ast.Call(args=args, keywords=keywords):
            if any(isinstance(each, ast.Starred) for each in args):
                return []
            if any(keyword.arg in {None, "out"} for keyword in keywords):
                return []  # autocast leaves `out=` alone
        case _:
            return []
    name = qualified(node.func, syntax.names)
    match name, args:
        case "torch.einsum", [ast.Constant(value=str(equation)), *operands]:
            return [] if multiplies_elements(equation) else operands
        case "torch.einsum", [_, *operands]:
            return operands
    if name in _FUNCTIONS:
        return args[: _FUNCTIONS[name]] if len(args) >= _FUNCTIONS[name] else []
    match node.func:
        case ast.Attribute(value=left, attr=method) if method in _METHODS and len(args) == 1:
            return [] if name.startswith("torch.") else [left, args[0]]
    return []
