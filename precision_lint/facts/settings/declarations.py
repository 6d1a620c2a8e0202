"""What Python declares of settings: options of argparse, click, typer and absl, fields of classes.

A declaration gives a default and the other possible values: choices, both states of a switch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from precision_lint.facts.origin import Origin
from precision_lint.facts.settings.given import Declaration, Kind, key_path, normal, witness
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import statements
from precision_lint.source.python.syntax import dotted, last_name, with_defaults

MARKERS = (
    b"add_argument", b".option(", b"typer", b"DEFINE_", b"dataclass", b"BaseModel",
    b"BaseSettings", b"environ", b"set_defaults", b"(Tap", b".Tap)", b"configclass",
    b"configargparse",
)  # fmt: skip
"""What a Python file holds if it declares settings."""

SETTINGS_CLASS = regex(
    r"Config|Cfg|CFG|Arg(?:ument)?s|Option|Opts|Settings|Param(?:eter)?s|H[Pp]arams"
    r"|(?:^|_)(?:config|cfg|args|arguments|options|opts|settings|params|hparams)$"
)
"""Names of classes whose fields are settings, and not the state of some object: `TrainConfig`, and
`train_config`.
"""

_FILLED = ("Arguments", "Args")
"""What the names of classes end in that a parser fills from the command line."""

_IMPLIED = {"store_true": False, "store_false": True}
"""The default of an option that is a switch, where none is given."""
_SINGLE_DASH = regex(r"-[A-Za-z][\w-]+")
"""`-dtype`, which argparse takes like `--dtype`."""
_SWITCHES = frozenset({*_IMPLIED, "BooleanOptionalAction"})
_FIELDS = frozenset({"field", "Field", "ib", "attrib"})
_ATTRS = frozenset({"define", "frozen", "mutable", "s", "attrs"})
_MODELS = frozenset({"BaseModel", "BaseSettings", "Tap"})
"""Base classes of pydantic, and that of typed-argument-parser."""


def declared(file: ParsedPython) -> Iterator[Declaration]:
    """What a Python file declares, in the order of the source."""
    yield from _Reader(file, _constants(file.tree)).module(file.tree)


@frozen
class ProgramOption:
    """An option of a command line: `whole` declares it, `name` is where its name is written.

    `owner` is the class that has it as a field. It `is_parsed` if a parser fills it, as far as the
    name of that class says.
    """

    whole: ast.expr | ast.stmt
    name: ast.expr
    shown: str
    default: ast.expr | None
    owner: str = ""
    is_parsed: bool = True
    choices: tuple[str, ...] = ()
    """The texts that it offers."""

    @property
    def is_constant(self) -> bool:
        """True for a constant of a module."""
        return not (self.is_parsed or self.owner)


def program_options(file: ParsedPython) -> Iterator[ProgramOption]:
    """The options that a file declares, in the order of the source: those of a parser, and the
    fields of classes of settings.
    """
    constants = _constants(file.tree)
    for one in _program_options(file):
        name = dotted(one.default) if one.default is not None else None
        yield replace(one, default=constants.get(name or "", one.default))


def _program_options(file: ParsedPython) -> Iterator[ProgramOption]:
    for node in _statements(file.tree):
        for one in _declarations(node):
            if one.shown.startswith("-"):
                whole = node if isinstance(node, ast.Call) else one.node
                texts = _texts_of(one.offered)
                yield ProgramOption(whole, one.node, one.shown, one.default, choices=texts)
            elif one.owner and isinstance(node, ast.ClassDef):
                found = next((each for each in node.body if _declares(each, one)), node)
                yield ProgramOption(
                    found,
                    one.node,
                    f"--{one.path[-1]}",
                    one.default,
                    one.owner,
                    one.owner.endswith(_FILLED),
                )


def _texts_of(offered: ast.expr | None) -> tuple[str, ...]:
    match offered:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return tuple(filter(None, map(_string, items)))
    return ()


def _declares(statement: ast.stmt, field: _Declaration) -> bool:
    return isinstance(statement, ast.AnnAssign) and statement.target is field.node


def _constants(tree: ast.Module) -> Mapping[str, ast.expr]:
    """The names of a module that are assigned once: `CHOICES = ["bf16", "fp16"]`."""
    found: dict[str, ast.expr] = {}
    again = set()
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                again |= {name} & found.keys()
                found[name] = value
    known = {name: value for name, value in found.items() if name not in again}
    return {**_of_classes(tree), **known}


def _of_classes(tree: ast.Module) -> Mapping[str, ast.expr]:
    """The plain values in the bodies of classes, by the names that code has for them:
    `Config.DTYPE`, and `cls.DTYPE` where one class alone has it.
    """
    found: dict[str, list[ast.expr]] = {}
    for owner in tree.body:
        if isinstance(owner, ast.ClassDef):
            for name, value in _constants(ast.Module(owner.body, [])).items():
                if isinstance(value, ast.Constant):
                    for holder in (owner.name, "cls", "self"):
                        found.setdefault(f"{holder}.{name}", []).append(value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


@frozen
class _Declaration:
    """An option or a field: `node` contains its name, `shown` is how a message writes it."""

    node: ast.expr
    kind: Kind
    path: tuple[str, ...]
    shown: str
    default: ast.expr | None = None
    offered: ast.expr | None = None
    is_switch: bool = False
    implied: bool | None = None
    owner: str = ""


@frozen
class _Reader:
    file: ParsedPython
    constants: Mapping[str, ast.expr]

    def module(self, tree: ast.Module) -> Iterator[Declaration]:
        for node in _statements(tree):
            for declaration in _declarations(node):
                yield from self.given(declaration)
            match node:
                case ast.Assign(targets=[ast.Subscript(value=holder, slice=key)], value=value):
                    yield from self.variable(holder, key, value)
                case ast.Call(
                    func=ast.Attribute(value=holder, attr="setdefault"), args=[key, value]
                ):
                    yield from self.variable(holder, key, value)

    def given(self, what: _Declaration) -> Iterator[Declaration]:
        """The values that a declaration gives, the default first."""
        default = f"the default of `{what.shown}`"
        if what.default is not None:
            for value in self.values(what.default):
                yield self.value(what, value, what.default, default, is_default=True)
        elif what.implied is not None:
            yield self.value(what, what.implied, what.node, default, is_default=True)
        for item in self.items(what.offered) if what.offered is not None else ():
            for value in self.values(item):
                yield self.value(what, value, item, _offer(what.shown, value))
        if what.is_switch:
            for state in (True, False):
                yield self.value(what, state, what.node, _offer(what.shown, state))

    def value(
        self,
        what: _Declaration,
        value: object,
        node: ast.expr,
        text: str,
        *,
        is_default: bool = False,
    ) -> Declaration:
        origin = Origin(
            self.file.text, self.file.span_of(node), text, witness=witness(what.path, value)
        )
        is_option = what.shown.startswith("-")
        flag = key_path(what.shown)[-1] if is_option else what.path[-1]
        option = what.shown if is_option else ""
        switches_to = not (what.is_switch and what.implied)
        return Declaration(
            what.kind, what.path, value, origin, what.owner, flag, option, is_default, switches_to
        )

    def variable(self, holder: ast.expr, key: ast.expr, value: ast.expr) -> Iterator[Declaration]:
        """`os.environ["PRECISION"] = "bf16"`."""
        name = _string(key)
        if name and _word(holder) == "environ":
            for constant in self.values(value):
                origin = Origin(
                    self.file.text,
                    self.file.span_of(value),
                    f"`{name}` is set here",
                    witness=witness((name,), constant),
                )
                yield Declaration(Kind.VARIABLE, (name,), constant, origin)

    def values(self, node: ast.expr) -> Iterator[object]:
        """The plain value of an expression, if it is one: a dtype of torch is its name."""
        match node:
            case ast.Constant(value=str() | bool() | int() | float() as value):
                yield value
            case ast.Attribute(value=ast.Name(id="torch"), attr=name):
                yield name
            case ast.Name() | ast.Attribute(value=ast.Name()) if (
                name := dotted(node) or ""
            ) in self.constants:
                yield from _Reader(self.file, {}).values(self.constants[name])

    def items(self, node: ast.expr) -> Iterable[ast.expr]:
        """The elements of a display, or of a constant of the module that is one."""
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return items
            case ast.Dict(keys=keys):
                return [key for key in keys if key is not None]
            case ast.Call(func=ast.Attribute(value=holder, attr="keys"), args=[]):
                return self.items(holder)
            case ast.Call(func=ast.Name(id="list" | "tuple" | "sorted"), args=[holder]):
                return self.items(holder)
            case ast.Name(id=name) if name in self.constants:
                return _Reader(self.file, {}).items(self.constants[name])
        return ()


def _offer(shown: str, value: object) -> str:
    """What a message says of a value that a run may choose."""
    if not shown.startswith("-"):
        return f"`{shown}` may be {value}"
    return f"with `{shown}`" if value is True else f"with `{shown} {value}`"


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The statements of a file in order, with the calls that they are, assign or are decorated by:
    settings are declared nowhere else, and expressions are most of a tree.
    """
    for node in statements(tree.body):
        yield node
        match node:
            case ast.Expr(value=ast.Call() as call) | ast.Assign(value=ast.Call() as call):
                yield call
        yield from getattr(node, "decorator_list", ())


