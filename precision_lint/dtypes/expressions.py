"""What an expression can be, given what its variables can be."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from precision_lint.dtypes import sources
from precision_lint.dtypes.calls import Argument, Guard
from precision_lint.dtypes.operators import AUTOCAST_FLOAT32, AUTOCAST_LOWER, RESULT
from precision_lint.dtypes.values import (
    ALIASES,
    BOOL,
    DTYPES,
    FLOAT32,
    FLOATING,
    FOREIGN,
    INT64,
    SOME_DTYPE,
    SOME_TENSOR,
    UNKNOWN,
    Condition,
    Constant,
    Dictionary,
    Dtype,
    Foreign,
    Origin,
    Sequence,
    Symbol,
    Tensor,
    Unknown,
    Value,
    chosen,
    join,
    join_all,
    promote,
    tensor,
)
from precision_lint.finding import Span

_STRING_DTYPES = {**{name: name for name in DTYPES}, "bf16": "bfloat16", "fp16": "float16"}
_STRING_DTYPES |= {"fp32": "float32", "half": "float16", "float": "float32"}
TENSOR_TYPES = {"FloatTensor": FLOAT32, "HalfTensor": "float16", "BFloat16Tensor": "bfloat16"}
TENSOR_TYPES |= {"LongTensor": INT64, "IntTensor": "int32", "DoubleTensor": "float64"}
TENSOR_TYPES |= {"BoolTensor": BOOL, "ByteTensor": "uint8", "Tensor": FLOAT32}
_JOINING = frozenset({"cat", "stack", "hstack", "vstack", "dstack", "concat", "concatenate"})
_PROMOTING = frozenset(
    {"maximum", "minimum", "add", "sub", "mul", "div", "mse_loss", "l1_loss", "smooth_l1_loss"}
)
"""Functions whose result has the promoted dtype of their first two arguments."""
_ITERATING = frozenset({"list", "tuple", "sorted", "reversed", "iter", "set"})
_FUNCTIONAL = ("torch.nn.functional.", "torch.special.", "torch.")
_INTEGRAL = DTYPES - FLOATING
_OF_THE_MODEL = "parameters have the model's dtype"
_OF_THE_OUTPUT = "model outputs have the model's dtype"
_OF_THE_WEIGHTS = "the weights have the checkpoint's dtype"


class Environment(dict[str, Value]):
    """Values by name; attributes and items are kept under their path, `self.scaler`."""

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        super().__init__(values or {})
        self.paths = set(getattr(values, "paths", ()))
        """The keys that are no plain names: few, beside all the others."""

    def copy(self) -> Environment:
        return Environment(self)

    def become(self, other: Environment) -> None:
        """Take over what is known in another environment."""
        if other is not self:
            self.clear()
            self.update(other)
            self.paths = set(other.paths)


class _Evaluate(Protocol):
    def __call__(self, node: ast.expr, env: Environment) -> Value: ...


class Evaluator:
    """Evaluates expressions of one file; `on_call` is told of every call and its facts."""

    def __init__(
        self,
        imports: Mapping[str, str],
        span_of: Callable[[ast.expr], Span],
        on_call: Callable[[ast.Call, str | None, Value, list[Argument], dict[str, Argument]], None],
        call_names: frozenset[str],
    ) -> None:
        self.imports = imports
        self.span_of = span_of
        self.on_call = on_call
        self.call_names = call_names
        self.autocast: list[Value] = []
        """The dtypes of the autocast regions around the current statement, innermost last."""
        self.guards: list[Guard] = []
        """The conditions around the current expression, outermost first."""

    def __call__(self, node: ast.expr | None, env: Environment) -> Value:
        """The value of an expression; calls inside are reported on the way."""
        if node is None:
            return UNKNOWN
        evaluate: _Evaluate | None = getattr(self, f"_{type(node).__name__}", None)
        if evaluate is not None:
            return evaluate(node, env)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self(child, env)
        return UNKNOWN

    # Names, literals, containers

    def _Constant(self, node: ast.Constant, env: Environment) -> Value:
        return Constant(node.value)

    def _Name(self, node: ast.Name, env: Environment) -> Value:
        if node.id in env:
            return env[node.id]
        if node.id in self.imports:
            return self._symbol(self.imports[node.id], node)
        return UNKNOWN

    def _Attribute(self, node: ast.Attribute, env: Environment) -> Value:
        path = dotted(node)
        if path is not None and path in env:
            return env[path]
        owner = self(node.value, env)
        return self._attribute(owner, node)

    def _attribute(self, owner: Value, node: ast.Attribute) -> Value:
        name = node.attr
        match owner:
            case Symbol(name=symbol):
                return self._symbol(f"{symbol}.{name}", node)
            case Foreign():
                return FOREIGN
            case Tensor():
                if name == "dtype":
                    return Dtype(owner.dtypes, owner.chosen, owner.partial, owner.origin)
                if name in {"data", "T", "mT", "H", "mH", "real", "imag"}:
                    return owner
                if name == "grad":
                    return chosen(owner.origin) if owner.partial else owner
                if name in {"shape", "device", "ndim", "is_cuda", "requires_grad", "layout"}:
                    return FOREIGN
            case Unknown() | Dictionary() if name in sources.TOKENS:
                return tensor(INT64)
        if name == "dtype":
            return SOME_DTYPE
        if isinstance(owner, Dictionary):
            return owner.item
        if isinstance(owner, Constant | Sequence | Condition | Dtype):
            return UNKNOWN
        if name in sources.WEIGHTS:
            return chosen(Origin(self.span_of(node), _OF_THE_WEIGHTS))
        if name in sources.OUTPUTS:
            return chosen(Origin(self.span_of(node), _OF_THE_OUTPUT))
        if name in sources.OUTPUT_SEQUENCES:
            return Sequence(chosen(Origin(self.span_of(node), _OF_THE_OUTPUT)))
        return UNKNOWN

    def _symbol(self, name: str, node: ast.expr) -> Value:
        head, _, last = name.rpartition(".")
        if head == "torch" and last in ALIASES:
            origin = Origin(self.span_of(node), f"{ALIASES[last]} is chosen here")
            return Dtype(frozenset({ALIASES[last]}), origin=origin)
        return Symbol(name)

    def _Tuple(self, node: ast.Tuple | ast.List | ast.Set, env: Environment) -> Value:
        if any(isinstance(item, ast.Starred) for item in node.elts):
            return Sequence(join_all([self._spread(item, env) for item in node.elts]))
        items = tuple(self(item, env) for item in node.elts)
        return Sequence(join_all(items), items)

    _List = _Set = _Tuple

    def _spread(self, node: ast.expr, env: Environment) -> Value:
        if isinstance(node, ast.Starred):
            return item_of(self(node.value, env))
        return self(node, env)

    def _Dict(self, node: ast.Dict, env: Environment) -> Value:
        for key in node.keys:
            self(key, env)
        return Dictionary(join_all([self(value, env) for value in node.values]))

    def _comprehension(self, node: ast.ListComp, env: Environment) -> Value:
        return Sequence(self(node.elt, self._inner(node.generators, env)))

    _ListComp = _SetComp = _GeneratorExp = _comprehension

    def _DictComp(self, node: ast.DictComp, env: Environment) -> Value:
        inner = self._inner(node.generators, env)
        self(node.key, inner)
        return Dictionary(self(node.value, inner))

    def _inner(self, generators: list[ast.comprehension], env: Environment) -> Environment:
        inner = env.copy()
        for generator in generators:
            self.bind(generator.target, item_of(self(generator.iter, inner)), inner)
            for condition in generator.ifs:
                self(condition, inner)
        return inner

    def _Lambda(self, node: ast.Lambda, env: Environment) -> Value:
        inner = env.copy()
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            inner[argument.arg] = UNKNOWN
        self(node.body, inner)
        return UNKNOWN

    def _NamedExpr(self, node: ast.NamedExpr, env: Environment) -> Value:
        value = self(node.value, env)
        self.bind(node.target, value, env)
        return value

    def _IfExp(self, node: ast.IfExp, env: Environment) -> Value:
        from precision_lint.dtypes.narrowing import narrowed

        self(node.test, env)
        branches = []
        for branch, holds in ((node.body, True), (node.orelse, False)):
            with self.guarded(node.test, holds):
                branches.append(self(branch, narrowed(self, node.test, env, holds)))
        return join_all(branches)

    @contextmanager
    def guarded(self, test: ast.expr, holds: bool) -> Iterator[None]:
        """What is evaluated inside is evaluated only where `test` holds (or fails)."""
        self.guards.append(Guard(self.span_of(test), holds))
        yield
        self.guards.pop()

    def _Starred(self, node: ast.Starred, env: Environment) -> Value:
        return self(node.value, env)

    def _Await(self, node: ast.Await, env: Environment) -> Value:
        return self(node.value, env)

    # Operators

    def _BinOp(self, node: ast.BinOp, env: Environment) -> Value:
        left, right = self(node.left, env), self(node.right, env)
        return self.operator(left, right, type(node.op))

    def operator(self, left: Value, right: Value, op: type[ast.operator]) -> Value:
        """The value of a binary operator."""
        if op is ast.MatMult and (lower := self._autocast_dtype()) is not None:
            return lower
        match left, right:
            case Tensor(), Tensor():
                return _divided(promote(left, right)) if op is ast.Div else promote(left, right)
            case (Tensor() as operand, other) | (other, Tensor() as operand):
                return _divided(operand) if op is ast.Div else _with_scalar(operand, other)
            case (Foreign(), Foreign() | Constant()) | (Constant(), Foreign()):
                return FOREIGN
            case Sequence(items=None), _:
                return left
        return UNKNOWN

    def _UnaryOp(self, node: ast.UnaryOp, env: Environment) -> Value:
        operand = self(node.operand, env)
        if isinstance(node.op, ast.Not):
            return Condition(self.span_of(node))
        return operand if isinstance(operand, Tensor | Foreign | Constant) else UNKNOWN

    def _Compare(self, node: ast.Compare, env: Environment) -> Value:
        values = [self(operand, env) for operand in (node.left, *node.comparators)]
        is_elementwise = not isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn)
        if is_elementwise and any(isinstance(value, Tensor) for value in values):
            return tensor(BOOL)
        if is_elementwise and any(isinstance(value, Foreign) for value in values):
            return FOREIGN
        return Condition(self.span_of(node))

    def _BoolOp(self, node: ast.BoolOp, env: Environment) -> Value:
        values = [self(value, env) for value in node.values]
        if any(isinstance(value, Condition) for value in values):
            return Condition(self.span_of(node))
        return join_all(values)

    def _Subscript(self, node: ast.Subscript, env: Environment) -> Value:
        path = dotted(node)
        if path is not None and path in env:
            return env[path]
        owner = self(node.value, env)
        index = self(node.slice, env)
        match owner, index:
            case Sequence(items=tuple(items)), Constant(value=int(position)):
                if -len(items) <= position < len(items):
                    return items[position]
                return owner.item
            case Sequence(), _ if isinstance(node.slice, ast.Slice):
                return Sequence(owner.item)
            case ((Sequence() | Dictionary()), _):
                return owner.item
            case ((Tensor() | Foreign()), _):
                return owner
            case Unknown(), Constant(value=str(key)) if key in sources.TOKENS:
                return tensor(INT64)
            case Unknown(), Constant(value=str(key)) if key in sources.OUTPUTS:
                return chosen(Origin(self.span_of(node), _OF_THE_OUTPUT))
        return UNKNOWN

    def _Slice(self, node: ast.Slice, env: Environment) -> Value:
        for part in (node.lower, node.upper, node.step):
            self(part, env)
        return UNKNOWN

    # Calls

    def _Call(self, node: ast.Call, env: Environment) -> Value:
        receiver: Value = UNKNOWN
        function: Value = UNKNOWN
        if isinstance(node.func, ast.Attribute):
            receiver = self(node.func.value, env)
            path = dotted(node.func)
            bound = env.get(path) if path else None
            if bound is not None:
                function = bound
            elif isinstance(receiver, Symbol):
                function = self._symbol(f"{receiver.name}.{node.func.attr}", node.func)
        else:
            function = self(node.func, env)
        arguments = [
            Argument(
                self._spread(argument, env),
                self.span_of(argument),
                isinstance(argument, ast.Starred),
            )
            for argument in node.args
        ]
        keywords = {
            keyword.arg or "**": Argument(
                self(keyword.value, env), self.span_of(keyword.value), keyword.arg is None
            )
            for keyword in node.keywords
        }
        name = function.name if isinstance(function, Symbol) else None
        if callee_name(node) in self.call_names:
            self.on_call(node, name, receiver, arguments, keywords)
        if name is not None:
            return self._function(name, node, arguments, keywords)
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, receiver, arguments, keywords)
        if isinstance(node.func, ast.Name):
            return self._builtin(node.func.id, node, arguments)
        return UNKNOWN

    def _builtin(self, name: str, node: ast.Call, arguments: list[Argument]) -> Value:
        values = [argument.value for argument in arguments]
        match name, values:
            case (("int" | "float" | "len" | "bool" | "str" | "round" | "hash" | "range"), _):
                return FOREIGN
            case "enumerate", [iterable, *_]:
                item = item_of(iterable)
                return Sequence(Sequence(UNKNOWN, (FOREIGN, item)))
            case "zip", _ if values:
                items = tuple(map(item_of, values))
                return Sequence(Sequence(join_all(items), items))
            case _, [iterable, *_] if name in _ITERATING:
                return Sequence(item_of(iterable))
            case (("sum" | "max" | "min"), [iterable]):
                item = item_of(iterable)
                return item if isinstance(item, Tensor) else UNKNOWN
            case "getattr", [Symbol(name="torch"), Constant(value=str(attribute)), *_]:
                return self._symbol(f"torch.{attribute}", node)
            case "getattr", [Symbol(name="torch"), *_]:
                return SOME_DTYPE
        return UNKNOWN

    def _function(
        self,
        name: str,
        node: ast.Call,
        arguments: list[Argument],
        keywords: dict[str, Argument],
    ) -> Value:
        package = name.partition(".")[0]
        if package in sources.FOREIGN_PACKAGES:
            return FOREIGN
        if not name.startswith("torch."):
            return UNKNOWN
        last = name.rpartition(".")[2]
        first = arguments[0].value if arguments else UNKNOWN
        dtype = self._dtype(keywords["dtype"].value) if "dtype" in keywords else None
        if last in TENSOR_TYPES:
            return tensor(TENSOR_TYPES[last])
        if last in {"from_numpy", "frombuffer"}:
            return Tensor(sources.NUMPY_DTYPES)
        if last in {"tensor", "as_tensor", "asarray", "scalar_tensor", "full"}:
            return self._factory(last, arguments, dtype)
        if last in sources.FLOAT_FACTORIES:
            return dtype.of_tensor() if dtype is not None else tensor(FLOAT32)
        if last in sources.INTEGER_FACTORIES:
            return dtype.of_tensor() if dtype is not None else self._arange(last, arguments)
        if last == "where":
            return self._where(arguments)
        if last in _JOINING:
            item = item_of(first)
            return item if isinstance(item, Tensor) else SOME_TENSOR
        if last in {"topk", "sort", "max", "min", "kthvalue", "mode", "cummax"}:
            return self._with_indices(last, first, arguments, keywords)
        if last in _PROMOTING and isinstance(first, Tensor) and len(arguments) > 1:
            second = arguments[1].value
            first = promote(first, second) if isinstance(second, Tensor) else first
        if name.startswith(_FUNCTIONAL) and last in RESULT:
            return self._result(last, first, dtype, self.span_of(node))
        return UNKNOWN

    def _method(
        self,
        func: ast.Attribute,
        receiver: Value,
        arguments: list[Argument],
        keywords: dict[str, Argument],
    ) -> Value:
        name = func.attr
        match receiver:
            case Foreign() | Constant():
                return FOREIGN
            case Dictionary() if name in {"items", "values", "keys", "get", "pop"}:
                return _of_dictionary(receiver, name)
            case Sequence() if name == "pop":
                return receiver.item
            case Sequence() | Dictionary() | Dtype() | Condition():
                return UNKNOWN
        if name in {"numpy", "asnumpy", "tolist", "item", "data_ptr"}:
            return FOREIGN
        is_tensor = isinstance(receiver, Tensor)
        dtype: Dtype | None
        dtype = self._dtype(keywords["dtype"].value) if "dtype" in keywords else None
        if name in {"to", "type", "type_as"} or (
            name == "view" and any(isinstance(given.value, Dtype) for given in arguments)
        ):
            return self._converted(receiver, arguments, dtype)
        if name in {"float", "double", "half", "bfloat16", "long", "int", "short", "byte", "bool"}:
            span = Span(self.span_of(func).end - len(name), self.span_of(func).end)
            return tensor(RESULT[name], origin=Origin(span, f"{RESULT[name]} is chosen here"))
        if name in {"cpu", "cuda", "detach", "contiguous", "clone"} and not arguments:
            return receiver if is_tensor else SOME_TENSOR
        if name in {"max", "min", "sort", "topk", "kthvalue", "mode", "cummax"} and is_tensor:
            operand = Argument(receiver, self.span_of(func.value))
            return self._with_indices(name, receiver, [operand, *arguments], keywords)
        if name in {"parameters", "buffers"} and not is_tensor:
            return Sequence(chosen(Origin(self.span_of(func), _OF_THE_MODEL)))
        if name in {"named_parameters", "named_buffers"}:
            item = chosen(Origin(self.span_of(func), _OF_THE_MODEL))
            return Sequence(Sequence(UNKNOWN, (FOREIGN, item)))
        if name == "state_dict" and not is_tensor:
            # an optimizer's or a scheduler's state dictionary holds other things
            return UNKNOWN
        if not is_tensor:
            if any(key == "return_tensors" for key in keywords):
                return Dictionary(tensor(INT64))
            return UNKNOWN
        if name in {"split", "chunk", "unbind", "tensor_split"}:
            return Sequence(receiver)
        if name in {"new_tensor", "new_zeros", "new_ones", "new_full", "new_empty"} and dtype:
            return dtype.of_tensor()
        plain = name[:-1] if name.endswith("_") and not name.endswith("__") else name
        if plain != name:
            return receiver  # in-place: the dtype stays
        if name in {"add", "sub", "mul", "div", "maximum", "minimum", "true_divide"} and arguments:
            op = ast.Div if name in {"div", "true_divide"} else ast.Add
            return self.operator(receiver, arguments[0].value, op)
        return self._result(name, receiver, dtype, self.span_of(func))

    def _result(self, name: str, operand: Value, dtype: Dtype | None, span: Span) -> Value:
        """The result of an operator of the measured table."""
        if dtype is not None and name in RESULT:
            return dtype.of_tensor()
        lower = self._autocast_dtype()
        if lower is not None and name in AUTOCAST_LOWER:
            return lower
        if lower is not None and name in AUTOCAST_FLOAT32:
            return tensor(FLOAT32)
        source = operand if isinstance(operand, Tensor) else SOME_TENSOR
        match RESULT.get(name):
            case None:
                return SOME_TENSOR if isinstance(operand, Tensor) else UNKNOWN
            case "python":
                return FOREIGN
            case "same":
                return source
            case "sum":
                if source.proved(_INTEGRAL):
                    return tensor(INT64)
                return source
            case "float":
                if source == SOME_TENSOR:
                    return chosen(Origin(span, f"`{name}` keeps the floating dtype of its input"))
                return _divided(source)
            case fixed:
                return tensor(fixed)

    def _converted(self, receiver: Value, arguments: list[Argument], dtype: Dtype | None) -> Value:
        """`x.to(...)`: a dtype wherever it stands; devices keep the dtype."""
        current = receiver if isinstance(receiver, Tensor) else SOME_TENSOR
        if dtype is not None:
            return dtype.of_tensor()
        for argument in arguments:
            match argument.value:
                case Dtype() as given:
                    return given.of_tensor()
                case Symbol(name=name) if name.startswith("torch."):
                    kind = TENSOR_TYPES.get(name.rpartition(".")[2])
                    return tensor(kind) if kind else SOME_TENSOR
                case Tensor() as other:
                    return other
        return current  # a device

    def _factory(self, name: str, arguments: list[Argument], dtype: Dtype | None) -> Value:
        if dtype is not None:
            return dtype.of_tensor()
        position = 1 if name == "full" else 0
        source = arguments[position].value if len(arguments) > position else UNKNOWN
        match source:
            case Tensor():
                return source
            case Constant(value=bool()):
                return tensor(BOOL)
            case Constant(value=int()):
                return tensor(INT64)
            case Constant(value=float()):
                return tensor(FLOAT32)
            case Sequence(item=Tensor() as item):
                return item
            case Sequence(item=Constant(value=int())):
                return tensor(INT64)
        # Python numbers and NumPy arrays: bf16 cannot come from there
        return Tensor(sources.NUMPY_DTYPES)

    def _arange(self, name: str, arguments: list[Argument]) -> Value:
        values = [argument.value for argument in arguments]
        if name != "arange" or all(
            isinstance(value, Constant) and isinstance(value.value, int) for value in values
        ):
            return tensor(INT64)
        return tensor(INT64, FLOAT32)

    def _where(self, arguments: list[Argument]) -> Value:
        values = [argument.value for argument in arguments]
        match values:
            case [_]:
                return Sequence(tensor(INT64))
            case [_, Tensor() as left, Tensor() as right]:
                return promote(left, right)
            case [_, Tensor() as only, other] | [_, other, Tensor() as only]:
                return _with_scalar(only, other)
        return SOME_TENSOR

    def _with_indices(
        self, name: str, operand: Value, arguments: list[Argument], keywords: dict[str, Argument]
    ) -> Value:
        """`max(dim)`, `topk` …: values in the operand's dtype beside int64 indices."""
        source = operand if isinstance(operand, Tensor) else SOME_TENSOR
        if name in {"max", "min"} and len(arguments) < 2 and "dim" not in keywords:
            return source
        if len(arguments) > 1 and isinstance(arguments[1].value, Tensor):
            return promote(source, arguments[1].value)
        return Sequence(UNKNOWN, (source, tensor(INT64)))

    def _autocast_dtype(self) -> Tensor | None:
        """The dtype that autocast gives to matmul and its like; None outside of a known region."""
        match self.autocast[-1] if self.autocast else None:
            case Dtype() as dtype if dtype.dtypes and not dtype.partial:
                return dtype.of_tensor()
        return None

    def _dtype(self, value: Value) -> Dtype:
        match value:
            case Dtype():
                return value
            case Constant(value=str(name)) if name in _STRING_DTYPES:
                return Dtype(frozenset({_STRING_DTYPES[name]}))
        return SOME_DTYPE

    def dtype_of(self, value: Value) -> Dtype:
        """A value read as a dtype: a `torch.dtype` or a string that names one."""
        return self._dtype(value)

    # Binding

    def bind(self, target: ast.expr, value: Value, env: Environment) -> None:
        """Assign a value to a target: names, attributes, tuples, stars, items of a dict."""
        match target:
            case ast.Name(id=name):
                self._forget(name, env)
                env[name] = value
            case ast.Attribute():
                self._bind_path(dotted(target), value, env)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self._unpack(targets, value, env)
            case ast.Starred(value=inner):
                self.bind(inner, Sequence(value), env)
            case ast.Subscript(value=owner):
                path = dotted(owner)
                held = env.get(path) if path else None
                if path and isinstance(held, Dictionary):
                    env[path] = Dictionary(join(held.item, value))
                self._bind_path(dotted(target), value, env)

    def _bind_path(self, path: str | None, value: Value, env: Environment) -> None:
        if path is not None:
            self._forget(path, env)
            env[path] = value
            env.paths.add(path)

    def _unpack(self, targets: list[ast.expr], value: Value, env: Environment) -> None:
        items = value.items if isinstance(value, Sequence) else None
        if items is not None and len(items) == len(targets):
            for target, item in zip(targets, items, strict=True):
                self.bind(target, item, env)
            return
        item = item_of(value) if isinstance(value, Sequence | Tensor | Foreign) else UNKNOWN
        for target in targets:
            self.bind(target, item, env)

    @staticmethod
    def _forget(path: str, env: Environment) -> None:
        """A new object has none of the attributes that were known of the old one."""
        parts = (f"{path}.", f"{path}[")
        for key in [key for key in env.paths if key.startswith(parts)]:
            env.paths.discard(key)
            env.pop(key, None)


