"""The program of a run: the files of the project that it is made of, and what they define."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import compress, islice
from operator import contains
from pathlib import Path

from precision_lint.facts.frameworks._generated import marks
from precision_lint.facts.origin import Origin
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.called_parsers import Callers
from precision_lint.facts.runs.interpreter.imported_by_name import program_of
from precision_lint.facts.settings.constants import constants, may_have_constants
from precision_lint.facts.settings.declarations import MARKERS, declared
from precision_lint.facts.settings.given import Declaration, Kind, normal
from precision_lint.model.finding import Place, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import Memo, cached_property, fact
from precision_lint.project import disk
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import dotted, last_name

_MOST_FILES = 20
"""Files of one program that are parsed, the nearest first: the others rarely hold settings. Those
with regions of autocast and scalers come in addition.
"""
_MOST_READ = 150
"""Files of one program that are looked into."""
_MOST_BYTES = 1 << 20
_INTEGERS = frozenset({"int", "Optional[int]", "int | None", "None | int"})
_OPENING = ("open", "load", "Path", "load_config", "read_config")
_LOADERS = (
    b"json.load", b"yaml.", b"OmegaConf", b"toml", b"from_pretrained", b"sconf", b"compose(",
)  # fmt: skip
_PARSERS = ("HfArgumentParser", "TrlParser", "H4ArgumentParser", "ArgumentParser")
_REGIONS = (b"autocast(", b"GradScaler(", b"amp.autocast")


@frozen(eq=False, slots=False)
class Program(Memo):
    """A Python program: the file that is started, and what of it says something of settings."""

    path: Path
    project: Recording

    @cached_property
    def files(self) -> tuple[ParsedPython, ...]:
        """The files that may declare, read or hand on settings; the started one first."""
        files = self.project.config_files
        paths = files.once(("files of a program", self.path), lambda: tuple(self._paths()))
        return tuple(filter(None, map(self.project.module, paths)))

    def _paths(self) -> Iterator[Path]:
        size = count = 0
        once = self.project.config_files.once
        for path in self.paths:
            length, is_of_settings, has_regions = once(
                ("what is in", path), partial(_what_is_in, path)
            )
            if not length or (path != self.path and not is_of_settings):
                continue
            size, count = size + length, count + 1
            if size > _MOST_BYTES:
                return
            if count <= _MOST_FILES or has_regions:
                yield path

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """All of its files, the nearest first."""
        once = self.project.config_files.once
        return once(
            ("all files of a program", self.path),
            lambda: tuple(islice(program_of(self.path, self.project), _MOST_READ)),
        )

    @cached_property
    def all_files(self) -> tuple[ParsedPython, ...]:
        """The same, parsed."""
        return tuple(filter(None, map(self.project.module, self.paths)))

    def mentioning(self, name: str) -> Iterator[ParsedPython]:
        """All of its files whose text holds a name."""
        for path in self.paths:
            if name in self.project.config_files.text(path) and (file := self.project.module(path)):
                yield file

    @cached_property
    def options(self) -> Mapping[str, Sequence[Declaration]]:
        """What its parsers and classes of settings declare, by the name of the attribute: where
        several do, a parser that another program makes is none of its own, and of the classes
        those count that a parser fills.
        """
        found: dict[str, list[Declaration]] = {}
        for file in self.files:
            for given in _declared(file):
                found.setdefault(given.path[-1], []).append(given)
        for name, each in found.items():
            if len({(one.origin.source.path, one.owner) for one in each}) > 1:
                made = [one for one in each if self.makes(one)] or each
                filled = {one for _, one in self.parsed_classes} & {one.owner for one in made}
                is_open = [one.kind is not Kind.FIELD or one.owner in filled for one in made]
                found[name] = [*compress(made, is_open)] if filled else made
        return found

    @cached_property
    def parsed_classes(self) -> tuple[tuple[Place, str], ...]:
        """The classes of settings that are given to parsers: `HfArgumentParser((A, B))`."""
        return tuple(
            (file.text.place(file.span_of(call)), node.id)
            for parser in _PARSERS
            for file, call in self.calls(parser)
            for node in walk(call)
            if isinstance(node, ast.Name)
        )

    @cached_property
    def with_constants(self) -> tuple[ParsedPython, ...]:
        """The same files, and others of its files that only have plain values of settings."""
        files = self.project.config_files
        paths = files.once(
            ("constants of a program", self.path),
            lambda: tuple(path for path in self.paths if _has_constants(path)),
        )
        others = filter(None, map(self.project.module, paths))
        return tuple(dict.fromkeys((*self.files, *others)))

    @cached_property
    def constants(self) -> Mapping[str, Sequence[Declaration]]:
        """The plain values of its classes of settings, by their names."""
        found: dict[str, list[Declaration]] = {}
        for file in self.with_constants:
            for one in constants(file):
                if one.owner:
                    origin = Origin(file.text, file.span_of(one.value), f"`{one.owner}.{one.name}`")
                    value = getattr(one.value, "value", None)
                    found.setdefault(one.name, []).append(
                        Declaration(Kind.FIELD, (one.name,), value, origin, one.owner)
                    )
        return found

    def makes(self, declared: Declaration) -> bool:
        """False for an option of a parser that only another program makes."""
        return self.calls_around(declared.origin.source.path, declared.origin.span)

    def calls_around(self, path: Path, span: Span) -> bool:
        """False for what stands in a function that the program does not call."""
        return Callers(self.paths, self.project).call(path, span)

    @cached_property
    def sections(self) -> frozenset[str]:
        """What dotted options are grouped by: `ds` of `--ds.param_dtype`."""
        declared = (given for each in self.options.values() for given in each)
        return frozenset(name for given in declared for name in given.path[:-1])

    @cached_property
    def flags(self) -> Mapping[str, Declaration]:
        """The options whose attribute has another name, by their names on a command line."""
        return {
            given.flag: given
            for declarations in self.options.values()
            for given in declarations
            if given.flag and given.flag != given.path[-1]
        }

    @cached_property
    def flags_of(self) -> Mapping[str, list[str]]:
        """Those names by the names of the attributes."""
        found: dict[str, list[str]] = {}
        for flag, given in self.flags.items():
            found.setdefault(given.path[-1], []).append(flag)
        return found

    @cached_property
    def assigned(self) -> Mapping[str, list[tuple[ParsedPython, ast.expr]]]:
        """Where it assigns attributes and keys of objects that are not `self`, by their names."""
        found: dict[str, list[tuple[ParsedPython, ast.expr]]] = {}
        for file in self.files:
            for name, node in _assigned(file):
                found.setdefault(name, []).append((file, node))
        return found

    @cached_property
    def opened(self) -> frozenset[str]:
        """The attributes in the paths of the files that it opens."""
        return frozenset(
            node.attr
            for name in _OPENING
            for _, call in self.calls(name)
            for argument in call.args[:1]
            for node in walk(argument)
            if isinstance(node, ast.Attribute)
        )

    def argument(self, name: str) -> tuple[ParsedPython, ast.Call] | None:
        """The one `add_argument` of an option; None if there are several, or another kind.

        The types of jsonargparse are no functions that are called with a word.
        """
        found = [
            (file, call)
            for file, call in self.calls("add_argument")
            if "jsonargparse" not in file.text.text
            and any(
                isinstance(each, ast.Constant)
                and isinstance(each.value, str)
                and normal(each.value.lstrip("-")) == name
                for each in call.args
            )
        ]
        return found[0] if len(found) == 1 else None

    def type_of(self, name: str) -> str:
        """The name of the type that an option is read as; empty if none is declared."""
        found = self.argument(name)
        kind = keyword_of(found[1], "type") if found is not None else None
        return (dotted(kind) or "?") if kind is not None else ""

    def is_integer(self, name: str) -> bool:
        """True for an option that is read as an integer: by its type, or by those of all fields of
        classes with its name.
        """
        if self.argument(name) is not None:
            return self.type_of(name) == "int"
        return self.fact(("is integer", name), lambda: self._is_integer_field(name))

    def _is_integer_field(self, name: str) -> bool:
        kinds = {
            ast.unparse(each.annotation)
            for file in self.files
            if name in file.text.text
            for owner in file.nodes_of(ast.ClassDef)
            for each in owner.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            if each.target.id == name
        }
        return bool(kinds) and kinds <= _INTEGERS

    def functions(self, name: str) -> list[tuple[ParsedPython, FunctionDefinition]]:
        """Its functions with a name."""
        return [(file, each) for file in self.files for each in _functions(file).get(name, ())]

    def classes(self, name: str) -> list[tuple[ParsedPython, ast.ClassDef]]:
        """Its classes with a name."""
        files = self.with_constants
        return [(file, each) for file in files for each in _classes(file).get(name, ())]

    def calls(self, name: str) -> Sequence[tuple[ParsedPython, ast.Call]]:
        """The calls of what has a name."""
        return self.fact(("calls", name), lambda: tuple(self._calls(name)))

    def calls_of(self, name: str, home: ParsedPython) -> list[tuple[ParsedPython, ast.Call]]:
        """The calls of what a file defines in all files, also under another name; not those of
        others with its name, such as a built-in function where a star gives other names.
        """
        return self.fact(("calls of", name, home), lambda: self._calls_of(name, home))

    def _calls_of(self, name: str, home: ParsedPython) -> list[tuple[ParsedPython, ast.Call]]:
        from precision_lint.source.python.syntax_tree import syntax_tree

        mentioning = [*self.mentioning(name)]
        is_function = any(
            isinstance(node, FunctionDefinition) and node.name == name for node in home.tree.body
        )
        found = [
            (file, call)
            for file, call in calls_in(mentioning, name)
            if not (is_function and is_of_object(call, file))
            and (
                file is home
                or not isinstance(call.func, ast.Name)
                or name in syntax_tree(file).names
                or ("import *" in file.text.text and not hasattr(builtins, name))
            )
        ]
        module = home.text.path.stem
        others = {
            row[2] for file in mentioning for row in _renamed(file) if row[:2] == (module, name)
        }
        for other in sorted(others):
            calls = calls_in(self.mentioning(other), other)
            found += [row for row in calls if isinstance(row[1].func, ast.Name)]
        for file in mentioning:
            for other in other_names(file).get(name, ()):
                found += [
                    row for row in calls_in([file], other) if isinstance(row[1].func, ast.Name)
                ]
        return found

    def _calls(self, name: str) -> Iterator[tuple[ParsedPython, ast.Call]]:
        mentioning = (
            file
            for file in self.files
            if file.fact(("mentions", name), partial(contains, file.text.text, name))
        )
        return calls_in(mentioning, name)


def calls_in(files: Iterable[ParsedPython], name: str) -> Iterator[tuple[ParsedPython, ast.Call]]:
    """The calls of what has a name in some files."""
    from precision_lint.source.python.syntax_tree import syntax_tree

    for file in files:
        yield from ((file, call) for call in syntax_tree(file).calls(name))


def is_of_object(call: ast.Call, file: ParsedPython) -> bool:
    """True for a method of a variable that is no module: `model.train()` calls no `train`."""
    from precision_lint.source.python.syntax_tree import syntax_tree

    match call.func:
        case ast.Attribute(value=ast.Name() | ast.Attribute() as owner):
            root = (dotted(owner) or "").partition(".")[0]
            is_module = root in syntax_tree(file).names or "import_module" in file.text.text
            return bool(root) and not is_module
    return False


def keyword_of(call: ast.Call, name: str) -> ast.expr | None:
    """The argument of a call with a name."""
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _what_is_in(path: Path) -> tuple[int, bool, bool]:
    """How long a file is, and whether it says something of settings, and has regions."""
    try:
        content = disk.read(path, disk.ANY_SIZE)
    except OSError:
        return 0, False, False
    has_regions = any(mark in content for mark in _REGIONS)
    is_of_settings = has_regions or any(
        mark in content for marks_of in (MARKERS, marks.PYTHON, _LOADERS) for mark in marks_of
    )
    return len(content), is_of_settings, has_regions


def _has_constants(path: Path) -> bool:
    try:
        return may_have_constants(path, disk.read(path, disk.ANY_SIZE))
    except OSError:
        return False


@fact
def _renamed(file: ParsedPython) -> tuple[tuple[str, str, str], ...]:
    """The last part of the module, the name, and the other name of what a file imports so."""
    return tuple(
        ((node.module or "").rpartition(".")[2], alias.name, alias.asname)
        for node in file.nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is not None and alias.asname != alias.name
    )


@fact
def other_names(file: ParsedPython) -> Mapping[str, list[str]]:
    """The other names of functions and classes, `Task = Forecasting`, by theirs; a name that is
    assigned more than once, or that something else binds, is left out.
    """
    found: dict[str, list[str]] = {}
    bound = Counter(
        node.id
        for node in file.nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    for node in file.nodes:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=other)], value=ast.Name() | ast.Attribute() as one
            ):
                name = last_name(one)
                if bound[other] == 1 and name[:1].isupper() and other != name:
                    found.setdefault(name, []).append(other)
    return found


@fact
def _declared(file: ParsedPython) -> tuple[Declaration, ...]:
    kinds = (Kind.ARGUMENT, Kind.FIELD)
    return tuple(given for given in declared(file) if given.kind in kinds)


@fact
def _functions(file: ParsedPython) -> Mapping[str, list[FunctionDefinition]]:
    found: dict[str, list[FunctionDefinition]] = {}
    for node in file.nodes:
        if isinstance(node, FunctionDefinition):
            found.setdefault(node.name, []).append(node)
    return found


@fact
def _classes(file: ParsedPython) -> Mapping[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}
    for node in file.nodes:
        if isinstance(node, ast.ClassDef):
            found.setdefault(node.name, []).append(node)
    return found


@fact
def _assigned(file: ParsedPython) -> tuple[tuple[str, ast.expr], ...]:
    return tuple(_stores(file))


def _stores(file: ParsedPython) -> Iterator[tuple[str, ast.expr]]:
    for node in file.nodes:
        match node:
            case ast.Attribute(value=ast.Name(id="self"), ctx=ast.Store()):
                pass
            case ast.Attribute() if (dotted(node) or "").startswith("torch."):
                pass  # `torch.backends.cudnn.allow_tf32 = args.allow_tf32`
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node
            case ast.Subscript(slice=ast.Constant(value=str(name)), ctx=ast.Store()):
                yield name, node
            case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), _]):
                yield name, node
