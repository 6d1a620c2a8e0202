"""Classes whose objects hand the attributes that they lack on to an object that they hold."""

from __future__ import annotations

import ast

from precision_lint.facts.dtypes.syntax.definitions import Class, Function
from precision_lint.source.python.statements import own_statements


def delegate_of(cls: Class) -> ast.Attribute | None:
    """`self.inner`, if `__getattr__` of a class returns attributes of it and of nothing else.

    `super().__getattr__(name)` may come first: it finds the modules and parameters of a module.
    """
    method = cls.methods.get("__getattr__")
    if method is None or "__setattr__" in cls.methods:
        return None
    return cls.module.fact((delegate_of, cls), lambda: _delegate(method))


def _delegate(method: Function) -> ast.Attribute | None:
    node = method.node
    if isinstance(node, ast.Lambda) or len(method.parameters) != 2:
        return None
    own, name = (each.arg for each in method.parameters)
    found: dict[str, ast.Attribute] = {}
    for statement in own_statements(node.body):
        match statement:
            case ast.Return(
                value=ast.Call(
                    func=ast.Name(id="getattr"),
                    args=[ast.Attribute(value=ast.Name(id=holder)) as held, ast.Name(id=asked)],
                )
            ) if holder == own and asked == name:
                found[held.attr] = held
            case ast.Return(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=called)
                )
            ) if called == "__getattr__":
                pass
            case ast.Return():
                return None
    return found.popitem()[1] if len(found) == 1 else None
