"""What `x.name` and `x[key]` can be."""

from __future__ import annotations

import ast
from dataclasses import replace

from precision_lint.facts.dtypes._generated.operators import METHODS
from precision_lint.facts.dtypes.domain.containers import sliced
from precision_lint.facts.dtypes.domain.indexes import bounds_of
from precision_lint.facts.dtypes.domain.lattice import join, join_all
from precision_lint.facts.dtypes.domain.terms import Step, Term
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    NON_TENSOR,
    SOME_DTYPE,
    UNKNOWN,
    Bottom,
    ClassObject,
    Condition,
    Constant,
    Dictionary,
    Dtype,
    FunctionValue,
    Instance,
    LibraryObject,
    Model,
    ModelOutput,
    NonTensor,
    OneOf,
    Sequence,
    Symbol,
    Tensor,
    Unknown,
    Value,
    Variable,
    as_variable,
    caller_chosen,
    clauses_of,
    output_after,
    perhaps_floating,
    tensor,
)
from precision_lint.facts.dtypes.interpreter import iterating, models, parsed_files, record_fields
from precision_lint.facts.dtypes.interpreter.annotations import annotated
from precision_lint.facts.dtypes.interpreter.methods import members_of
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate
from precision_lint.facts.dtypes.operators import array_results, numbers
from precision_lint.facts.dtypes.operators.conversions import configured, is_setting_of_dtype
from precision_lint.facts.dtypes.syntax import sources
from precision_lint.facts.dtypes.syntax.makers import makers
from precision_lint.facts.origin import Choice, Origin, Setting
from precision_lint.model.dtypes import ALIASES, INT64
from precision_lint.source.python.syntax import dotted, parameters, qualified

_SAME = frozenset({"data", "T", "mT", "H", "mH"})
_REAL = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_OF_FORMATS = frozenset({"bool", "int16", "int32", "int64", "complex64", "complex128"})
_PLAIN = frozenset({"shape", "device", "ndim", "is_cuda", "requires_grad", "layout", "itemsize"})


def attribute(evaluator: Evaluate, owner: Value, node: ast.Attribute) -> Value:
    """The value of an attribute of a known kind of object; by its name, of an unknown one."""
    name = node.attr
    match owner:
        case Symbol(name=symbol):
            return named(evaluator, f"{symbol}.{name}", node)
        case NonTensor():
            return owner if name in {"T", "mT"} else NON_TENSOR
        case Bottom():
            return BOTTOM
        case Tensor():
            return _of_tensor(owner, name)
        case ModelOutput():
            if name in _PLAIN:
                return NON_TENSOR
            if name in {"dtype", "data", "T"}:
                return _of_tensor(owner.tensor, name)
            step = Step("attribute", node, module=evaluator.frame.module)
            return models.of_output(owner, name, step)
        case Model(name=None):
            return models.attribute(owner, name, _of_checkpoint(evaluator, node))
        case Model():  # it is made in the code: nothing says that its weights are loaded
            return models.attribute(owner, name, _origin(evaluator, node, models.OF_THE_WEIGHTS))
        case Instance() if name == "__dict__":
            return record_fields.of_object(evaluator.analysis, owner)
        case Instance():
            found = evaluator.analysis.instances.attribute(owner, name)
            if found is None or isinstance(found, NonTensor | Unknown):
                setting = _setting(evaluator, node)  # a field of a record of settings
                if isinstance(found, Unknown) and (left := _left_to_maker(setting)) is not None:
                    if isinstance(left, Dtype):
                        return replace(left, clauses=clauses_of(found))
                    return found
                found = found if setting is None else setting
            return found if found is not None else by_name(evaluator, node)
        case ClassObject():
            found = evaluator.analysis.instances.of_class(owner.definition, name)
            return UNKNOWN if found is None else found
        case OneOf(members=members):
            return join_all([attribute(evaluator, member, node) for member in members])
        case Sequence(items=tuple(items)) if name in {"values", "indices"} and len(items) == 2:
            return items[0] if name == "values" else items[1]  # `x.max(dim=0).indices`
        case Constant() | Dtype() if name == "value":  # a member of an `Enum` class
            return owner
        case Constant() | Sequence() | Condition() | Dtype() | FunctionValue() | Setting():
            return UNKNOWN
        case Dictionary():
            return owner.of(name)
        case LibraryObject(name=numbers.FINFO):
            return numbers.limit(owner, name)
        case Variable():
            step = Step("attribute", node, module=evaluator.frame.module)
            guess = by_name(evaluator, node)
            if isinstance(guess, Tensor | ModelOutput) and _is_number(evaluator, owner, name):
                return owner.then(step)
            left = _left_to_maker(guess)
            return owner.then(step, guess if left is None else left)
    return by_name(evaluator, node)


