"""Scalar parameters of kernels that are floats for certain."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.triton.hosts.scopes import Host
from precision_lint.facts.triton.launches import Launches
from precision_lint.facts.triton.module import JitFunction
from precision_lint.source.python.syntax import with_defaults


def shown_to_be_floats(kernel: JitFunction, launches: Launches) -> frozenset[str]:
    """The scalar parameters that are floats: by annotation, by default, by what a launch passes."""
    found = {
        parameter.arg
        for parameter in kernel.parameters
        if parameter.annotation is not None
        or isinstance(getattr(kernel.defaults.get(parameter.arg), "value", None), float)
    }
    for launch in launches.found:
        floats = frozenset(_floats(launch.host))
        for name, value in launch.given.items():
            match value:
                case ast.Constant(value=float()) | ast.Call(func=ast.Name(id="float")):
                    found.add(name)
                case ast.Name(id=passed) if passed in floats:
                    found.add(name)
    return frozenset(found)


def _floats(host: Host) -> Iterator[str]:
    """The parameters of a host function that are annotated as floats, or are by default."""
    if isinstance(host.node, ast.Module):
        return
    for parameter, default in with_defaults(host.node.args):
        is_annotated = isinstance(parameter.annotation, ast.Name)
        if isinstance(getattr(default, "value", None), float) or (
            is_annotated and getattr(parameter.annotation, "id", None) == "float"
        ):
            yield parameter.arg