def _declarations(node: ast.AST) -> Iterator[_Declaration]:
    """What a node declares."""
    match node:
        case ast.Call(func=ast.Attribute(attr="add_argument" | "option")):
            yield from _option(node)
        case ast.Call(
            func=ast.Attribute(attr="add" | "add_arg"),
            args=[ast.Constant(value=str(name)), *_],
            keywords=[_, *_],
        ) if name.startswith("-"):  # other names of it, those of configargparse among them
            yield from _option(node)
        case ast.Call(func=ast.Attribute(attr="set_defaults"), keywords=keywords):
            for keyword in keywords:
                if keyword.arg is not None:
                    path = (keyword.arg,)
                    yield _Declaration(
                        keyword.value, Kind.ARGUMENT, path, keyword.arg, keyword.value
                    )
        case ast.Call(func=ast.Attribute() | ast.Name()):
            yield from _flag(node)
        case ast.ClassDef() if _holds_settings(node):
            yield from _fields(node)
        case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
            yield from _typer_parameters(arguments)


def _option(call: ast.Call) -> Iterator[_Declaration]:
    """`parser.add_argument("--dtype", …)`, `@click.option("--dtype", …)`, also with one dash."""
    names = [name for name in map(_string, call.args) if name]
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    long = [name for name in names if name.startswith("--")]
    long = long or [name for name in names if _SINGLE_DASH.fullmatch(name)]
    plain = [name for name in names if not name.startswith("-")]
    destination = _string(given["dest"]) if "dest" in given else None
    name = destination or next(iter([*plain, *long]), None)
    if name is None:
        return
    on, slash, _ = name.partition("/")  # click's `--bf16/--no-bf16`
    action = _word(given.get("action"))
    yield _Declaration(
        call.args[0] if call.args else call,
        Kind.ARGUMENT,
        key_path(on),
        [*long, name][0].partition("/")[0],
        default=given.get("default"),
        offered=_offered(given, action),
        is_switch=action in _SWITCHES or "is_flag" in given or bool(slash),
        implied=False if "is_flag" in given else _IMPLIED.get(action),
    )