def _is_number(evaluator: Evaluate, owner: Variable, name: str) -> bool:
    """True for a field that the classes of given objects declare as a number: `weight: float`."""
    declared = (_declared(evaluator, term) for term in owner.terms)
    return all(
        isinstance(each, Instance)
        and isinstance(evaluator.analysis.instances.attribute(each, name), NonTensor)
        for each in declared
    )


def _declared(evaluator: Evaluate, term: Term) -> Value:
    """What its annotation says of a given parameter; unknown for what is taken out of one."""
    definition, arguments = term.root.definition, parameters(term.root.definition.node.args)
    named = [each for each in arguments if each.arg == term.root.name and not term.steps]
    found = (annotated(evaluator.analysis, definition.module, one.annotation, one) for one in named)
    return next(found, UNKNOWN)


def _left_to_maker(guess: Value | None) -> Dtype | Unknown | None:
    """What is known of a field by its default alone, where that is a dtype or names one.

    Who makes the object may give another value. None for what is no such default.
    """
    match guess:
        case Setting(choices=(Choice(of_field="dtype" | "text" as written),)):
            if is_setting_of_dtype(guess):
                return SOME_DTYPE if written == "dtype" else UNKNOWN
    return None


def by_name(evaluator: Evaluate, node: ast.Attribute) -> Value:
    """An attribute of an object that nothing is known of, as the field names such things."""
    name = node.attr
    setting = _setting(evaluator, node)
    if setting is not None:
        return setting
    if name == "dtype":
        owner = (dotted(node.value) or "").rpartition(".")[2]
        if sources.INTEGRAL_NAME.search(owner):
            return SOME_DTYPE
        return Dtype(caller_chosen=True, may_be_other=True)
    if name in sources.TOKENS:
        return tensor(INT64)
    if name in sources.WEIGHTS:
        origin = _of_checkpoint(evaluator, node)
        return caller_chosen(replace(origin, is_guess=_is_made_by_project(evaluator, node)))
    if name in sources.OUTPUTS or sources.FLOAT_NAME.search(name):
        return ModelOutput(perhaps_floating(_origin(evaluator, node, models.OF_THE_OUTPUT)))
    if name in sources.OUTPUT_SEQUENCES:
        return Sequence(caller_chosen(_origin(evaluator, node, models.OF_THE_OUTPUT)))
    return UNKNOWN


def _is_made_by_project(evaluator: Evaluate, node: ast.Attribute) -> bool:
    """True for an attribute of what functions of the project return that could not be followed.

    Nobody else gives the object: its dtype is decided in code that is there, but not understood.
    """
    module = evaluator.frame.module
    calls = makers(node, module.file) or []
    return bool(calls) and all(
        isinstance(evaluator.analysis.names.imported(module, name), FunctionValue)
        for name in (qualified(call.func, module.imports) for call in calls)
    )


def _setting(evaluator: Evaluate, node: ast.expr) -> Setting | None:
    """What the project says of a setting that is read: `cfg.model.dtype`, `cfg["dtype"]`."""
    return evaluator.analysis.configuration.setting(evaluator.frame.module, dotted(node))


