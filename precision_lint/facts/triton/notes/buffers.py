"""What the host shows of a kernel's arguments without proving their types."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.triton.launches import LIKE_FACTORIES
from precision_lint.facts.triton.module import HostFunction, JitFunction, Module, host_nodes
from precision_lint.source.python.syntax import with_defaults


def allocated_alike(module: Module, kernel: JitFunction) -> frozenset[str]:
    """The parameters for which a launch passes a tensor whose dtype the caller chooses.

    `out = torch.zeros_like(x)`, `torch.empty(n, dtype=x.dtype)`, and such an `x`.
    """
    found: set[str] = set()
    for function, given in _given(module, kernel):
        alike = _alike(function)
        found |= {n for n, value in given if isinstance(value, ast.Name) and value.id in alike}
    return frozenset(found)


def shown_to_be_floats(module: Module, kernel: JitFunction) -> frozenset[str]:
    """The scalar parameters that are floats: by annotation, by default, by what a launch passes."""
    found = {
        parameter.arg
        for parameter in kernel.parameters
        if parameter.annotation is not None
        or isinstance(getattr(kernel.defaults.get(parameter.arg), "value", None), float)
    }
    for function, given in _given(module, kernel):
        floats = _floats(function)
        for name, value in given:
            match value:
                case ast.Constant(value=float()) | ast.Call(func=ast.Name(id="float")):
                    found.add(name)
                case ast.Name(id=passed) if passed in floats:
                    found.add(name)
    return frozenset(found)


def _given(
    module: Module, kernel: JitFunction
) -> Iterator[tuple[HostFunction, list[tuple[str, ast.expr]]]]:
    """The arguments of each launch, by parameter."""
    names = [parameter.arg for parameter in kernel.parameters]
    for function, call in module.launches.get(kernel.node.name, ()):
        given = [*zip(names, call.args, strict=False)]
        given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
        yield function, given


def _alike(function: HostFunction) -> frozenset[str]:
    """The variables that have the dtype of another tensor, and those tensors."""
    assigned: dict[str, bool] = {}
    like: set[str] = set()
    for node in host_nodes(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                assigned[name] = assigned.get(name, True) and _is_alike(value)
        match node:
            case ast.Call(args=[ast.Name(id=name), *_]) if _is_alike(node):
                like.add(name)
    return frozenset(like.union(name for name, is_alike in assigned.items() if is_alike))


def _is_alike(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(attr=factory), keywords=keywords):
            dtypes = [keyword.value for keyword in keywords if keyword.arg == "dtype"]
            if not dtypes:
                return factory in LIKE_FACTORIES
            return isinstance(dtypes[0], ast.Attribute) and dtypes[0].attr == "dtype"
    return False


def _floats(function: HostFunction) -> frozenset[str]:
    """The parameters of a host function that are annotated as floats, or are by default."""
    if isinstance(function, ast.Module):
        return frozenset()
    return frozenset(
        parameter.arg
        for parameter, default in with_defaults(function.args)
        if isinstance(getattr(default, "value", None), float)
        or (isinstance(parameter.annotation, ast.Name) and parameter.annotation.id == "float")
    )
