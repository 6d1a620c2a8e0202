"""Evidence that a project uses a half dtype, from its configuration and its code.

Files are parsed in the order of how clear their evidence is for a reader, until one has it.
Comments, docstrings and strings that contain more than the name of a dtype are not evidence.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from precision_lint.facts.dtypes.syntax.sources import MODULE_NAME
from precision_lint.facts.settings.files import config_settings
from precision_lint.facts.settings.given import Declaration, read_text
from precision_lint.facts.settings.vocabulary import (
    names_bfloat16,
    names_float16,
    names_precision,
    switches_bfloat16,
    switches_float16,
)
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.project import disk
from precision_lint.project.discovery import kind_of
from precision_lint.source.python.nodes import children
from precision_lint.source.python.parse import ParsedPython, ReadPython
from precision_lint.source.python.syntax import dotted, last_name
from precision_lint.source.text.text import SourceText


@frozen
class Half:
    """The names of a half dtype.

    `mentions`: bytes without which a file does not mention it. `sets`: a pattern without which a
    configuration file is not worth parsing (most files that only mention the dtype are data).
    `attributes`: its names in torch. `calls`: methods that are only called to use it.
    """

    mentions: tuple[bytes, ...]
    sets: re.Pattern[str] | None
    attributes: frozenset[str]
    calls: frozenset[str]
    names: Callable[[object], bool]
    switches: Callable[[str], bool]


BFLOAT16 = Half(
    (b"bfloat16", b"bf16", b"BF16", b"BFLOAT16"),
    regex(
        r"""(?:bf16|bfloat16)["']?\s*[:=] | --[\w.-]{0,64}(?:bf16|bfloat16)
          | [:=\s\[,]["']?(?:torch\.|amp_|mixed_|pure_)?(?:bf16|bfloat16)""",
        re.VERBOSE | re.IGNORECASE,
    ),
    frozenset({"bfloat16"}),
    frozenset(),
    names_bfloat16,
    switches_bfloat16,
)
FLOAT16 = Half(
    (b"float16", b"fp16", b"FP16", b".half()", b"autocast", b"GradScaler", b"use_amp"),
    None,  # a configuration with float16 has chosen not to use bfloat16
    frozenset({"float16", "half"}),
    frozenset({"autocast", "GradScaler"}),
    names_float16,
    switches_float16,
)
"""float16, and autocast, whose default dtype it is."""

ENABLED = "bfloat16 is enabled here"
STORED = "tensors are made bfloat16 here"
STORED_WEIGHTS = "weights are made bfloat16 here"
"""What a finding says of places that show that checkpoints of a program can hold bfloat16."""

_B, _F = "b", "f"
_ON = frozenset({"true", "yes", "1"})
_AUTO = "auto"
_AUTOCAST = regex(r"(?:^|_)(?:amp|mixed|autocast)(?:_|$)|mixed_precision")
_MIXED = regex(r"(?:^|[_-])(?:amp|mixed)(?:[_-]|$)", re.IGNORECASE)
"""Values that name a mode of computation: `bf16-mixed`, `amp_bf16`."""
_OTHER_FRAMEWORKS = frozenset({"tf", "tensorflow", "keras", "jax", "jnp"})
_TESTING = frozenset({"hasattr", "isinstance", "getattr"})
_COMPUTING = regex(
    r"autocast|mixed_?precision|Trainer|TrainingArg|Accelerator|Fabric|Strategy|Plugin|custom_fwd",
    re.IGNORECASE,
)
"""Names of calls that are given the dtype of computations: weights stay in float32."""
_LOADING = regex(
    r"from_(?:pretrained|config|single_file)|set_default_dtype|load|model|pipe(?:line)?(?:_|$)"
)
"""Names of functions that load or make modules, or set the dtype in which modules are made."""
_OPTIONS = frozenset({"add_argument", "option"})
_OF_AN_OPTION = frozenset({"default", "choices", "type"})


@frozen
class Use:
    """A place that names the dtype, and the name of the setting that it sets, if any.

    A weak use only mentions the dtype: a comparison, a table of dtypes, a list of choices. One is
    `stored` that gives tensors the dtype; autocast, mixed precision and switches such as
    `bf16=True` compute in it, and weights stay in float32. One gives it to a `module` that is named
    as one, or that is made or loaded there.
    """

    span: Span
    setting: str
    is_weak: bool = False
    stored: bool = True
    module: bool = False


def mentioned(content: bytes) -> str:
    """A letter for each half dtype that some bytes mention; other files are not decoded."""
    halves = ((_B, BFLOAT16), (_F, FLOAT16))
    return "".join(
        letter for letter, half in halves if any(word in content for word in half.mentions)
    )


def mentions(record: str, half: Half) -> bool:
    """True if the bytes of which that was said mention the dtype."""
    return (_B if half is BFLOAT16 else _F) in record.partition(" ")[0]


def find(
    paths: Iterable[Path],
    half: Half,
    message: str,
    read_python: ReadPython,
    accepts: Callable[[Use], bool],
) -> Related | None:
    """The first use that is not weak, or else the first one, of those that count."""
    weak: Related | None = None
    for path in paths:
        with suppress(RecursionError):  # the file is reported when it is linted
            for text, use in _uses(path, half, read_python):
                if not accepts(use):
                    continue
                found = Related(text.place(use.span), message)
                if not use.is_weak:
                    return found
                weak = weak or found
    return weak


def is_used_in(file: ParsedPython, *halves: Half) -> bool:
    """True if a Python file itself names one of the half dtypes, or autocast."""
    wanted = halves or (BFLOAT16, FLOAT16)
    return any(use for half in wanted for use in _Code(file, half).uses(file.tree))


def stored_in(file: ParsedPython) -> Related | None:
    """Where a Python file itself gives tensors bfloat16."""
    uses = _Code(file, BFLOAT16).uses(file.tree)
    use = next(filter(is_stored, uses), None)
    return None if use is None else Related(file.text.place(use.span), STORED)


# Which uses count


def is_any(use: Use) -> bool:
    return True


def is_enabled(use: Use) -> bool:
    """Something computes in the dtype, or has it."""
    return not use.is_weak


def is_stored(use: Use) -> bool:
    """Tensors have the dtype."""
    return use.stored and not use.is_weak


def is_of_weights(use: Use) -> bool:
    """True for a setting that gives the dtype of weights, not of autocast: `backbone_dtype`."""
    return use.setting.lower().endswith("dtype") and _AUTOCAST.search(use.setting) is None


def is_of_stored_weights(use: Use) -> bool:
    """Modules have the dtype: other tensors of a program say nothing of its weights.

    Nor does what quantized weights are computed in, `bnb_4bit_compute_dtype`.
    """
    is_computed_in = "compute" in use.setting.lower()
    return is_stored(use) and not is_computed_in and (use.module or is_of_weights(use))


ACCEPTED: Mapping[str, tuple[str, Callable[[Use], bool]]] = {
    "enabled": (ENABLED, is_enabled),
    "stored here": (STORED, is_stored),
    "stored weights": (STORED_WEIGHTS, is_of_stored_weights),
}
"""What a finding says of the uses that count for a question."""


def _uses(path: Path, half: Half, read_python: ReadPython) -> Iterator[tuple[SourceText, Use]]:
    if kind_of(path) == "python":
        if (python := read_python(path, disk.LARGEST_SETTINGS)) is not None:
            for use in _Code(python, half).uses(python.tree):
                yield python.text, use
        return
    text = read_text(path)
    if text is not None and half.sets is not None and half.sets.search(text.text):
        for given in config_settings(text):
            if (found := _use_in_config(given, half)) is not None:
                yield text, found


def _use_in_config(given: Declaration, half: Half) -> Use | None:
    if half.names(given.value):
        name = given.path[-1] if given.path else ""
        stored = _AUTOCAST.search(name) is None and _MIXED.search(str(given.value)) is None
        return Use(given.origin.span, name, stored=stored)
    # DeepSpeed and Megatron: `"bf16": {"enabled": true}`
    path = given.path[:-1] if given.path[-1:] == ("enabled",) else given.path
    value = str(given.value).lower()
    if not path or not half.switches(path[-1]) or value not in {*_ON, _AUTO}:
        return None
    return Use(given.origin.span, path[-1], is_weak=value == _AUTO, stored=False)


@frozen
class _Around:
    """What is known of a node from those around it: see `Use`."""

    setting: str = ""
    is_weak: bool = False
    stored: bool = True
    module: bool = False

    def named(self, name: str) -> _Around:
        """What receives the value of the node has a name."""
        return replace(self, setting=name, stored=self.stored and not _AUTOCAST.search(name))


_NOTHING_AROUND = _Around()


class _Code:
    """The uses in a Python file, in the order of the source."""

    def __init__(self, file: ParsedPython, half: Half) -> None:
        self.file = file
        self.half = half

    def uses(self, node: ast.AST, around: _Around = _NOTHING_AROUND) -> Iterator[Use]:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.JoinedStr():
                return  # prose
            case ast.Name(id="half"):
                return  # of something else: `half = x.shape[-1] // 2`
            case ast.Attribute(value=ast.Name(id="torch"), attr=name) | ast.Name(id=name) if (
                name in self.half.attributes
            ):
                yield self.use(node, around)
                return
            case ast.Constant(value=str(value)):
                if self.half.names(value):
                    stored = around.stored and _MIXED.search(value) is None
                    yield self.use(node, replace(around, stored=stored))
                return
            case ast.Call(func=function) if _package(function) in _OTHER_FRAMEWORKS:
                return
            case ast.Call(func=ast.Attribute(attr=name) as method, args=[], keywords=[]) if (
                name in self.half.attributes
            ):
                yield self.use(node, replace(around, module=_is_module(method.value)))
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if (
                name in self.half.calls
            ):
                yield self.use(node, around)
            case ast.Call(func=ast.Name(id=name)) if name in _TESTING:
                around = replace(around, is_weak=True)
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(str(option)), *_]) if (
                name in _OPTIONS
            ):
                around = around.named(option)
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if _COMPUTING.search(
                name
            ):
                around = replace(around, stored=False)
            case ast.Call(func=ast.Attribute(attr="to") as method):
                yield from self.uses(method, replace(around, module=False))
                given = replace(around, module=_is_module(method.value))
                for each in (*node.args, *node.keywords):
                    yield from self.uses(each, given)
                return
            case ast.Call(func=function):
                is_model = _makes_module(last_name(function)) and not _is_layer(function)
                around = replace(around, module=is_model)
            case ast.keyword(arg="dtype", value=value):  # of any function; most create a tensor
                yield from self.uses(value, replace(around, setting=""))
                return
            case ast.Compare() | ast.Assert() | ast.Subscript() | ast.Raise():
                around = replace(around, is_weak=True)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                is_list = _is_table(items) or _are_names(items)
                around = replace(around, is_weak=around.is_weak or is_list)
            case ast.Dict(keys=keys, values=values):
                yield from self.dictionary(keys, values, around)
                return
            case ast.keyword(arg=str(name), value=value):
                of_option = name in _OF_AN_OPTION and around.setting
                yield from self.bound(around.setting if of_option else name, value, around)
                return
            case ast.Assign(targets=[target], value=value):
                yield from self.bound(_name(target), value, around)
                return
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from self.bound(_name(target), value, around)
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                around = replace(around, setting="")
        for child in children(node):
            yield from self.uses(child, around)

    def dictionary(
        self, keys: list[ast.expr | None], values: list[ast.expr], around: _Around
    ) -> Iterator[Use]:
        """A table that lists several dtypes chooses none; other dicts assign values to keys."""
        is_table = _is_table([key for key in keys if key is not None]) or _is_table(values)
        inside = replace(around, setting="", is_weak=True) if is_table else around
        for key, value in zip(keys, values, strict=True):
            match key:
                case ast.Constant(value=str(name)) if not is_table:
                    yield from self.bound(name, value, around)
                case _:
                    yield from self.uses(value, inside)

    def bound(self, name: str, value: ast.expr, around: _Around) -> Iterator[Use]:
        """A value under its name."""
        named = around.named(name)
        match value:
            case ast.Constant(value=True) if self.half.switches(name):
                yield self.use(value, replace(named, stored=False))
            case _:
                yield from self.uses(value, named)

    def use(self, node: ast.expr, around: _Around) -> Use:
        span = self.file.span_of(node)
        return Use(span, around.setting, around.is_weak, around.stored, around.module)


