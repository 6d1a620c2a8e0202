"""Classes of settings: the fields of dataclasses, attrs classes and models of pydantic."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.settings.constants import constants, initializer, is_plain
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import innermost_name, parameters
from precision_lint.source.python.syntax_tree import syntax_tree

_DECORATORS = frozenset({
    "dataclass", "define", "frozen", "mutable", "attrs", "s", "configclass", "parsed_dataclass",
})  # fmt: skip
_BASES = frozenset({"BaseModel", "BaseSettings", "NamedTuple", "RootModel"})
_MAKING = frozenset({"field", "Field", "ib", "attrib", "mutable_field", "list_field"})
_MAX_DEPTH = 8


@frozen(slots=False)
class Field:
    """A field of a class: `value` is its default, or what `makes` it is called for one."""

    name: str
    file: ParsedPython
    annotation: ast.expr | None
    value: ast.expr | None = None
    makes: ast.expr | None = None
    is_changed: bool = False
    """Code of the class may give it another value."""
    is_of_class: bool = False
    """The class has it as well, and not only its objects."""


@frozen(slots=False)
class Record:
    """A class whose instances only hold what is given to them."""

    name: str
    fields: tuple[Field, ...]
    bases: frozenset[str]
    keywords: frozenset[str]
    """The names of the arguments in the list of its bases that are true."""
    has_options: bool = False
    """It says how pydantic shall read it: from variables with a prefix, from files."""
    is_plain: bool = False
    """Its objects have what its body says, and nothing is given to them."""


def record(name: str, program: Program, depth: int = 0) -> Record | None:
    """The class of a program with a name; None if there is none, or it is no such class."""
    found = program.classes(name)
    if len(found) != 1 or depth > _MAX_DEPTH:
        return None
    file, owner = found[0]
    names = [innermost_name(base) for base in owner.bases]
    above = [each for base in names if (each := record(base, program, depth + 1)) is not None]
    bases = frozenset(names).union(*(each.bases for each in above))
    decorators = {innermost_name(each) for each in owner.decorator_list}
    if is_plain(owner):
        return _of_constants(owner, file, program)
    is_record = bool(decorators & _DECORATORS) or bool(bases & _BASES) or bool(above)
    if not is_record or any(
        isinstance(each, FunctionDefinition) and each.name in ("__init__", "__new__")
        for each in owner.body
    ):
        return None
    fields = {field.name: field for each in reversed(above) for field in each.fields}
    fields |= {field.name: field for field in _fields(owner, file)}
    has_options = any(each.has_options for each in above) or any(
        getattr(each, "name", "") == "Config"
        or (isinstance(each, ast.Assign | ast.AnnAssign) and "model_config" in ast.unparse(each))
        for each in owner.body
    )
    return Record(name, tuple(fields.values()), bases, _keywords(owner), has_options)


def _of_constants(owner: ast.ClassDef, file: ParsedPython, program: Program) -> Record | None:
    """A class whose objects have what its body says, if nothing sets members by other names."""
    built = initializer(owner)
    if (built is not None and len(parameters(built.args)) > 1) or sets_members(program):
        return None
    stores = syntax_tree(file).attribute_stores(owner)
    fields = tuple(
        Field(
            one.name,
            file,
            None,
            one.value,
            is_changed=len(stores.get(one.name, ())) > isinstance(one.target, ast.Attribute),
            is_of_class=isinstance(one.target, ast.Name),
        )
        for one in constants(file)
        if one.owner == owner.name
    )
    if not fields:
        return None
    return Record(owner.name, fields, frozenset(), frozenset(), is_plain=True)


@fact
def sets_members(program: Program) -> bool:
    """True if a program gives members of objects values by names that are not written out."""
    return any(map(_sets_members, program.files))


@fact
def _sets_members(file: ParsedPython) -> bool:
    for node in file.nodes_of(ast.Call):
        match node:
            case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(), _]):
                pass
            case ast.Call(func=ast.Name(id="setattr" | "exec")):
                return True
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Attribute(attr="__dict__") | ast.Call(func=ast.Name(id="vars")),
                    attr="update",
                )
            ):
                return True
    return False


def keeps_all(name: str, program: Program) -> bool:
    """True for a class that makes a member of each setting it is given: `HParams(**config)`."""
    found = program.classes(name)
    return bool(found) and all(_keeps_all(owner) for _, owner in found)


def _keeps_all(owner: ast.ClassDef) -> bool:
    built = next((one for one in owner.body if getattr(one, "name", "") == "__init__"), None)
    if not isinstance(built, ast.FunctionDef):
        named = {getattr(one, "name", "") for one in owner.body}
        return "dict" in map(innermost_name, owner.bases) and "__getattr__" in named | {
            target.id
            for one in owner.body
            if isinstance(one, ast.Assign)
            for target in one.targets
            if isinstance(target, ast.Name)
        }
    given = [*built.args.args[1:], *filter(None, [built.args.kwarg])]
    if len(given) != 1:
        return False
    return any(_keeps(node, given[0].arg) for node in walk(built))


def _keeps(node: ast.AST, given: str) -> bool:
    """`self.__dict__.update(given)`, or a loop over its items that sets one after the other."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr="__dict__")),
            args=[ast.Name(id=name)],
        ):
            return name == given
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=key), ast.Name()]),
            iter=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="items")),
            body=body,
        ) if name == given:
            return any(_sets(one, key) for each in body for one in walk(each))
    return False


def _sets(node: ast.AST, key: str) -> bool:
    """`setattr(self, key, value)`, `self[key] = value`, `self.__dict__[key] = value`."""
    match node:
        case ast.Call(
            func=ast.Name(id="setattr"), args=[ast.Name(id="self"), ast.Name(id=name), _]
        ):
            return name == key
        case ast.Subscript(
            value=ast.Name(id="self") | ast.Attribute(value=ast.Name(id="self"), attr="__dict__"),
            slice=ast.Name(id=name),
            ctx=ast.Store(),
        ):
            return name == key
    return False


def _keywords(owner: ast.ClassDef) -> frozenset[str]:
    return frozenset(
        keyword.arg
        for keyword in owner.keywords
        if keyword.arg and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
    )


def _fields(owner: ast.ClassDef, file: ParsedPython) -> Iterator[Field]:
    changed = {*syntax_tree(file).attribute_stores(owner), *_validated(owner)}
    for node in owner.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                is_changed = name in changed
                match value:
                    case ast.Call(func=function, args=args, keywords=keywords) if (
                        innermost_name(function) in _MAKING
                    ):
                        given = {each.arg: each.value for each in keywords}
                        default = given.get("default") or next(iter(args), None)
                        makes = given.get("default_factory") or given.get("factory")
                        yield Field(name, file, annotation, default, makes, is_changed)
                    case _:
                        yield Field(name, file, annotation, value, None, is_changed)


def _validated(owner: ast.ClassDef) -> Iterator[str]:
    """The names that functions mention which check a model, and may change it."""
    for function in owner.body:
        if isinstance(function, FunctionDefinition) and any(
            "valid" in innermost_name(each) for each in function.decorator_list
        ):
            for node in walk(function):
                match node:
                    case ast.Constant(value=str(name)) | ast.Attribute(attr=name):
                        yield name
