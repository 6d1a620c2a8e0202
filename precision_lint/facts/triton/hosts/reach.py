"""What names of host code mean: functions of the project, and who calls them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from precision_lint.facts.triton.hosts.scopes import Host, Scopes, Site
from precision_lint.source.python.nodes import walk

if TYPE_CHECKING:
    from precision_lint.facts.context import PythonFile
    from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
    from precision_lint.facts.dtypes.whole_program.program import Program

_MOST_FILES = 24
"""Files that are searched for the callers of one function."""


class Reach:
    """Follows names from one file: in the project if it is known, else within the file."""

    def __init__(self, main: Module, file: PythonFile | None, program: Program | None) -> None:
        self.main = main
        self._file = file
        self._program = program
        self._scopes: dict[Path, Scopes] = {}
        self._callers: dict[Host, tuple[Site, ...]] = {}

    def scopes(self, module: Module) -> Scopes:
        """The host code of a file."""
        path = module.file.text.path
        if path not in self._scopes:
            self._scopes[path] = Scopes(module)
        return self._scopes[path]

    # Names

    def meaning(self, module: Module, node: ast.expr) -> Function | Class | None:
        """The definition that a name, or `module.name`, stands for, if need be by an alias."""
        if self._program is None:
            if not isinstance(node, ast.Name):
                return None
            defined = module.top.get(node.id)
            return defined or self._alias(module, node.id)
        match node:
            case ast.Name(id=name) if _is_optional(module, name):
                found = self._program.find(module, module.imports[name])
            case ast.Name(id=name):
                found = self._program.name(module, name)
            case ast.Attribute(value=ast.Name(id=package), attr=name) if package in module.imports:
                found = self._program.find(module, f"{module.imports[package]}.{name}")
            case _:
                return None
        if found is None or found.definition is None:
            return None
        if isinstance(found.definition, str):
            return self._alias(found.module, found.definition)
        return found.definition

    def _alias(self, module: Module, name: str) -> Function | Class | None:
        """What a file calls by another name, too: `layer_norm = LayerNorm.apply`."""
        match module.assignments.get(name):
            case (ast.Attribute(value=ast.Name(id=other), attr="apply") | ast.Name(id=other),):
                return module.top.get(other)
        return None

    def called(self, host: Host, func: ast.expr) -> Host | None:
        """The function of the project that is called."""
        from precision_lint.facts.dtypes.syntax.definitions import Class, Function

        match func:
            case ast.Name(id=name) if (local := self._local(host, name)) is not None:
                return local[0] if len(local) == 1 and not _is_jit(local[0].node) else None
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return self.method(host, name)
            case ast.Attribute(value=function, attr="apply"):
                return self._applied(self.meaning(host.module, function))
            case ast.Attribute(value=owner_name, attr=name):
                owner = self.meaning(host.module, owner_name)
                if isinstance(owner, Class):
                    return self._host(owner.methods.get(name))
        found = self.meaning(host.module, func)
        if isinstance(found, Function):
            return self._host(found)
        is_alias = isinstance(func, ast.Name) and func.id != getattr(found, "name", None)
        return self._applied(found) if is_alias else None

    def _local(self, host: Host, name: str) -> list[Host] | None:
        """The functions in functions that a name may mean; None for what no function binds."""
        around: Host | None = host
        while around is not None and not isinstance(around.node, ast.Module):
            found = [each for each in self.scopes(host.module).nested(around) if each.name == name]
            if name in around.stored:
                return []
            if found:
                return found
            around = around.enclosing
        return None

    def _applied(self, owner: Function | Class | None) -> Host | None:
        """The forward pass of an autograd function."""
        from precision_lint.facts.dtypes.syntax.definitions import Class

        return self._host(owner.methods.get("forward")) if isinstance(owner, Class) else None

    def _host(self, function: Function | None) -> Host | None:
        if function is None or _is_jit(function.node):
            return None
        return self.scopes(function.module).host(function.node)

    def method(self, host: Host, name: str) -> Host | None:
        """Another method of the same class."""
        owner = host.owner
        if owner is None:
            return None
        for each in self.scopes(host.module).hosts:
            if each.owner is owner and each.name == name:
                return each
        return None

    # Who calls

    def callers(self, host: Host, most: int) -> tuple[Site, ...]:
        """The calls of a function in the project; none if one may be unseen, or there are many."""
        if host not in self._callers:
            found = self._called_by(host, most)
            self._callers[host] = () if found is None else found
        return self._callers[host]

    def _called_by(self, host: Host, most: int) -> tuple[Site, ...] | None:
        if isinstance(host.node, ast.Module) or not isinstance(host.enclosing, Host):
            return ()
        is_method = host.owner is not None
        if is_method and host.name != "forward":
            return self._called_on_self(host, most)
        name = host.owner.name if host.owner is not None else host.name
        found: list[Site] = []
        for called in (name, *_aliases(host.module, name)):
            for module in (host.module, *self.importers(host.module, called)):
                if module is None:
                    return None
                for local in local_names(module, called):
                    if not is_method and local in self.scopes(module).handed_on:
                        return None
                    sites = self.scopes(module).calls.get(local, ())
                    found += (site for site in sites if self._leads_to(site, host))
                if len(found) > most:
                    return None
        return tuple(found)

    def _called_on_self(self, host: Host, most: int) -> tuple[Site, ...] | None:
        sites = [
            site
            for site in self.scopes(host.module).calls.get(host.name, ())
            if site.host.owner is host.owner
        ]
        return tuple(sites) if len(sites) <= most and host.name.startswith("_") else ()

    def _leads_to(self, site: Site, host: Host) -> bool:
        """True for a call of the function, not of another one of its name."""
        return site.host is not host and self.called(site.host, site.call.func) is host

    def is_unused(self, host: Host) -> bool:
        """True for a private function that no other code of the project names."""
        if self._file is None or self._program is None or host.owner is not None:
            return False
        private = host.name.startswith("_") and not host.name.endswith("__")
        at_top = host.enclosing is not None and isinstance(host.enclosing.node, ast.Module)
        if not private or not at_top or getattr(host.node, "decorator_list", []):
            return False
        scopes = self.scopes(host.module)
        if host.name in scopes.handed_on or _is_assigned(host.module, host.name):
            return False
        if any(site.host is not host for site in scopes.calls.get(host.name, ())):
            return False
        users = self._file.project.importing(host.module.file.text.path, host.name)
        return next(users, None) is None

    def importers(self, module: Module, name: str) -> Iterator[Module | None]:
        """The other files that name `name` and import it; None for what cannot be read."""
        if self._file is None or self._program is None:
            return
        project = self._file.project
        is_secondary = project.is_secondary(self._file.text.path)
        pending = [module.file.text.path]
        seen = set(pending)
        while pending:
            for path in project.importing(pending.pop(), name):
                if path in seen or (project.is_secondary(path) and not is_secondary):
                    continue
                seen.add(path)
                if len(seen) > _MOST_FILES:
                    yield None
                    return
                yield self._program.module(path)
                if path.name == "__init__.py":  # it hands the name on
                    pending.append(path)


def _is_optional(module: Module, name: str) -> bool:
    """True for `name = None` where the import of `name` fails."""
    assigned = module.assignments.get(name, ())
    nothing = (isinstance(one, ast.Constant) and one.value is None for one in assigned)
    return name in module.imports and bool(assigned) and all(nothing)


def local_names(module: Module, name: str) -> Iterator[str]:
    """What a file calls something of another file: its name, or `from kernels import name as n`."""
    yield name
    for local, qualified in module.imports.items():
        if local != name and qualified.rpartition(".")[2] == name:
            yield local


def _aliases(module: Module, name: str) -> Iterator[str]:
    """What a file calls a function, or `name.apply`, besides."""
    for alias, assigned in module.assignments.items():
        match assigned:
            case (ast.Attribute(value=ast.Name(id=other), attr="apply") | ast.Name(id=other),):
                if other == name:
                    yield alias


def _is_assigned(module: Module, name: str) -> bool:
    """True for `other = name` at the top level of the file, under whatever name."""
    values = (value for assigned in module.assignments.values() for value in assigned)
    return any(
        isinstance(node, ast.Name) and node.id == name
        for value in values
        if value is not None
        for node in walk(value)
    )


def _is_jit(node: ast.AST) -> bool:
    """True for a function that runs on the device."""
    decorators = getattr(node, "decorator_list", [])
    return any("jit" in ast.unparse(decorator) for decorator in decorators)
