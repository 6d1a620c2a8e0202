"""Which dtype a program chooses where it is started without the options that decide.

`torch.bfloat16 if args.bf16 else torch.float32` is bfloat16 by default where `--bf16` is on by
default. A run without options is one that the program offers, unless a script or a page of the
project gives one of these options something else.
"""

from __future__ import annotations

import ast
import re
from dataclasses import field

from precision_lint.facts.context import PythonFile
from precision_lint.facts.origin import Origin
from precision_lint.facts.project.origin_nodes import origin_node
from precision_lint.facts.settings.choosing import Search
from precision_lint.facts.settings.chosen_expressions import Choosing
from precision_lint.facts.settings.fixed_switches import fills_namespaces, is_written
from precision_lint.facts.settings.option_calls import destination, names_of
from precision_lint.facts.settings.vocabulary import names_bfloat16, names_float16
from precision_lint.model.dtypes import ALIASES, BFLOAT16, FLOAT16
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, last_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree
from precision_lint.source.python.truth import truth

_HOPS = 4
"""Names that are followed from a condition to an option."""


@frozen
class DefaultChoice:
    """A dtype, and the option whose default makes a program choose it."""

    dtype: str
    option: Related


def chosen_by_default(origin: Origin, file: PythonFile) -> DefaultChoice | None:
    """The dtype that the choice at an origin comes to by default; None if that is not known, or if
    no option has a part in it.
    """
    key = (chosen_by_default, origin.source.path, origin.span)
    return file.fact(key, lambda: _chosen_by_default(origin, file))


def _chosen_by_default(origin: Origin, file: PythonFile) -> DefaultChoice | None:
    found = origin_node(origin, file, file.project)
    if found is None:
        return None
    named, module = found
    run = _DefaultRun(file, module, syntax_tree(module))
    if origin.witness is not None:  # the default of an option
        dtype = run.named_by_default(named)
    else:
        chosen = Choosing(run.syntax, run.holds, run.key).chosen(named)
        dtype = None if chosen is None else ALIASES.get(last_name(chosen))
    if dtype is None or not run.deciding:
        return None
    return DefaultChoice(dtype, origin.related if origin.witness else run.deciding[-1])


@frozen
class _DefaultRun:
    """The run of a program without options; `deciding` are those that were asked for."""

    file: PythonFile
    module: ParsedPython
    syntax: SyntaxTree
    deciding: list[Related] = field(default_factory=list)

    def named_by_default(self, default: ast.expr) -> str | None:
        """The dtype that an option names with its default."""
        for parent in self.syntax.within_function(default):
            if isinstance(parent, ast.Call) and callee_name(parent) == "add_argument":
                name = self._default(parent)
                of_name = {BFLOAT16: names_bfloat16, FLOAT16: names_float16}
                return next((dtype for dtype, names in of_name.items() if names(name)), None)
        return None

    def holds(self, test: ast.expr) -> bool | None:
        """Whether a condition holds; None if that is not known."""
        return truth(test, self._part_holds)

    def key(self, table: ast.Dict) -> str | bool | None:
        """The name that is looked up in a table; None if that is not known."""
        match [*Search(self.file, self.file.project).lookups(table, self.module)]:
            case [(name, reader)] if reader is self.module:
                return self._value(name, _HOPS)
        return None

    def _part_holds(self, test: ast.expr) -> bool | None:
        match test:
            case ast.Compare(
                left=left, ops=[(ast.Eq() | ast.NotEq()) as op], comparators=[ast.Constant() as one]
            ):
                value = self._value(left, _HOPS)
                return None if value is None else (value == one.value) is isinstance(op, ast.Eq)
            case ast.Compare(
                left=left,
                ops=[ast.In()],
                comparators=[ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items)],
            ) if all(isinstance(each, ast.Constant) for each in items):
                value = self._value(left, _HOPS)
                names = [each.value for each in items if isinstance(each, ast.Constant)]
                return None if value is None else value in names
        value = self._value(test, _HOPS)
        return value if isinstance(value, bool) else None

    def _value(self, node: ast.expr, hops: int) -> str | bool | None:
        """The default of the option that an expression reads: of a switch, whether it is on."""
        match node:
            case ast.Name() if hops:
                held = binding(node, self.syntax)
                if isinstance(held, list) and len(held) == 1:
                    return self._value(held[0], hops - 1)
            case ast.Attribute(value=ast.Name(), attr=name):
                calls = self.syntax.calls("add_argument")
                options = [each for each in calls if destination(each) == name]
                if len(options) == 1 and not is_written(name, self.syntax):
                    return self._default(options[0])
        return None

    def _default(self, call: ast.Call) -> str | bool | None:
        option = _option(call)
        if option is None or fills_namespaces(self.syntax) or self._is_given_otherwise(option):
            return None
        said = (
            f"is `{option.default}` by default"
            if isinstance(option.default, str)
            else (f"is {'on' if option.default else 'off'} by default")
        )
        message = f"`{option.names[-1]}` {said}"
        if isinstance(option.default, str) or option.default:
            place = self.module.text.place(self.module.span_of(call))
            self.deciding.append(Related(place, message))
        return option.default

    def _is_given_otherwise(self, option: _Option) -> bool:
        """True if a script or a page gives an option something else than its default."""
        project = self.file.project
        pattern = option.otherwise.encode()
        return project.other_file_matches(pattern) or project.page_matches(pattern)


@frozen
class _Option:
    """An option of argparse; `otherwise` is how a command gives it another value."""

    names: tuple[str, ...]
    default: str | bool
    otherwise: str


def _option(call: ast.Call) -> _Option | None:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    names = tuple(names_of(call))
    if None in given or not names or not names[0].startswith("-") or "nargs" in given:
        return None
    word = "|".join(re.escape(name).replace("_", "[-_]") for name in names)
    bare = "|".join(re.escape(name.lstrip("-")).replace("_", "[-_]") for name in names)
    default = given.get("default")
    held = default.value if isinstance(default, ast.Constant) else None
    if default is not None and not isinstance(held, str | bool):
        return None
    alone = rf"(?<![\w-])(?:{word})(?![\w-])"
    match given.get("action"):
        case ast.Constant(value="store_true"):
            return _Option(names, held is True, alone if held is not True else r"(?!)")
        case ast.Constant(value="store_false"):
            return _Option(names, held is not False, alone if held is not False else r"(?!)")
        case ast.Attribute(attr="BooleanOptionalAction") if isinstance(held, bool):
            negated = rf"(?<![\w-])--no-(?:{bare})(?![\w-])"
            return _Option(names, held, negated if held else alone)
        case None if isinstance(held, str) or (isinstance(held, bool) and "type" in given):
            value = re.escape(str(held))
            return _Option(names, held, rf"(?<![\w-])(?:{word})[ =]+[\"']?(?!{value}\b)[\w$]")
    return None
