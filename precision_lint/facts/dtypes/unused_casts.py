"""Casts of tensors whose result nobody reads.

A cast of a module changes the module, a cast of a tensor makes another tensor. `mask.float()` as a
statement of its own leaves `mask` as it was, and so does `x = x.float()` where nobody reads this
`x`: at the end of a loop over `x`, or where the code goes on with another name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Dtype, Tensor, Unknown
from precision_lint.facts.dtypes.operators.conversions import CASTS
from precision_lint.model.dtypes import FLOATING
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.functions import functions_named
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import AnyFunction, bound_names
from precision_lint.source.python.syntax import (
    callee_name,
    dotted,
    last_name,
    positional_parameters,
)
from precision_lint.source.python.syntax_tree import SyntaxTree, calls_by_span, syntax_tree
from precision_lint.source.text.notebook import NotebookText

_FLOATING_CASTS = frozenset(name for name, dtype in CASTS.items() if dtype in FLOATING)

UNUSED_CASTS = _FLOATING_CASTS | {"to", "type", "type_as"}
"""The methods that are asked about."""

_OF_TENSORS = frozenset(
    {
        "shape", "ndim", "dim", "numel", "view", "reshape", "unsqueeze", "squeeze", "permute",
        "transpose", "masked_fill", "masked_fill_", "expand", "expand_as", "sum", "mean", "item",
        "requires_grad", "grad", "detach", "clone", "softmax", "argmax", "new_zeros", "is_cuda",
    }
)  # fmt: skip
"""What tensors have, and modules, batches and other objects with such casts have not."""

_ANY = regex(r"Any|Tensor|Array|Parameter|Type$|T$")
"""In the names of annotations that may be those of tensors: `Any`, `BoolTensor`, `TensorT`."""

_OF_MODULES = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})

_OF_FILES = frozenset({"checkpoint", "data"})
"""Kinds of origins: a file can hold whole modules as well."""


@frozen
class UnusedCast:
    """A cast without an effect: of a tensor that keeps its dtype."""

    call: Call
    tensor: str
    """What is cast, as the code calls it."""
    dtype: str
    """The dtype that it does not get; empty if the code does not say which one."""
    is_statement: bool
    """The cast stands alone; else its result gets a name that is not read."""
    is_assignable: bool
    """The result can be given the name of what is cast."""
    instead: Span | None = None
    """What the code goes on with: the expression that was cast, once more and without the cast."""


def may_be_unused_cast(node: ast.expr, file: PythonFile) -> bool:
    """True for a cast whose result nobody reads, whatever it casts."""
    return isinstance(node, ast.Call) and _unused(node, file) is not None


def unused_cast(call: Call, file: PythonFile) -> UnusedCast | None:
    """A cast whose result nobody reads, if what it casts is a tensor that it would change."""
    node = calls_by_span(file).get(call.span)
    statement = None if node is None else _unused(node, file)
    if node is None or statement is None or not isinstance(node.func, ast.Attribute):
        return None
    target = _target(call, node)
    if target is None or not _is_tensor(call, node.func.value, file):
        return None
    dtype = min(target.dtypes) if len(target.dtypes) == 1 and not target.is_open else ""
    if isinstance(call.receiver, Tensor) and call.receiver.must_be(frozenset({dtype})):
        return None  # there is nothing to change
    syntax, cast = syntax_tree(file), node.func.value
    if _is_made_so(cast, node, syntax):
        return None
    is_statement = isinstance(statement, ast.Expr)
    return UnusedCast(
        call,
        ast.unparse(cast),
        dtype,
        is_statement,
        is_statement and isinstance(cast, ast.Name) and not _is_of_loop(cast, syntax),
        None if is_statement else _used_instead(statement, cast, file),
    )


def _is_made_so(cast: ast.expr, node: ast.Call, syntax: SyntaxTree) -> bool:
    """True for `x.to(q.dtype)` of what is made by `zeros(…, dtype=q.dtype)` and its like."""
    asked = {ast.dump(each) for each in (*node.args, *(one.value for one in node.keywords))}
    match binding(cast, syntax) if isinstance(cast, ast.Name) else None:
        case [*values] if values:
            return all(
                isinstance(made, ast.Call)
                and any(
                    one.arg == "dtype" and ast.dump(one.value) in asked for one in made.keywords
                )
                for made in values
            )
    return False


def _used_instead(statement: ast.stmt, cast: ast.expr, file: PythonFile) -> Span | None:
    """Where a function has the expression again that the name of a cast stands for."""
    syntax = syntax_tree(file)
    match binding(cast, syntax) if isinstance(cast, ast.Name) else None:
        case list() as values:
            named = {ast.dump(each) for each in values if isinstance(each, ast.Subscript)}
        case _:
            return None
    scope = syntax.function(statement) or file.tree
    again = (
        each
        for each in walk(scope)
        if isinstance(each, ast.Subscript)
        and each.lineno > (statement.end_lineno or statement.lineno)
        and ast.dump(each) in named
    )
    first = min(again, key=lambda each: (each.lineno, each.col_offset), default=None)
    return None if first is None else file.span_of(first)


def _target(call: Call, node: ast.Call) -> Dtype | None:
    """What a method casts to; None for what moves a tensor only, or makes no floating dtype."""
    if call.name in CASTS:
        is_plain = not call.arguments and not call.keywords
        return Dtype(frozenset({CASTS[call.name]})) if is_plain else None
    if call.name == "type_as":
        return Dtype(may_be_other=True) if len(call.arguments) == 1 else None
    given = [*call.arguments, *call.keywords.values()]
    dtypes = [one.value for one in given if isinstance(one.value, Dtype)]
    if dtypes:
        is_integral = bool(dtypes[0].dtypes) and not dtypes[0].may_be(FLOATING)
        return None if is_integral and not dtypes[0].is_open else dtypes[0]
    is_named = "dtype" in call.keywords or (call.name == "type" and len(node.args) == 1)
    return Dtype(may_be_other=True) if is_named else None


def _unused(node: ast.Call, file: PythonFile) -> ast.stmt | None:
    """The statement of a cast, if nobody reads what it makes."""
    syntax = syntax_tree(file)
    name = _cast_name(node)
    if name is None:
        return None
    parent = syntax.parent(node)  # most casts are parts of other expressions
    match parent:
        case ast.Expr():
            function = syntax.function(node)
            if function is None and isinstance(file.text, NotebookText):
                return None  # it is shown
        case ast.Assign(targets=[ast.Name(id=target)]) if target == name:
            function = syntax.function(node)
            if function is None or _is_read(target, parent, function, syntax):
                return None
        case _:
            return None
    if syntax.may_fail_on_purpose(node) or _is_repeated(node, syntax):
        return None
    return parent


def _cast_name(node: ast.Call) -> str | None:
    """What a call of one of the methods casts, if it has a name."""
    match node.func:
        case ast.Attribute(value=ast.Name(id="self")):
            return None
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr in UNUSED_CASTS:
            return name
        case ast.Attribute(value=ast.Attribute() | ast.Subscript(), attr=attr) if (
            attr in UNUSED_CASTS
        ):
            return ""
    return None


def _is_read(name: str, cast: ast.Assign, function: AnyFunction, syntax: SyntaxTree) -> bool:
    """True if a function may read what a name holds after it was cast.

    Not where the cast is all that reads the name, nor in a loop that binds it anew. Where the name
    was used before, the cast is of no use either, but nobody needs it.
    """
    own = set(walk(cast.value))
    reads = [each for each in syntax.reads(function, name) if each not in own]
    if any(not isinstance(each, ast.Name) for each in reads):  # `nonlocal`
        return True
    loop = _loop_over(name, cast, syntax)
    if loop is None:
        return bool(reads)
    return any(
        syntax.function(each) is not function
        or (_is_in(each, loop, syntax) and _follows(each, cast))
        or (_follows(each, loop) and not _is_bound_by_loop(name, each, syntax))
        for each in reads
    )


def _is_of_loop(name: ast.Name, syntax: SyntaxTree) -> bool:
    """True for what a loop around takes out of something."""
    return any(
        isinstance(parent, ast.For | ast.AsyncFor) and name.id in bound_names(parent)
        for parent in syntax.within_function(name)
    )


def _loop_over(name: str, cast: ast.stmt, syntax: SyntaxTree) -> ast.For | ast.AsyncFor | None:
    """The innermost loop around a cast, if its target is a name."""
    for parent in syntax.within_function(cast):
        match parent:
            case ast.For() | ast.AsyncFor():
                return parent if name in bound_names(parent) else None
            case ast.While():
                return None
    return None


def _is_bound_by_loop(name: str, read: ast.AST, syntax: SyntaxTree) -> bool:
    """True for a read in the body of another loop over the name."""
    inner = read
    for parent in syntax.within_function(read):
        if isinstance(parent, ast.For | ast.AsyncFor) and name in bound_names(parent):
            return inner in parent.body
        inner = parent
    return False


def _is_in(node: ast.AST, loop: ast.stmt, syntax: SyntaxTree) -> bool:
    return any(parent is loop for parent in syntax.around(node))


def _follows(node: ast.AST, statement: ast.stmt) -> bool:
    assert isinstance(node, ast.Name)
    assert statement.end_lineno is not None
    return node.lineno > statement.end_lineno


def _is_repeated(node: ast.Call, syntax: SyntaxTree) -> bool:
    """True for what is done again and again to one tensor, to see how long it takes."""
    for parent in syntax.within_function(node):
        if isinstance(parent, ast.For | ast.AsyncFor):
            names = set(bound_names(parent))
            body = (each for statement in parent.body for each in walk(statement))
            return not any(isinstance(each, ast.Name) and each.id in names for each in body)
    return False


# What is cast


def _is_tensor(call: Call, cast: ast.expr, file: PythonFile) -> bool:
    """True for what certainly is a tensor, and for what its function uses as one."""
    match call.receiver:
        case Tensor(caller_chosen=caller_chosen, may_be_other=may_be_other, scalar=scalar) as found:
            is_read = found.origin is not None and found.origin.kind in _OF_FILES
            # modules have a dtype, too, so that its comparison says nothing of what they are
            is_guess = may_be_other and (caller_chosen or scalar is None or not found.dtypes)
            return not (is_read or is_guess) or _is_used_as_tensor(cast, file)
        case Unknown():
            return _is_used_as_tensor(cast, file)
    return False


def _is_used_as_tensor(
    cast: ast.expr, file: PythonFile, parts: frozenset[str] = frozenset()
) -> bool:
    """True if a function declares it, or asks what is cast for something that only tensors have.

    `parts` are slices of it that led here.
    """
    syntax = syntax_tree(file)
    path = dotted(cast)
    if path is None or path in parts:
        return False
    for annotation in _annotations(cast, syntax) if isinstance(cast, ast.Name) else ():
        if (says := _says_tensor(annotation)) is not None:
            return says
    match binding(cast, syntax) if isinstance(cast, ast.Name) else None:
        case list() as values:
            whole = [_sliced(each) for each in values if not _is_cast_of(each, path)]
            if whole and None not in whole:
                named = [each for each in whole if each is not None]
                return all(_is_used_as_tensor(each, file, parts | {path}) for each in named)
    scope = syntax.function(cast) or file.tree
    return (
        _is_of_module(path, cast, syntax)
        or _shows_tensor(scope, path)
        or any(_shows_tensor(*each) for each in _given_to(path, scope, file))
    )


def _annotations(name: ast.Name, syntax: SyntaxTree) -> Iterator[ast.expr]:
    """What a function declares a name to be: a parameter, or a variable where it is assigned."""
    scope = syntax.function(name) or syntax.tree
    parameter = binding(name, syntax)
    if isinstance(parameter, ast.arg) and parameter.annotation is not None:
        yield parameter.annotation
    for store in syntax.stores(scope, name.id):
        match syntax.parent(store):
            case ast.AnnAssign(annotation=annotation):
                yield annotation


def _says_tensor(annotation: ast.expr) -> bool | None:
    """Whether an annotation is that of tensors, or of objects of another class; None if neither."""
    name = last_name(annotation)
    if name == "Tensor":
        return True
    is_class = isinstance(annotation, ast.Name | ast.Attribute) and name[:1].isupper()
    return False if is_class and len(name) > 1 and not _ANY.search(name) else None


def _shows_tensor(scope: ast.AST, path: str) -> bool:
    return any(
        isinstance(each, ast.Attribute) and each.attr in _OF_TENSORS and dotted(each.value) == path
        for each in walk(scope)
    )


def _given_to(path: str, scope: ast.AST, file: PythonFile) -> Iterator[tuple[ast.AST, str]]:
    """The functions of the file that are given a name, with what they call it."""
    for call in walk(scope):
        functions = functions_named(file, callee_name(call)) if isinstance(call, ast.Call) else ()
        if len(functions) != 1 or not isinstance(call, ast.Call):
            continue
        names = [each.arg for each in positional_parameters(functions[0].args)]
        is_method = isinstance(call.func, ast.Attribute) and names[:1] == ["self"]
        given = dict(zip(names[is_method:], call.args, strict=False))
        given |= {each.arg: each.value for each in call.keywords if each.arg is not None}
        for name, value in given.items():
            if dotted(value) == path:
                yield functions[0], name


def _is_of_module(name: str, cast: ast.expr, syntax: SyntaxTree) -> bool:
    """True in a loop over the parameters or buffers of a module."""
    for parent in syntax.within_function(cast):
        match parent:
            case ast.For(iter=ast.Call() as iterated) if name in bound_names(parent):
                return callee_name(iterated) in _OF_MODULES
    return False


def _sliced(value: ast.expr) -> ast.expr | None:
    """What a slice is a part of."""
    match value:
        case ast.Subscript(value=whole, slice=ast.Tuple(elts=every)) if any(map(_is_slice, every)):
            return whole
        case ast.Subscript(value=whole, slice=index) if _is_slice(index):
            return whole
    return None


def _is_slice(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice)


def _is_cast_of(value: ast.expr, path: str) -> bool:
    """True for `x.float()`, which makes a tensor of one."""
    match value:
        case ast.Call(func=ast.Attribute(value=cast, attr=name)) if name in UNUSED_CASTS:
            return dotted(cast) == path
    return False