def _offered(given: Mapping[str | None, ast.expr], action: str) -> ast.expr | None:
    """The values that an option can have besides its default, as a display."""
    if action == "store_const" and "const" in given:
        return ast.List([given["const"]], ast.Load())
    return (
        given.get("choices")
        or _choice_type(given.get("type"))
        or _named_by_help(given.get("default"), given.get("help"))
    )


_DTYPE = regex(r"\b(?:bfloat16|bf16|float16|fp16|float32|fp32)\b")
_RESERVING = regex(r"\b(?:not|no|never|only|unless|except|unsupported|instead|deprecated)\b|n't")


def _named_by_help(default: ast.expr | None, text: ast.expr | None) -> ast.expr | None:
    """`help="float32 or bfloat16"`: the dtypes that an option takes, if its default is one.

    One dtype may be named for other reasons, and so may be those of a text with a reservation.
    """
    match default, text:
        case ast.Constant(value=str(first)), ast.Constant(value=str(words)):
            names = dict.fromkeys(_DTYPE.findall(words))
            if _DTYPE.fullmatch(first) and len(names) > 1 and not _RESERVING.search(words):
                items: list[ast.expr] = [
                    ast.copy_location(ast.Constant(name), text) for name in names
                ]
                return ast.List(items, ast.Load())
    return None


def names_of_option(call: ast.Call) -> set[str]:
    """The names that the parameter of `@click.option("-d", "--dtype", "dtype")` can have."""
    names = (name for name in map(_string, call.args) if name)
    return {key_path(name.partition("/")[0])[-1] for name in names}


def _flag(call: ast.Call) -> Iterator[_Declaration]:
    """`flags.DEFINE_enum("dtype", "bf16", ["bf16", "fp32"], "help")`."""
    kind = _word(call.func)
    match call.args:
        case [ast.Constant(value=str(name)) as node, default, *rest] if kind.startswith("DEFINE_"):
            yield _Declaration(
                node,
                Kind.ARGUMENT,
                (normal(name),),
                f"--{name}",
                default=default,
                offered=rest[0] if kind == "DEFINE_enum" and rest else None,
                is_switch=kind in ("DEFINE_bool", "DEFINE_boolean"),
            )


