"""Functions and classes of programs that only code names that no run comes to.

A library that the pages of its project show to others is for these to call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.hydra_mains import lacked_by
from precision_lint.facts.project.named import PLAIN_BASES, imported_from, scope_of
from precision_lint.facts.project.raising import misfits, never_computes, raising_before
from precision_lint.facts.project.switched_off import switched_off
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.functions import functions_around
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.nesting import blocks_around
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Definition, FunctionDefinition
from precision_lint.source.python.syntax import innermost_name, is_main
from precision_lint.source.python.syntax_tree import syntax_tree

CALLED_BY_OTHERS = regex(r"__\w+__|main|cli|app|run|forward|backward|setup_context")
"""What Python, a command of an installed package, or torch calls by its name."""

_CALLING_NO_OTHERS = PLAIN_BASES | {"Enum"}
"""Bases of other packages that call no methods but these."""

_KEEPING = frozenset(
    {
        *("autotune", "heuristics", "jit", "compile", "script", "ignore", "unused"),
        *("autocast", "custom_bwd", "custom_fwd", "enable_grad", "inference_mode", "no_grad"),
        *("cached_property", "classmethod", "property", "setter", "staticmethod"),
        *("cache", "contextmanager", "dataclass", "lru_cache", "once_differentiable", "wraps"),
    }
)
"""Decorators that put a function nowhere: it is called by its name alone."""

_DEEPEST = 4
"""Bases of bases that are followed."""

_MOST = 60
"""Functions, classes and files that one search looks at."""

Naming: TypeAlias = Definition | ast.Assign
"""What gives something a name: `attention = Attention.apply` gives another one."""

Use: TypeAlias = ast.expr | ast.alias
"""A name, an attribute, a text or an import that names something."""

_WORD = regex(r"\w+")
_PROGRAM = rb"(?m)^if __name__\b"
_BY_NAME = rb"\bgetattr\(\s*\w+\s*,\s*[^\"'\s]|\.__dict__\[|\b(?:globals|vars)\(\w*\)\[|\bFire\(\)"
"""How a program takes something of a module by a name that it works out."""
_OF_ALL_CLASSES = rb"__subclasses__|__init_subclass__|\bgetmembers\b|\bmetaclass\b"
"""How a program finds classes that nothing names."""


def is_uncalled(
    file: ParsedPython, offset: int, project: Recording, *, has_effect_later: bool = True
) -> bool:
    """True for a place in a function, or a class, that no run of a program comes to.

    The file is a program, or a part of one. With an effect that comes later than the place, a run
    that raises before it has computed anything does not count either.
    """
    around = functions_around(file, offset)
    if not around:
        return has_effect_later and _is_broken_off(offset, file, project)
    search = _Search(project, has_effect_later=has_effect_later)
    return _is_run(file, project) and not search.is_live(around[-1], file)


def _is_broken_off(offset: int, file: ParsedPython, project: Recording) -> bool:
    """True for a place outside of functions in a program that raises before it has computed.

    Who imports the file comes to all that is not its main part.
    """
    if project.users(file.text.path) and not _is_in_main_part(offset, file):
        return False
    return never_computes(file.tree, file, project) is not None


def _is_in_main_part(offset: int, file: ParsedPython) -> bool:
    around = [block[before] for block, before in blocks_around(offset, file) if before < len(block)]
    return bool(around) and isinstance(around[0], ast.If) and is_main(around[0])


def _is_run(file: ParsedPython, project: Recording) -> bool:
    path = file.text.path
    programs = project.python_sources_matching(_PROGRAM)
    return path in programs or not set(programs).isdisjoint(project.users(path))


class _Search:
    """A search for a way from code that runs to a function or a class."""

    def __init__(self, project: Recording, *, has_effect_later: bool) -> None:
        self._project = project
        self._has_effect_later = has_effect_later
        self._live: set[Naming] = set()
        self._others: list[Naming] = []
        """What is being asked about, and what no way leads to: in this order."""

    def is_live(self, node: Naming, file: ParsedPython) -> bool:
        """True if code that may run names a definition, and where too many would be asked."""
        if node in self._live or len(self._others) > _MOST:
            return True
        if node in self._others:
            return False
        asked = len(self._others)
        self._others.append(node)
        if self._comes_to(node, file):
            # Those in between may be live, too: this one was not yet known to be.
            del self._others[asked:]
            self._live.add(node)
        return node in self._live

    def _comes_to(self, node: Naming, file: ParsedPython) -> bool:
        owner = syntax_tree(file).body(node)
        if isinstance(node, ast.Assign):
            return self._is_used(node, owner, file)
        if self._has_effect_later and never_computes(node, file, self._project) is not None:
            return False
        if isinstance(owner, Definition) and not self.is_live(owner, file):
            return False
        if isinstance(node, FunctionDefinition) and lacked_by(node, file, self._project):
            return False
        if any(innermost_name(each) not in _KEEPING for each in node.decorator_list):
            return True
        if isinstance(owner, ast.Module) and _is_taken_by_name(file, self._project):
            return True
        if isinstance(node, ast.ClassDef):
            is_found = self._project.python_source_matches(_OF_ALL_CLASSES)
        else:
            is_found = CALLED_BY_OTHERS.fullmatch(node.name) is not None or (
                isinstance(owner, ast.ClassDef) and _has_other_base(owner, self._project, _DEEPEST)
            )
        return is_found or self._is_used(node, owner, file) or self._is_offered(node, owner, file)

    def _is_offered(self, node: Definition, owner: ast.AST, file: ParsedPython) -> bool:
        """True for what others may import: a public name of a module that is for others."""
        is_public = isinstance(owner, ast.Module) and not node.name.startswith("_")
        return is_public and self._project.is_for_others(file.text.path)

    def _is_used(self, node: Naming, owner: ast.AST, file: ParsedPython) -> bool:
        text = _name_of(node)
        name = text.encode()
        if any(self._is_use(each, node, owner, file, file) for each in _naming(text, file)):
            return True
        if not isinstance(owner, ast.Module | ast.ClassDef):
            return False  # a function inside of another one
        as_code = rb"[.:/\"'`]%b\b|\b%b\(" % (name, name)
        if self._project.page_matches(as_code) or self._project.other_file_matches(as_code):
            return True
        others = self._project.python_sources_matching(rb"\b%b\b" % name)
        for count, path in enumerate(each for each in others if each != file.text.path):
            other = self._project.module(path)
            if count > _MOST or other is None:
                return True
            if any(self._is_use(use, node, owner, file, other) for use in _naming(text, other)):
                return True
        return False

    def _is_use(
        self,
        use: Use,
        node: Naming,
        owner: ast.AST,
        file: ParsedPython,
        user: ParsedPython,
    ) -> bool:
        """True if a place that runs names a definition, and not another one of this name."""
        match use:
            case ast.Name():
                may_mean = not isinstance(owner, ast.ClassDef) and (
                    user is file or _is_imported(use, file, user, self._project)
                )
            case ast.Attribute(value=value):
                may_mean = isinstance(owner, ast.ClassDef) or _is_of_import(value, user)
            case _:
                may_mean = True
        return may_mean and not _is_within(use, node, user) and self._runs(use, user)

    def _runs(self, use: Use, user: ParsedPython) -> bool:
        """True if a run may come to a place."""
        project, path = self._project, user.text.path
        if _is_of_type(use, user):
            return False
        around = [*_definitions_around(use, user)]
        if not all(self.is_live(each, user) for each in around):
            return False
        call = syntax_tree(user).parent(use)
        if isinstance(call, ast.Call) and call.func is use and misfits(call, user, project):
            return False
        start, stop = user.span_of(use).start, project.stop(path)
        if not around and self._has_effect_later and _is_broken_off(start, user, project):
            return False
        is_after = stop is not None and stop.end <= start
        is_off = is_after or switched_off(start, user, project) is not None
        return not is_off and raising_before(start, user, project) is None


def _is_taken_by_name(file: ParsedPython, project: Recording) -> bool:
    """True if a file that imports one takes something of a module by a name that it works out."""
    path = file.text.path
    users = {path, *project.users(path)}
    for each in project.python_sources_matching(_BY_NAME):
        module = project.module(each) if each in users else None
        if module is not None and _takes_by_name(module, project):
            return True
    return False


def _takes_by_name(user: ParsedPython, project: Recording) -> bool:
    return user.fact(
        _takes_by_name, lambda: any(_takes(node, user, project) for node in user.nodes)
    )


def _takes(node: ast.AST, user: ParsedPython, project: Recording) -> bool:
    """True for `getattr(models, name)`, `models.__dict__[name]`, `globals()[name]` and `Fire()`."""
    match node:
        case ast.Call(func=ast.Name("getattr"), args=[ast.Name(id=holder), name, *_]):
            return not isinstance(name, ast.Constant) and _is_module(holder, user, project)
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=holder), attr="__dict__")):
            return _is_module(holder, user, project)
        case ast.Subscript(value=ast.Call(func=ast.Name("globals" | "vars"))):
            return True
        case ast.Call(func=func, args=[], keywords=[]):
            return innermost_name(func) == "Fire"
    return False


def _is_module(name: str, user: ParsedPython, project: Recording) -> bool:
    """True for the name of a module of the project."""
    qualified = imported_names(user).get(name)
    return qualified is not None and project.locate(user.text.path, qualified) is not None


def _name_of(node: Naming) -> str:
    return innermost_name(node.targets[0]) if isinstance(node, ast.Assign) else node.name


def _is_renaming(statement: ast.Assign, use: Use, user: ParsedPython) -> bool:
    """True for `f = g`, `f = G.apply` and `f = torch.compile(g)` at the top level."""
    value: ast.expr = statement.value
    while value is not use:
        match value:
            case ast.Attribute(value=inner):
                value = inner
            case ast.Call(func=func, args=[inner, *_]) if innermost_name(func) in _KEEPING:
                value = inner
            case _:
                return False
    return isinstance(syntax_tree(user).parent(statement), ast.Module)


def _is_of_type(use: Use, user: ParsedPython) -> bool:
    """True for a class that is compared with or annotated, and not made."""
    inner: ast.AST = use
    for parent in syntax_tree(user).around(use):
        match parent:
            case ast.Call(func=ast.Name("isinstance" | "issubclass"), args=[_, kinds]):
                return inner is kinds
            case ast.arg():
                return True
            case ast.FunctionDef(returns=inner_type) | ast.AsyncFunctionDef(returns=inner_type):
                return inner is inner_type
            case ast.Tuple() | ast.BinOp() | ast.Subscript() | ast.Attribute():
                inner = parent
            case _:
                return False
    return False


def _is_within(use: Use, node: Naming, user: ParsedPython) -> bool:
    """True if a definition names itself."""
    return any(each is node for each in syntax_tree(user).around(use))


def _definitions_around(use: Use, user: ParsedPython) -> Iterator[Naming]:
    """The definitions that have to run, or to be named, for a use to count, the innermost first.

    Decorators and defaults run where they stand; a base is used by who uses the class, and what
    gets another name by who uses that.
    """
    inner: ast.AST = use
    for parent in syntax_tree(user).around(use):
        match parent:
            case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body) if inner in body:
                yield parent
            case ast.ClassDef(bases=bases) if inner in bases:
                yield parent
            case ast.Assign(targets=[ast.Name()]) if _is_renaming(parent, use, user):
                yield parent
        inner = parent


def _is_imported(use: ast.Name, file: ParsedPython, user: ParsedPython, project: Recording) -> bool:
    """True if a name in another file may be what a file defines under it."""
    _, bindings = scope_of(use, user).lookup(use.id)
    if not bindings:
        return True  # by `import *`
    for binding in bindings:
        if binding.qualified is not None:
            found = imported_from(binding.qualified, user, project)
            if found is None or found.file.text.path == file.text.path:
                return True
    return False


def _is_of_import(value: ast.expr, user: ParsedPython) -> bool:
    """True for an attribute of a module, or of what is in one."""
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name) and value.id in imported_names(user)


def _naming(name: str, file: ParsedPython) -> Sequence[Use]:
    """The nodes of a file that read a name or an attribute, or are a text with it."""
    return _by_name(file).get(name, ())


@fact
def _by_name(file: ParsedPython) -> Mapping[str, Sequence[Use]]:
    found: dict[str, list[Use]] = {}
    is_package = file.text.path.name == "__init__.py"
    documents = {
        node.value for node in file.nodes_of(ast.Expr) if isinstance(node.value, ast.Constant)
    }
    for node in file.nodes:
        names: Iterable[str] = ()
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
                names = [name]
            case ast.alias(name=name, asname=other) if is_package or other is not None:
                names = [name.rpartition(".")[2]]
            case ast.Constant(value=str() as text) if node not in documents:
                names = {*_WORD.findall(text)}
        if isinstance(node, Use):
            for each in names:
                found.setdefault(each, []).append(node)
    return found


def _has_other_base(owner: ast.ClassDef, project: Recording, depth: int) -> bool:
    """True if a class has a base of another package, which may call its methods."""
    for base in owner.bases:
        name = innermost_name(base)
        if name in _CALLING_NO_OTHERS:
            continue
        found = next(_classes_named(name, project), None) if depth else None
        if found is None or _has_other_base(found, project, depth - 1):
            return True
    return False


def _classes_named(name: str, project: Recording) -> Iterator[ast.ClassDef]:
    """The classes of the project with a name."""
    for path in project.python_sources_matching(rb"(?m)^class %b\b" % name.encode()):
        module = project.module(path)
        for node in () if module is None else module.tree.body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                yield node
