"""Arguments of trainers that a parser makes of a command line.

`HfArgumentParser((ModelArguments, TrainingArguments)).parse_args_into_dataclasses()`: an argument
is what the words of a run give, or the default of the field.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from precision_lint.facts.amp.plain_runs import PlainRun
from precision_lint.facts.context import PythonFile
from precision_lint.facts.settings.default_numbers import LIMIT, may_be_larger
from precision_lint.facts.settings.fixed_switches import is_written
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import arguments_of, binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted
from precision_lint.source.python.syntax_tree import syntax_tree

_PARSERS = frozenset({"HfArgumentParser", "TrlParser", "H4ArgumentParser"})
_PARSING = frozenset({"parse_args_into_dataclasses", "parse_args_and_config"})
_PACKAGES = frozenset({"transformers", "trl"})
_DECISIVE = frozenset({"learning_rate", "optim", "fp16", "bf16"})
"""The fields that are asked for."""
_MOST_HOPS = 4

UNKNOWN = object()
"""Stands for a value that only run time knows."""


@frozen(eq=False)
class ParsedArguments:
    """The class of a library that a parser fills, and the defaults of a class that extends it.

    `words` are those that the code itself gives to the parser, None if it reads the command line.
    """

    library: str
    defaults: Mapping[str, ast.expr]
    words: tuple[str, ...] | None

    def value(self, name: str, run: PlainRun | None) -> object:
        """What an argument is in a run; None if nothing is given but the library's default."""
        given: list[object] = []
        if self.words is not None:
            given += self._pairs(name)
        elif run is not None and (option := run.environment.words.get(name)) is not None:
            given.append(UNKNOWN if option.value is None else option.value)
        if given:
            return given[-1]
        match self.defaults.get(name):
            case None:
                return None
            case ast.Constant() as default:
                return default.value
        return UNKNOWN

    def _pairs(self, name: str) -> Iterator[object]:
        assert self.words is not None
        for index, word in enumerate(self.words):
            option, is_joined, value = word.partition("=")
            if option.lstrip("-").replace("-", "_") == name and option.startswith("--"):
                following = self.words[index + 1 : index + 2]
                is_bare = not following or following[0].startswith("--")
                yield value if is_joined else True if is_bare else following[0]


def parsed_default(node: ast.expr | None, file: PythonFile) -> float | None:
    """The number below 1e-3 that a field of parsed arguments (`training_args.learning_rate`) is by
    default; None if the project's commands or files may give it a larger one.
    """
    if not isinstance(node, ast.Attribute) or is_written(node.attr, syntax_tree(file)):
        return None
    parsed = parsed_arguments(node.value, file, None)
    if parsed is None or parsed.words is not None:
        return None
    match parsed.value(node.attr, None):
        case float(number) if number < LIMIT:
            words = [node.attr, f"--{node.attr}", f"--{node.attr.replace('_', '-')}"]
            return None if may_be_larger(words, file) else number
    return None


def parsed_arguments(
    node: ast.expr | None, file: PythonFile, libraries: Sequence[str] | None
) -> ParsedArguments | None:
    """The arguments that a parser of the file makes, which an expression gives to a trainer: those
    of a class of libraries, or else of any class.
    """
    made = _parsed(node, file, _MOST_HOPS)
    if made is None:
        return None
    call, index = made
    filled = _filled(call, file)
    if filled is None or not -len(filled) <= index < len(filled):
        return None
    of_class = _class(filled[index], file, file, libraries, _MOST_HOPS)
    if of_class is None or _sets_one(file):
        return None
    library, fields = of_class
    match call.args[:1] or [one.value for one in call.keywords if one.arg == "args"]:
        case []:
            return ParsedArguments(library, fields, None)
        case [ast.List(elts=items)] if all(isinstance(one, ast.Constant) for one in items):
            words = tuple(str(one.value) for one in items if isinstance(one, ast.Constant))
            return ParsedArguments(library, fields, words)
    return None


def _parsed(node: ast.expr | None, file: PythonFile, hops: int) -> tuple[ast.Call, int] | None:
    """The call that parses, and which of its results a name holds."""
    syntax = syntax_tree(file)
    if not isinstance(node, ast.Name) or hops == 0:
        return None
    held = binding(node, syntax)
    if isinstance(held, ast.arg):
        given = [value for _, value in arguments_of(held, syntax)]
        if file.project.users(file.text.path):
            return None
        calls = [_parsed(value, file, hops - 1) for value in given]
        return calls[0] if len(calls) == 1 else None
    if isinstance(held, list) and len(held) == 1:
        match held[0]:
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=int(index))):
                return (call, index) if callee_name(call) in _PARSING else None
        return _parsed(held[0], file, hops - 1)
    found = [*_unpacked(node, file)]
    return found[0] if len({index for _, index in found}) == 1 else None


