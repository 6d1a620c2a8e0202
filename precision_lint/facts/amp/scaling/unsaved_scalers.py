"""Scalers of objects that other code saves, where nothing in the project saves their state.

`def save(self, trainer: Trainer)` writes down `trainer.optimizer.state_dict()`. The class of the
annotation says that `trainer.scaler` is a scaler. What the project does with that attribute must be
seen everywhere: code that hands it on, or that finds attributes by their names, may save it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.amp.lineage import Lineage
from precision_lint.facts.amp.scaling.handed_scalers import PROTOCOL
from precision_lint.facts.amp.scaling.idle_scalers import is_tested
from precision_lint.facts.amp.scaling.users import Users
from precision_lint.facts.amp.training_step.events import scalers_made
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.syntax.definitions import Class
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.facts.settings import holds_settings
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import dotted, last_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MOST_FILES = 32
"""Files that use an attribute of one name; of more, it says nothing."""

_FINDING_ATTRIBUTES = rb"state_dict|\bvars\(|__dict__|__getstate__"


@frozen
class UnsavedScaler:
    """A scaler `name`, in the words of the code that saves; `file` makes it.

    `is_always` if each object has one: no condition decides whether it is made.
    """

    name: str
    made: ast.Call
    file: PythonFile
    is_always: bool

    @property
    def related(self) -> Related:
        return Related(self.file.text.place(self.file.span_of(self.made)), "the scaler")


def unsaved_scalers(holder: ast.expr, file: PythonFile) -> tuple[UnsavedScaler, ...]:
    """The scalers of an object of a class of another file, if the state of none is ever saved."""
    program = Program(file)
    owner = Users(program).class_of(holder, file)
    if owner is None or owner.module is program.main:
        return ()
    return of_class(owner, ast.unparse(holder), program, file)


def of_class(
    owner: Class, object_: str, program: Program, file: PythonFile
) -> tuple[UnsavedScaler, ...]:
    """The scalers that the objects of a class make, if the state of none is ever saved."""
    lineage = Lineage(program)
    line = lineage.line(owner)
    made = dict(_made_by(line))
    if not made or not lineage.is_complete(owner):
        return ()
    is_kept = any(_may_be_kept(name, owner, file) for name in made)
    if is_kept or _finds_attributes(owner, line, file):
        return ()
    return tuple(
        UnsavedScaler(
            f"{object_}.{name}",
            call,
            PythonFile.of(source, file.project),
            _is_always(call, source),
        )
        for name, (call, source) in made.items()
    )


def _is_always(made: ast.Call, file: ParsedPython) -> bool:
    """True if the only assignment of an attribute is a plain one, under no condition."""
    syntax = syntax_tree(file)
    statement, *around = syntax.within_function(made)
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr=name)]):
            stores = [each for each in file.nodes_of(ast.Attribute) if each.attr == name]
            stores = [each for each in stores if isinstance(each.ctx, ast.Store)]
            return len(stores) == 1 and len(around) == 1
    return False


def _made_by(line: tuple[Class, ...]) -> Iterator[tuple[str, tuple[ast.Call, ParsedPython]]]:
    """The attributes of `self` for which some classes make scalers."""
    for each in line:
        node, source = each.node, each.module.file
        for name, call in scalers_made(source).items():
            head, _, attribute = name.partition(".")
            is_inside = node.lineno <= call.lineno <= (node.end_lineno or 0)
            if head == "self" and attribute.isidentifier() and is_inside:
                yield attribute, (call, source)


def _files(pattern: bytes, owner: Class, file: PythonFile) -> list[ParsedPython] | None:
    """The files that match and run with a class; None if there are too many, or one is unread."""
    project, home = file.project, owner.module.file.text.path
    paths = [
        path
        for path in project.python_sources_matching(pattern)
        if path == home or project.runs_with(path, home)
    ]
    found = [*map(project.module, paths[:_MOST_FILES])]
    read = [each for each in found if each is not None]
    return read if len(read) == len(paths) else None


def _may_be_kept(name: str, owner: Class, file: PythonFile) -> bool:
    """True unless all that is done with an attribute is seen: it scales, and is never saved."""
    files = _files(rf"\b{name}\b".encode(), owner, file)
    if files is None:
        return True
    is_used = False
    for each in files:
        syntax = syntax_tree(each)
        for node in each.nodes:
            match node:
                case ast.Constant(value=text) if text == name:
                    return True  # it may be the name of the attribute: `getattr(self, "scaler")`
                case ast.Attribute(attr=attr, ctx=ast.Load()) if attr == name:
                    method = _method(node, syntax)
                    if method not in PROTOCOL and not is_tested(node, syntax):
                        return True
                    is_used = is_used or method == "scale"
    return not is_used


def _method(node: ast.Attribute, syntax: SyntaxTree) -> str:
    """The method of an attribute that is called."""
    parent = syntax.parent(node)
    match parent, parent and syntax.parent(parent):
        case ast.Attribute(attr=method), ast.Call(func=called) if called is parent:
            return method
    return ""


def _finds_attributes(owner: Class, line: tuple[Class, ...], file: PythonFile) -> bool:
    """True if code may save the states of objects without naming them."""
    files = _files(_FINDING_ATTRIBUTES, owner, file)
    if files is None:
        return True
    names = {each.node.name for each in line}
    return any(_is_by_name(node, names, each) for each in files for node in each.nodes)


def _is_by_name(node: ast.AST, names: set[str], file: ParsedPython) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Subscript() | ast.Call() as saved, attr=attr)):
            by_name = isinstance(saved, ast.Subscript) or last_name(saved.func) == "getattr"
            return attr == "state_dict" and by_name
        case ast.Call(func=ast.Attribute(value=ast.Name() as saved, attr="state_dict")):
            return _is_of_a_loop(saved, file)
        case ast.Call(func=ast.Name(id="getattr"), args=[_, name, *_]):
            return not isinstance(name, ast.Constant)
        case (
            ast.Call(func=ast.Name(id="vars"), args=[held])
            | ast.Attribute(value=held, attr="__dict__")
        ):
            return _may_be_object(held, names, file)
        case ast.FunctionDef(name="__getstate__"):
            return True
    return False


def _is_of_a_loop(name: ast.Name, file: ParsedPython) -> bool:
    """True for a name that a loop, or a comprehension around it, gives one value after another."""
    syntax = syntax_tree(file)
    for parent in syntax.around(name):
        match parent:
            case ast.For(target=target) | ast.AsyncFor(target=target):
                targets = [target]
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                targets = [each.target for each in parent.generators]
            case _:
                continue
        if any(
            isinstance(each, ast.Name) and each.id == name.id for t in targets for each in walk(t)
        ):
            return True
    return False


def _may_be_object(held: ast.expr, names: set[str], file: ParsedPython) -> bool:
    """True if all attributes of an object are read that may be of one of the classes."""
    if dotted(held) != "self":
        return not holds_settings(last_name(held))
    syntax = syntax_tree(file)
    around = next((each for each in syntax.around(held) if isinstance(each, ast.ClassDef)), None)
    bases = set() if around is None else {around.name, *map(last_name, around.bases)}
    return around is None or not names.isdisjoint(bases)