def named(evaluator: Evaluate, name: str, node: ast.expr) -> Value:
    """What a qualified name stands for: a dtype of torch, a definition of the project, a symbol."""
    head, _, last = name.rpartition(".")
    if head == "torch" and last in ALIASES:
        dtype = ALIASES[last]
        origin = _origin(evaluator, node, f"{dtype} is chosen here")
        return Dtype(frozenset({dtype}), origin=replace(origin, kind="dtype"))
    if head == "math" and last in numbers.OF_MATH:
        return numbers.OF_MATH[last]
    return evaluator.analysis.names.imported(evaluator.frame.module, name)


def _of_tensor(owner: Tensor, name: str) -> Value:
    if name == "dtype":
        return owner.dtype()
    if name in _SAME:
        return owner
    if name in {"real", "imag"}:
        return replace(owner, dtypes=frozenset(_REAL.get(dtype, dtype) for dtype in owner.dtypes))
    if name == "grad":
        return caller_chosen(owner.origin) if owner.may_be_other else owner
    if name in _PLAIN:
        return NON_TENSOR
    if owner.scalar is None and sources.MODEL_NAME.search(name) and name not in METHODS:
        return Model(owner)  # a layer of a module that was moved
    return UNKNOWN


def item(evaluator: Evaluate, owner: Value, index: Value, node: ast.Subscript) -> Value:
    """The value of `owner[index]`."""
    match owner, index:
        case Bottom(), _:
            return BOTTOM
        case Sequence(items=tuple(items)), Constant(value=int(position)):
            if -len(items) <= position < len(items):
                return items[position]
            return owner.item
        case Sequence(head=head), Constant(value=int(position)) if 0 <= position < len(head):
            return head[position]
        case Sequence(), _ if isinstance(node.slice, ast.Slice):
            return sliced(owner, bounds_of(node.slice))
        case Sequence(), _:
            return owner.item
        case Dictionary(), Constant(value=key):
            return owner.of(key)
        case Dictionary(items=tuple(items)), Setting(choices=choices):
            return _of_setting(owner, dict(items), choices)
        case Dictionary(), _:
            return _under_key(evaluator, owner, index, node)
        case NonTensor(), _:  # what `json.load` gives holds no tensors, but settings
            setting = _setting(evaluator, node) if _is_key(index) else None
            read = setting or parsed_files.under(evaluator, owner, index)
            return array_results.item(owner, index, node.slice) if read is None else read
        case Tensor(), _:
            return replace(owner, scalar=_scalar_of_item(owner, index, node.slice))
        case ModelOutput(), Constant(value=str() | int() as key):
            step = Step("item", node, operand=index, module=evaluator.frame.module)
            if isinstance(key, str):
                return models.of_output(owner, key, step)
            return output_after(owner, step)
        case ModelOutput(tensor=held), _ if _is_of_several_dimensions(node.slice):
            return replace(held, scalar=_scalar_of_item(held, index, node.slice))
        case ModelOutput(), _:
            return owner if _is_position(index, node.slice) else models.as_weights(owner)
        case Instance(), Constant(value=int(position)) if evaluator.analysis.classes.is_record(
            owner.definition
        ):
            values = [value for _, value in owner.fields]
            return values[position] if -len(values) <= position < len(values) else UNKNOWN
        case Instance(), Constant(value=str(key)) if (field := owner.field(key)) is not None:
            return field
        case Instance(), _:
            return iterating.entry(evaluator.analysis, owner, index) or UNKNOWN
        case Model(members=(_, *_) as members), Constant(value=int(position)):
            is_there = -len(members) <= position < len(members)
            return members_of(owner)[position] if is_there else UNKNOWN
        case Model(), _:
            return replace(owner, members=())  # a layer of a Sequential or ModuleList
        case Symbol(name="os.environ"), Constant(value=str(key)):
            return evaluator.analysis.configuration.variable(evaluator.frame.module, key) or UNKNOWN
        case Unknown(), Constant(value=str(key)):
            guess = _by_key(evaluator, key, node)
            return _item_of_variable(evaluator, owner, index, node, guess)
        case Variable(), _:
            return _item_of_variable(evaluator, owner, index, node)
    return UNKNOWN


def _is_key(index: Value) -> bool:
    return isinstance(index, Constant) and isinstance(index.value, str)