def _unpacked(node: ast.Name, file: PythonFile) -> Iterator[tuple[ast.Call, int]]:
    """Where a name is one of the results of a parser of words; others may read a file."""
    syntax = syntax_tree(file)
    function = syntax.function(node)
    stores = [] if function is None else syntax.stores(function, node.id)
    for store in stores or syntax.stores(syntax.tree, node.id):
        target = syntax.parent(store)
        statement = syntax.parent(target) if isinstance(target, ast.Tuple) else None
        match statement:
            case ast.Assign(value=ast.Call() as call) if isinstance(target, ast.Tuple):
                names = target.elts
                if callee_name(call) in _PARSING and not any(
                    isinstance(one, ast.Starred) for one in names
                ):
                    yield call, names.index(store)


def _filled(call: ast.Call, file: PythonFile) -> list[ast.expr] | None:
    """The classes that the parser of a call fills."""
    parser = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(parser, ast.Name):
        held = binding(parser, syntax_tree(file))
        parser = held[0] if isinstance(held, list) and len(held) == 1 else None
    match parser:
        case ast.Call(args=[given, *_]) if callee_name(parser) in _PARSERS:
            pass
        case ast.Call(keywords=[ast.keyword(arg="dataclass_types", value=given), *_]) if (
            callee_name(parser) in _PARSERS
        ):
            pass
        case _:
            return None
    return list(given.elts) if isinstance(given, ast.Tuple | ast.List) else [given]


def _class(
    node: ast.expr,
    file: ParsedPython,
    asking: PythonFile,
    libraries: Sequence[str] | None,
    hops: int,
) -> tuple[str, Mapping[str, ast.expr]] | None:
    """The class of a library that a class is or extends, and the fields that are set on the way."""
    path = dotted(node)
    if not path or hops == 0:
        return None
    for statement in file.tree.body:
        if isinstance(statement, ast.ClassDef) and statement.name == path:
            return _extended(statement, file, asking, libraries, hops)
    name, _, rest = path.partition(".")
    full = ".".join(filter(None, [syntax_tree(file).names.get(name, ""), rest]))
    if full.partition(".")[0] in _PACKAGES:
        library = full.rpartition(".")[2]
        return (library, {}) if libraries is None or library in libraries else None
    module, _, own = full.rpartition(".")
    home = asking.project.locate(file.text.path, module) if module else None
    other = asking.project.module(home) if home is not None else None
    if other is None or other is file:
        return None
    return _class(ast.Name(own), other, asking, libraries, hops - 1)


def _extended(
    owner: ast.ClassDef,
    file: ParsedPython,
    asking: PythonFile,
    libraries: Sequence[str] | None,
    hops: int,
) -> tuple[str, Mapping[str, ast.expr]] | None:
    bases = (
        _class(base, file, asking, libraries, hops - 1)
        for base in owner.bases
        if dotted(base) != owner.name
    )
    plain: tuple[str, Mapping[str, ast.expr]] | None = ("", {}) if libraries is None else None
    found = next((base for base in bases if base is not None), plain)
    if found is None or _sets_itself(owner, None if libraries is None else _DECISIVE):
        return None
    fields = {
        statement.target.id: _default(statement.value)
        for statement in owner.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and statement.value is not None
    }
    return found[0], {**found[1], **fields}


def _default(value: ast.expr) -> ast.expr:
    match value:
        case ast.Call(keywords=keywords) if callee_name(value) == "field":
            return next((one.value for one in keywords if one.arg == "default"), value)
    return value


def _sets_itself(owner: ast.ClassDef, names: frozenset[str] | None) -> bool:
    """True for a class whose methods set one of the fields, or an attribute at all."""
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and (names is None or node.attr in names)
        for node in ast.walk(owner)
    )


def _sets_one(file: PythonFile) -> bool:
    """True if the file sets one of the arguments after they were parsed."""
    return any(
        isinstance(each, ast.Attribute)
        and isinstance(each.ctx, ast.Store)
        and each.attr in _DECISIVE
        for each in file.nodes
    )
