"""What an annotation says of a value."""

from __future__ import annotations

import ast

from precision_lint.facts.dtypes.domain.lattice import join_all
from precision_lint.facts.dtypes.domain.values import (
    NON_TENSOR,
    SOME_DTYPE,
    SOME_TENSOR,
    UNKNOWN,
    Dictionary,
    Instance,
    Model,
    Sequence,
    Value,
    caller_chosen,
    perhaps_floating,
    tensor,
)
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.operators.conversions import TENSOR_TYPES
from precision_lint.facts.dtypes.syntax.definitions import Class, Module
from precision_lint.facts.dtypes.syntax.sources import (
    FOREIGN_PACKAGES,
    INTEGRAL_NAME,
    MODULE_CLASS,
    SEEN,
)
from precision_lint.facts.origin import Origin
from precision_lint.source.python.syntax import dotted, resolved

BY_THE_CALLER = "the caller chooses its dtype"
_SEQUENCES = frozenset({"List", "list", "Sequence", "Iterable", "Iterator", "Set", "set", "deque"})
_MAPPINGS = frozenset({"Dict", "dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict"})
_NUMBERS = frozenset({"int", "float", "bool", "str", "bytes"})


def annotated(
    analysis: Interprocedural,
    module: Module,
    annotation: ast.expr | None,
    place: ast.expr | ast.arg,
) -> Value:
    """A tensor whose dtype the caller chooses, an array, a container of those; or unknown.

    `torch.Tensor` says nothing of the dtype: masks, indices and complex numbers have it, too.
    """
    match annotation:
        case None:
            return UNKNOWN
        case ast.Constant(value=str(text)):
            try:
                return annotated(analysis, module, ast.parse(text, mode="eval").body, place)
            except (SyntaxError, ValueError):
                return UNKNOWN
        case ast.BinOp(op=ast.BitOr(), left=left, right=ast.Constant(value=None)):
            return annotated(analysis, module, left, place)
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=item):
            return _generic(analysis, module, name, item, place)
        case ast.Name() | ast.Attribute():
            return _of_class(analysis, module, annotation, place)
    return UNKNOWN


def _of_class(
    analysis: Interprocedural,
    module: Module,
    annotation: ast.Name | ast.Attribute,
    place: ast.expr | ast.arg,
) -> Value:
    name = dotted(annotation) or ""
    qualified = resolved(name, module.imports)
    package, _, last = qualified.partition(".")
    if package in FOREIGN_PACKAGES or qualified in _NUMBERS:
        return NON_TENSOR
    origin = Origin(module.file.text, module.file.span_of(place), BY_THE_CALLER, "caller")
    match package, last:
        case "torch", ("Tensor" | "nn.Parameter" | "FloatTensor"):
            # the caller may choose, but not a half dtype, for ids, masks, inputs of ONNX models
            is_plain = INTEGRAL_NAME.search(_name_of(place)) or module.uses_numpy_runtime
            return SOME_TENSOR if is_plain else perhaps_floating(origin)
        case "torch", "dtype":
            return SOME_DTYPE
        case "torch", _ if last in TENSOR_TYPES:
            return tensor(TENSOR_TYPES[last])
    definition = analysis.names.class_named(module, name)
    if isinstance(definition, Class):
        is_mapping = analysis.classes.derives_from(definition, "TypedDict")
        return Dictionary(UNKNOWN) if is_mapping else Instance(definition)
    if not MODULE_CLASS.search(qualified):
        return UNKNOWN
    return Model(caller_chosen(origin), is_known=package in SEEN)


def _name_of(place: ast.expr | ast.arg) -> str:
    match place:
        case ast.arg(arg=name) | ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _generic(
    analysis: Interprocedural, module: Module, name: str, item: ast.expr, place: ast.expr | ast.arg
) -> Value:
    def inner(node: ast.expr) -> Value:
        return annotated(analysis, module, node, place)

    match name, item:
        case "Optional", _:
            return inner(item)
        case (("Tuple" | "tuple"), ast.Tuple(elts=[first, ast.Constant(value=value)])) if (
            value is Ellipsis
        ):
            return Sequence(inner(first))
        case (("Tuple" | "tuple"), ast.Tuple(elts=elements)):
            items = tuple(map(inner, elements))
            return Sequence(join_all(items), items)
        case _, ast.Tuple(elts=[_, value]) if name in _MAPPINGS:
            return Dictionary(inner(value))
        case _, _ if name in _SEQUENCES:
            return Sequence(inner(item))
    return UNKNOWN