def _under_key(evaluator: Evaluate, owner: Dictionary, index: Value, node: ast.Subscript) -> Value:
    """An entry under a key that is no literal: of a table of dtypes the one that callers name."""
    entry = _of_any_key(owner.item)
    if not isinstance(entry, Dtype):
        return entry
    key = as_variable(index)
    if isinstance(key, Variable):
        step = Step("key", node, operand=owner, module=evaluator.frame.module)
        return key.then(step, SOME_DTYPE)
    is_open = evaluator.analysis.is_intraprocedural and isinstance(index, Unknown | Dtype)
    return join(entry, SOME_DTYPE) if is_open else entry


def _of_any_key(entry: Value) -> Value:
    """An entry under a key that is not known: of a table of precisions, one that a run chooses.

    A table with bools and wide integers translates the formats of a file or of another library.
    Which of them occur is not said there: a float among them is a guess.
    """
    match entry:
        case Dtype(origin=Origin() as origin) if entry.dtypes & _OF_FORMATS:
            return replace(entry, origin=replace(origin, is_guess=True))
        case Sequence(item=item, items=items):
            parts = None if items is None else tuple(map(_of_any_key, items))
            return Sequence(_of_any_key(item), parts)
    return entry


def _is_position(index: Value, node: ast.expr) -> bool:
    """True for an index of a tensor or a list: a number, a slice, a mask; not for a key."""
    match index:
        case Tensor(origin=origin):
            return origin is None or origin.kind != "data"
        case Constant() | Sequence():
            return True
    return isinstance(node, ast.Slice)


def _is_of_several_dimensions(node: ast.expr) -> bool:
    """True for `[:, 0]`: of what a model returns, only tensors have such items."""
    return isinstance(node, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.elts)


def _item_of_variable(
    evaluator: Evaluate, owner: Unknown, index: Value, node: ast.Subscript, guess: Value = UNKNOWN
) -> Value:
    if not isinstance(owner, Variable):
        return guess
    name = str(index.value) if isinstance(index, Constant) else ""
    step = Step("item", node, name=name, operand=index, module=evaluator.frame.module)
    return owner.then(step, guess)


def _by_key(evaluator: Evaluate, key: str, node: ast.Subscript) -> Value:
    setting = _setting(evaluator, node)
    if setting is not None:
        return setting
    if key in sources.TOKENS:
        return tensor(INT64)
    if key in sources.OUTPUTS or sources.FLOAT_NAME.search(key):
        return ModelOutput(perhaps_floating(_origin(evaluator, node, models.OF_THE_OUTPUT)))
    return UNKNOWN


def _of_setting(
    owner: Dictionary, items: dict[object, Value], choices: tuple[Choice, ...]
) -> Value:
    """`DTYPES[cfg.precision]`: the entries that the configuration picks, named after its line.

    An option without choices takes any name, so that the table says what there is to choose.
    """
    picked: Value = BOTTOM
    if len(choices) == 1 and choices[0].option:
        picked = _of_any_key(owner.item)
    for choice in choices:
        value = items.get(choice.value)
        if isinstance(value, Dtype):
            value = configured(value, choice)
        picked = join(picked, owner.item if value is None else value)
    return picked


def _scalar_of_item(owner: Tensor, index: Value, node: ast.expr) -> bool | None:
    """Whether an item of a tensor may have no dimension: slices, masks and `None` keep some."""
    if isinstance(node, ast.Slice):
        return False
    match index:
        case Constant(value=None) | Sequence(items=None):
            return False
        case Tensor(dtypes=dtypes, scalar=False) if dtypes and not owner.scalar:
            return False
        case Sequence(items=tuple()) if isinstance(node, ast.Tuple) and any(
            isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is None)
            for part in node.elts
        ):
            return False
    return None


def _origin(evaluator: Evaluate, node: ast.expr, text: str) -> Origin:
    return Origin(evaluator.source, evaluator.span_of(node), text, "caller")


def _of_checkpoint(evaluator: Evaluate, node: ast.expr) -> Origin:
    return replace(_origin(evaluator, node, models.OF_THE_WEIGHTS), kind="weights")