def _package(function: ast.expr) -> str:
    return (dotted(function) or "").partition(".")[0]


def _is_module(node: ast.expr) -> bool:
    """True for an expression that is named as a module is, or makes one: `model`, `Net(8)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="to" | "cuda" | "cpu" | "eval")):
            return _is_module(owner)
        case ast.Call(func=function):
            return _makes_module(last_name(function))
        case ast.Name(id="self"):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return MODULE_NAME.search(name.lower()) is not None
        case ast.Subscript(value=value):
            return _is_module(value)
    return False


def _makes_module(callee: str) -> bool:
    """True for names of classes, and of functions that load or make a model."""
    is_class = callee[:1].isupper() and not callee.endswith("Tensor")
    return is_class or _LOADING.search(callee) is not None


def _is_layer(function: ast.expr) -> bool:
    """True for a class of `torch.nn`: a new layer says nothing of models that are loaded."""
    match function:
        case ast.Attribute(value=ast.Name(id="nn") | ast.Attribute(attr="nn")):
            return True
    return False


def _is_table(items: list[ast.expr]) -> bool:
    """True if more than one item names a dtype."""
    return sum(map(_is_dtype, items)) > 1


def _are_names(items: list[ast.expr]) -> bool:
    """True for several strings: a list of what can be chosen."""
    return len(items) > 1 and all(
        isinstance(item, ast.Constant) and isinstance(item.value, str) for item in items
    )


def _is_dtype(item: ast.expr) -> bool:
    match item:
        case ast.Constant(value=value):
            return names_precision(value)
        case ast.Attribute(value=ast.Name(id="torch"), attr=name):
            return names_precision(name)
    return False


def _name(target: ast.expr) -> str:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return ""
