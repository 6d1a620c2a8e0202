"""Whether a dtype that a function fixes leaves it, or meets another one inside.

Most code that computes in float32 casts the result back before it goes on: there is nothing to
interpret. This is a walk over the syntax alone, many times faster than the interpreter. It follows
a fixed dtype through assignments and operators, and answers "yes" wherever it is not sure. What an
object keeps is left out: the interpreter does not know what becomes of it (see `loaded_in_half`).
"""

from __future__ import annotations

import ast
import re

from precision_lint.facts.dtypes._generated.kernels import AGREEING
from precision_lint.facts.dtypes._generated.operators import METHODS
from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted

_FIXED = re.compile(r"torch\.(?:float|float32|double|float64|half|float16)$")
_MAKING = frozenset(
    {"zeros", "ones", "full", "empty", "rand", "randn", "eye", "linspace", "tensor"}
)
"""Functions of torch whose result is float32 if nothing else is asked for."""
_FIXING = frozenset({"float", "double", "half"})
_CASTING = frozenset({"to", "type", "type_as", "bfloat16", "long", "int", "bool", "item", "tolist"})
_DEVICE = re.compile(r"device|cuda|cpu|rank")
_PLAIN = frozenset({"dtype", "shape", "device", "ndim", "size", "dim", "numel"})
_BUILTINS = frozenset({"len", "int", "float", "max", "min", "print", "isinstance", "range", "str"})
_OF_TORCH = ("torch.", "F.", "nn.functional.")


@fact
def fixed_dtypes_escape(file: ParsedPython) -> bool:
    """True if a fixed dtype may leave one of the functions of a file, or meet another one there."""
    functions = (node for node in file.nodes if isinstance(node, ast.FunctionDef))
    return any(_Function().escapes(node.body) for node in functions if node.name != "__init__")


class _Function:
    """The variables of one function that hold a fixed dtype, statement by statement."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._is_left = False

    def escapes(self, body: list[ast.stmt]) -> bool:
        self._block(body)
        return self._is_left

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self._is_left:
                return
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, value)
            case ast.AugAssign(target=target, value=value):
                if self._is_fixed(value) and isinstance(target, ast.Subscript):
                    self._is_left = True
                elif self._is_fixed(value):
                    self._hold(target, True)
            case ast.Return(value=ast.expr() as value):
                self._is_left |= self._is_fixed(value)
            case ast.Expr(value=value):
                self._is_fixed(value)
            case ast.If(test=test, body=body, orelse=orelse):
                self._is_fixed(test)
                before = {*self._held}
                self._block(body)
                after, self._held = self._held, before
                self._block(orelse)
                self._held |= after
            case ast.For(target=target, iter=iterated, body=body, orelse=orelse):
                self._hold(target, self._is_fixed(iterated))
                for _ in range(2):
                    before = {*self._held}
                    self._block(body)
                    self._held |= before
                self._block(orelse)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                pass  # walked by itself
            case ast.With(body=body, items=items):
                for item in items:
                    self._is_fixed(item.context_expr)
                self._block(body)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.stmt):
                        self._statement(child)
                    elif isinstance(child, ast.expr):
                        self._is_fixed(child)
                    elif isinstance(child, ast.ExceptHandler | ast.match_case):
                        self._block(child.body)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                fixed = [self._is_fixed(one) for one in values]
                for one, is_fixed in zip(targets, fixed, strict=True):
                    self._hold(one, is_fixed)
            case ast.Subscript(value=owner), _:
                self._is_left |= self._is_fixed(value) != self._is_fixed(owner)
            case _:
                self._hold(target, self._is_fixed(value))

    def _hold(self, target: ast.expr, is_fixed: bool) -> None:
        match target:
            case ast.Name(id=name):
                (self._held.add if is_fixed else self._held.discard)(name)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self._hold(item, is_fixed)
            case ast.Starred(value=value):
                self._hold(value, is_fixed)
            case ast.Subscript():
                self._is_left |= is_fixed

    def _is_fixed(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self._held
            case ast.Attribute(value=value, attr=name):
                return self._is_fixed(value) and name not in _PLAIN
            case ast.Call():
                return self._call(node)
            case ast.BinOp(left=left, right=right, op=ast.MatMult()):
                return self._agreeing([left, right])
            case ast.Compare():
                self._any(node)
                return False
            case ast.Subscript(value=value, slice=index):
                self._is_fixed(index)
                return self._is_fixed(value)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                for generator in node.generators:
                    self._hold(generator.target, self._is_fixed(generator.iter))
                return self._is_fixed(node.elt)
            case ast.DictComp():
                for generator in node.generators:
                    self._hold(generator.target, self._is_fixed(generator.iter))
                return self._is_fixed(node.value)
            case ast.NamedExpr(target=target, value=value):
                is_fixed = self._is_fixed(value)
                self._hold(target, is_fixed)
                return is_fixed
            case ast.Lambda(body=body):
                self._is_left |= self._is_fixed(body)
                return False
            case ast.Constant() | ast.JoinedStr():
                return False
        return self._any(node)

    def _any(self, node: ast.expr) -> bool:
        children = (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))
        return any([self._is_fixed(one) for one in children])

    def _agreeing(self, operands: list[ast.expr]) -> bool:
        """Operands that need one dtype: all of them are fixed, or none."""
        fixed = [self._is_fixed(one) for one in operands]
        self._is_left |= any(fixed) and not all(fixed)
        return any(fixed)

    def _call(self, node: ast.Call) -> bool:
        name, function = callee_name(node), node.func
        keywords = {each.arg: each.value for each in node.keywords}
        given = [*node.args, *(value for key, value in keywords.items() if key != "dtype")]
        receiver = function.value if isinstance(function, ast.Attribute) else None
        path = dotted(function) or ""
        is_function = path.startswith(_OF_TORCH)
        owner = [] if receiver is None or is_function else [receiver]
        if name in {"to", "type"} and owner:
            return self._cast(owner[0], node, keywords)
        if name in _FIXING and owner and not given:
            self._is_fixed(owner[0])
            return True
        if name in _CASTING:
            self._all_of([*owner, *given])
            return False
        is_known = is_function or (name in METHODS and not path.startswith("self."))
        if is_known and name in AGREEING:
            is_fixed = self._agreeing([*owner, *(one for one in given if _may_be_tensor(one))])
        else:
            is_fixed = self._all_of([*owner, *given] if is_known else given)
            if not is_known:
                self._is_left |= is_fixed and name not in _BUILTINS
                is_fixed = bool(owner) and self._is_fixed(owner[0])
        if "dtype" in keywords and is_known:
            return _names_fixed(keywords["dtype"])
        return is_fixed or (is_function and name in _MAKING and path.startswith("torch."))

    def _cast(self, owner: ast.expr, node: ast.Call, keywords: dict[str | None, ast.expr]) -> bool:
        before = self._is_fixed(owner)
        asked = [*node.args, *(value for key, value in keywords.items() if key == "dtype")]
        if any(map(_names_fixed, asked)):
            return True
        dtypes = [one for one in asked if not _DEVICE.search(ast.unparse(one))]
        return before and not dtypes

    def _all_of(self, nodes: list[ast.expr]) -> bool:
        return any([self._is_fixed(one) for one in nodes])


def _names_fixed(node: ast.expr) -> bool:
    return _FIXED.match(dotted(node) or "") is not None


def _may_be_tensor(node: ast.expr) -> bool:
    return not isinstance(node, ast.Constant | ast.JoinedStr | ast.UnaryOp | ast.Tuple)
