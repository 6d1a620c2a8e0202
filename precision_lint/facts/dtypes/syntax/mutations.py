"""Methods whose call as a statement changes what they are called on."""

from __future__ import annotations

import ast

from precision_lint.source.python.syntax import dotted

ADDING = frozenset(
    {
        "add", "append", "appendleft", "extend", "insert", "put", "put_nowait", "setdefault",
        "update",
    }
)  # fmt: skip
"""Methods that put something into a container."""

TAKING_IN = ADDING | {"add_module", "register_module"}
"""Methods by which a module takes others as its parts."""

MUTATING = ADDING | {"clear", "pop", "remove", "reverse", "sort"}
"""Methods that change a container."""

CHANGING_LISTS = {
    "heapify": "sort", "heappush": "insert", "insort": "insert", "insort_left": "insert",
    "insort_right": "insert", "shuffle": "sort",
}  # fmt: skip
"""Functions that change the list that they are given first, and the methods that do the same."""

CASTING = frozenset({"bfloat16", "double", "float", "half", "to"})
"""Methods that cast a module in place. A move to a device is no cast."""

ADAPTING = "add_adapter"
"""The method of diffusers and transformers that adds LoRA layers to a module."""

CHANGING = CASTING | {ADAPTING}
"""Methods that change a module in place."""

STAYING = frozenset({"eval", "train", "cuda", "cpu", "requires_grad_", "to_empty", "compile"})
"""Methods of a module that return it, in the dtype that it has."""


def changed(node: ast.expr) -> tuple[ast.expr, frozenset[str]]:
    """What a chain of calls changes in place, and by which methods: `model.eval().to(dtype)`."""
    methods = set()
    while True:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if (
                method in STAYING or method in CHANGING
            ):
                node = owner
                methods.add(method)
            case _:
                return node, frozenset(methods)


def elements(loop: ast.stmt | None) -> dict[str, list[ast.expr]]:
    """What the variable of a loop stands for, under its name: `for part in (self.a, self.b)`."""
    match loop:
        case ast.For(
            target=ast.Name(id=name), iter=ast.List(elts=items) | ast.Tuple(elts=items)
        ) if all(isinstance(item, ast.Name | ast.Attribute) for item in items):
            return {name: items}
    return {}


def root(node: ast.expr) -> ast.expr:
    """The variable or attribute that holds what an expression is a part of: `d` of `d["x"][0]`."""
    while True:
        match node:
            case (
                ast.Subscript(value=owner)
                | ast.Starred(value=owner)
                | ast.Call(func=ast.Attribute(value=owner, attr="setdefault"))
            ):
                node = owner
            case ast.Call():
                owner, methods = changed(node)
                if not methods:
                    return node
                node = owner
            case _:
                return node


_HANDLING = frozenset({"accelerator", "logger", "logging"})
"""What objects are called that start, log and save, and leave what they are given as it is."""

_APPENDING = frozenset({"append", "appendleft", "extend"})


def leaves_all(call: ast.Call) -> bool:
    """True for a call that stands alone, and changes nothing that a dtype depends on."""
    match call.func:
        case ast.Name(id="print"):
            return True
        case ast.Attribute(value=owner, attr=method):
            is_handling = not _HANDLING.isdisjoint((dotted(owner) or "").split("."))
            return is_handling and method not in MUTATING | CHANGING
    return False


def leaves_given(call: ast.Call) -> bool:
    """True for a call of a method that changes nothing but its object: `model.to(device)`."""
    match call.func:
        case ast.Attribute(attr=method):
            return method in CASTING or method in STAYING or method in _APPENDING
    return False
