"""Comparisons of a dtype of torch with a text, which are never true."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.model.dtypes import ALIASES
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import arguments_of, binding, enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import AnyFunction
from precision_lint.source.python.syntax import last_name, named_parameters, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MAKING = frozenset(
    {
        "zeros",
        "ones",
        "empty",
        "full",
        "arange",
        "tensor",
        "as_tensor",
        "rand",
        "randn",
        "from_numpy",
    }
)
_PARAMETERS = {"parameters": None, "buffers": None, "named_parameters": 1, "named_buffers": 1}
"""Methods of modules that give tensors, and where in each item the tensor is."""
_KEEPING = frozenset({"clone", "contiguous", "cpu", "cuda", "detach", "to"})
"""Methods of a tensor that give a tensor, as others of this name do for their objects."""
_MODULES = frozenset({"torch.nn.Module", "torch.nn.modules.Module"})


_OF_TORCH = frozenset({"bfloat16", "detach", "double", "float", "half", "requires_grad_"})
"""Methods that tensors and modules of torch have, and no arrays."""
_ARRAYS = frozenset({"paddle", "mindspore", "oneflow", "keras", "tensorflow", "jax"})
"""Packages whose arrays may have such methods."""
_BRANCHES = (ast.If, ast.IfExp, ast.Try, ast.While, ast.Match, ast.BoolOp)


@frozen
class NeverEqual:
    """A comparison, the texts in it that name dtypes, and whether it compares the dtype's `str`.

    `givers` are calls that give the tensor to a parameter. Others may give something else.
    """

    node: ast.Compare
    texts: tuple[ast.Constant, ...]
    is_str: bool
    givers: tuple[ast.Call, ...] = ()


def never_equal(file: ParsedPython) -> Iterator[NeverEqual]:
    """The comparisons of dtypes of tensors with names that they are never equal to."""
    for node in file.nodes:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[other]):
                texts = [*_texts(op, other)]
                is_str, dtype = _stripped(left)
                if not texts or not all(_is_never(text.value, is_str) for text in texts):
                    continue
                syntax = syntax_tree(file)
                if _is_dtype(dtype, syntax) or _is_used_as_tensor(dtype, node, syntax):
                    yield NeverEqual(node, tuple(texts), is_str)
                elif givers := _givers(dtype, syntax):
                    yield NeverEqual(node, tuple(texts), is_str, givers)


def is_never_true(test: ast.expr, file: ParsedPython) -> bool:
    """True for `dtype == "float16"` where the variable holds a dtype of torch."""
    return any(
        each.node is test and isinstance(each.node.ops[0], ast.Eq | ast.In) and not each.givers
        for each in never_equal(file)
    )


def _texts(op: ast.cmpop, other: ast.expr) -> Iterator[ast.Constant]:
    """The texts that something is compared with."""
    match op, other:
        case (ast.Eq() | ast.NotEq(), ast.Constant(value=str())):
            yield other
        case (ast.In() | ast.NotIn(), ast.List() | ast.Tuple() | ast.Set()):
            if all(isinstance(each, ast.Constant) for each in other.elts):
                yield from (each for each in other.elts if isinstance(each, ast.Constant))


def _is_never(text: object, is_str: bool) -> bool:
    """True for the name of a dtype that a dtype, or what `str` makes of it, is never equal to."""
    if not isinstance(text, str) or text.removeprefix("torch.") not in ALIASES:
        return False
    return not (is_str and text.startswith("torch."))


def _stripped(node: ast.expr) -> tuple[bool, ast.expr]:
    """Whether an expression is `str(dtype)`, and the dtype."""
    match node:
        case ast.Call(func=ast.Name(id="str"), args=[inner], keywords=[]):
            return True, inner
    return False, node


def _is_dtype(node: ast.expr, syntax: SyntaxTree) -> bool:
    """True for the dtype of what is certainly a tensor, and for a variable that holds a dtype."""
    match node:
        case ast.Attribute(value=owner, attr="dtype"):
            return _is_tensor(owner, syntax)
        case ast.Name():
            held = binding(node, syntax)
            if isinstance(held, ast.arg):
                return _annotation(held, syntax) == "torch.dtype"
            return bool(held) and all(_is_known(each, syntax) for each in held or [])
    return False


def _is_used_as_tensor(dtype: ast.expr, node: ast.Compare, syntax: SyntaxTree) -> bool:
    """True if a variable is taken for a tensor of torch wherever the comparison is made or holds.

    `if x.dtype == "float16": x = x.float()` calls a method that NumPy's arrays do not have.
    """
    match dtype:
        case ast.Attribute(value=ast.Name(id=name), attr="dtype"):
            pass
        case _:
            return False
    function = syntax.function(node)
    if function is None or any(each.partition(".")[0] in _ARRAYS for each in syntax.names.values()):
        return False
    reached = {*_branches(node, syntax)}
    tested = {outer for outer, _ in reached if _is_around(node, outer, "test")}
    needed = {each for each in reached if each[0] not in tested}
    needed -= {each for each in needed if isinstance(each[0], ast.BoolOp)}
    return any(
        call.func.value.id == name
        and needed <= {*_branches(call, syntax)} <= reached
        and syntax.function(call) is function
        and not _is_stored_between(name, node, call, function, syntax)
        for method in _OF_TORCH
        for call in syntax.calls(method)
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    )


def _branches(node: ast.expr, syntax: SyntaxTree) -> Iterator[tuple[ast.AST, str]]:
    """The branches that a node stands in up to its function, and in which part of each.

    The test of a condition counts as the part that is taken where it holds.
    """
    for outer in syntax.within_function(node):
        if isinstance(outer, _BRANCHES):
            parts = (name for name, _ in ast.iter_fields(outer) if _is_around(node, outer, name))
            part = next(parts, "")
            yield outer, "body" if part == "test" else part


def _is_around(node: ast.expr, outer: ast.AST, field: str) -> bool:
    """True if a node stands in a field of what is around it."""
    part = getattr(outer, field, None)
    parts = part if isinstance(part, list) else [part]
    return any(node in walk(each) for each in parts if isinstance(each, ast.AST))


def _is_stored_between(
    name: str, one: ast.expr, other: ast.expr, function: AnyFunction, syntax: SyntaxTree
) -> bool:
    """True if a variable may be something else at the later of two nodes.

    The statement of the later one still reads the old value.
    """
    first, last = sorted((one, other), key=lambda node: (node.lineno, node.col_offset))
    end = next(each for each in syntax.around(last) if isinstance(each, ast.stmt))
    return any(first.lineno <= store.lineno < end.lineno for store in syntax.stores(function, name))


def _givers(dtype: ast.expr, syntax: SyntaxTree) -> tuple[ast.Call, ...]:
    """The calls that give a tensor to the parameter whose dtype is compared, if all do."""
    match dtype:
        case ast.Attribute(value=ast.Name() as owner, attr="dtype"):
            held = binding(owner, syntax)
            if isinstance(held, ast.arg) and held.annotation is None:
                given = [*arguments_of(held, syntax)]
                if all(each is not None and _is_tensor(each, syntax) for _, each in given):
                    return tuple(call for call, _ in given)
    return ()


def _is_known(value: ast.expr, syntax: SyntaxTree) -> bool:
    """True for a dtype of torch, and for one out of a table of nothing else."""
    match value:
        case ast.Attribute(value=owner, attr="dtype"):
            return _is_tensor(owner, syntax)
        case ast.Subscript(value=ast.Dict() as table):
            return _is_table(table, syntax)
        case ast.Subscript(value=ast.Name() as name):
            tables = binding(name, syntax)
            return (
                isinstance(tables, list)
                and bool(tables)
                and all(isinstance(each, ast.Dict) and _is_table(each, syntax) for each in tables)
            )
    module, _, last = qualified(value, syntax.names).rpartition(".")
    return module == "torch" and last in ALIASES


def _is_table(table: ast.Dict, syntax: SyntaxTree) -> bool:
    """True for a table of dtypes of torch, and of nothing else."""
    return bool(table.values) and all(_is_known(each, syntax) for each in table.values)


def _is_tensor(node: ast.expr, syntax: SyntaxTree) -> bool:
    match node:
        case ast.Name():
            return _holds_tensor(node, syntax)
        case ast.Call(
            func=ast.Name(id="next"), args=[ast.Call(func=ast.Attribute(attr=method)), *_]
        ):
            return method == "parameters"
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _KEEPING:
            return _is_tensor(owner, syntax)
        case ast.Call(func=function):
            module, _, name = qualified(function, syntax.names).rpartition(".")
            return module == "torch" and name in _MAKING
        case ast.Attribute(value=ast.Name() as owner, attr="data"):
            return _holds_tensor(owner, syntax)
        case ast.Attribute(value=owner, attr="weight" | "bias"):
            return _is_of_self(owner) and _is_in_module(node, syntax)
    return False


def _holds_tensor(node: ast.Name, syntax: SyntaxTree) -> bool:
    """True for an annotated parameter, a variable with a new tensor, a parameter in a loop."""
    function = syntax.function(node)
    for parameter in [] if function is None else named_parameters(function.args):
        if parameter.arg == node.id:
            return _annotation(parameter, syntax) == "torch.Tensor"
    held = binding(node, syntax)
    if isinstance(held, list) and held and not any(node in walk(each) for each in held):
        return all(isinstance(each, ast.Call) and _is_tensor(each, syntax) for each in held)
    for parent in syntax.within_function(node):
        if isinstance(parent, ast.For) and isinstance(parent.iter, ast.Call):
            method = last_name(parent.iter.func)
            place = _PARAMETERS.get(method, 1)
            is_given = method in _PARAMETERS or _is_of_state(parent.iter)
            if is_given and _target(parent.target, place) == node.id:
                return True
    return False


def _is_of_state(items: ast.Call) -> bool:
    """`model.state_dict().items()`, whose values are tensors."""
    match items.func:
        case ast.Attribute(value=ast.Call(func=ast.Attribute(attr="state_dict")), attr="items"):
            return True
    return False


def _annotation(parameter: ast.arg, syntax: SyntaxTree) -> str:
    annotation = parameter.annotation
    return "" if annotation is None else qualified(annotation, syntax.names)


def _target(target: ast.expr, position: int | None) -> str:
    match target:
        case ast.Name(id=name) if position is None:
            return name
        case ast.Tuple(elts=items) if position is not None and len(items) > position:
            return last_name(items[position])
    return ""


def _is_of_self(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "self"


def _is_in_module(node: ast.AST, syntax: SyntaxTree) -> bool:
    """True in a class whose base is `nn.Module`."""
    owner = enclosing_class(node, syntax)
    bases = [] if owner is None else owner.bases
    return any(qualified(base, syntax.names) in _MODULES for base in bases)