def _fields(owner: ast.ClassDef) -> Iterator[_Declaration]:
    """The fields of a class of settings."""
    for node in owner.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name) as target, annotation=annotation):
                yield _Declaration(
                    target,
                    Kind.FIELD,
                    (name,),
                    f"{owner.name}.{name}",
                    default=_default_of_field(node.value),
                    offered=_literal(annotation) or _choices_of_field(node.value),
                    is_switch=_word(annotation) == "bool",
                    owner=owner.name,
                )


def _typer_parameters(arguments: ast.arguments) -> Iterator[_Declaration]:
    """`def main(dtype: str = typer.Option("bf16"))`, and with `Annotated[str, typer.Option()]`."""
    for parameter, given in with_defaults(arguments):
        option, default = _typer_option(given), given
        if option is not None:
            default, names = next(iter(option.args), None), option.args[1:]
        else:
            option = next(filter(None, map(_typer_option, _metadata(parameter.annotation))), None)
            names = option.args if option is not None else []
        if option is None:
            continue
        long = [name for name in map(_string, names) if name and name.startswith("--")]
        plain = f"--{parameter.arg.replace('_', '-')}"
        yield _Declaration(
            option,
            Kind.ARGUMENT,
            (parameter.arg,),
            next(iter(long), plain).partition("/")[0],
            default=default,
            offered=_literal(parameter.annotation),
            is_switch=any(_word(each) == "bool" for each in _annotated(parameter.annotation)),
        )


def _typer_option(node: ast.expr | None) -> ast.Call | None:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name("typer"), attr="Option" | "Argument")):
            return node
    return None


def _annotated(annotation: ast.expr | None) -> list[ast.expr]:
    """A type and what `Annotated` says of it."""
    match annotation:
        case ast.Subscript(value=value, slice=ast.Tuple(elts=items)) if _word(value) == "Annotated":
            return items
    return [annotation] if annotation is not None else []


def _metadata(annotation: ast.expr | None) -> list[ast.expr]:
    return _annotated(annotation)[1:]


def _holds_settings(node: ast.ClassDef) -> bool:
    """True for a dataclass, an attrs class or a model of pydantic that is named as settings are."""
    decorators = (
        _word(decorator.func if isinstance(decorator, ast.Call) else decorator)
        for decorator in node.decorator_list
    )
    bases = map(_word, node.bases)
    return SETTINGS_CLASS.search(node.name) is not None and (
        any("dataclass" in name or name == "configclass" or name in _ATTRS for name in decorators)
        or any(name in _MODELS or SETTINGS_CLASS.search(name) for name in bases)
    )


def _default_of_field(value: ast.expr | None) -> ast.expr | None:
    """`"bf16"`, `field(default="bf16")`, `Field("bf16")`."""
    match value:
        case ast.Call(func=function, args=args, keywords=keywords) if _word(function) in _FIELDS:
            named = [keyword.value for keyword in keywords if keyword.arg == "default"]
            return next(iter([*named, *args]), None)
    return value


def _choices_of_field(value: ast.expr | None) -> ast.expr | None:
    """`field(metadata={"choices": ["bf16", "fp32"]})`."""
    match value:
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                match keyword:
                    case ast.keyword(arg="metadata", value=ast.Dict(keys=keys, values=values)):
                        for key, choices in zip(keys, values, strict=True):
                            if key is not None and _string(key) == "choices":
                                return choices
    return None


def _choice_type(kind: ast.expr | None) -> ast.expr | None:
    """`type=click.Choice(["bf16", "fp32"])`."""
    match kind:
        case ast.Call(func=function, args=[choices, *_]) if _word(function) == "Choice":
            return choices
    return None


def _literal(annotation: ast.expr | None) -> ast.expr | None:
    """The values of `Literal["bf16", "fp32"]` anywhere in an annotation."""
    for node in walk(annotation) if annotation is not None else ():
        match node:
            case ast.Subscript(value=value, slice=values) if _word(value) == "Literal":
                return values
    return None


def _string(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str(value)):
            return value
    return None


def _word(node: ast.expr | None) -> str:
    """The last component of a dotted name, or the name of an action or a type as a string."""
    return last_name(node) if node is None else _string(node) or last_name(node)