def _divided(operand: Tensor) -> Tensor:
    """The result of an operator that makes floats: integers and bools become float32."""
    if not operand.dtypes & _INTEGRAL:
        return operand
    floats = (operand.dtypes & FLOATING) | {FLOAT32}
    return Tensor(floats, operand.chosen, operand.partial, operand.origin)


def _with_scalar(operand: Tensor, scalar: Value) -> Tensor:
    """A tensor beside a Python number, which is weak: it changes the kind, never the width."""
    match scalar:
        case Constant(value=float()):
            return _divided(operand)
        case Constant(value=int(number)) if not isinstance(number, bool):
            return tensor(INT64) if operand.proved(frozenset({BOOL})) else operand
    return operand


def _of_dictionary(owner: Dictionary, name: str) -> Value:
    match name:
        case "items":
            return Sequence(Sequence(UNKNOWN, (FOREIGN, owner.item)))
        case "values":
            return Sequence(owner.item)
        case "keys":
            return Sequence(FOREIGN)
    return owner.item


def item_of(value: Value) -> Value:
    """What iterating over a value yields."""
    match value:
        case Sequence():
            return value.item
        case Tensor() | Foreign():
            return value
        case Dictionary():
            return FOREIGN
    return UNKNOWN


def dotted(node: ast.expr) -> str | None:
    """`self.batch['ids']` for a chain of names and constant keys; None for anything else."""
    match node:
        case ast.Subscript(value=owner, slice=ast.Constant(value=key)):
            path = dotted(owner)
            return None if path is None else f"{path}[{key!r}]"
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=attr):
            path = dotted(owner)
            return None if path is None else f"{path}.{attr}"
    return None


def callee_name(node: ast.Call) -> str:
    """The last component of what is called."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
