"""Whether a dtype that the code of a file fixes may meet one that it does not fix.

Most code that computes in float32 casts the result back before it goes on: there is nothing to
interpret. This is a walk over the syntax alone, many times faster than the interpreter. It follows
a fixed dtype through assignments and operators, into the functions of the file and out of them,
and answers "yes" wherever it is not sure. What a function returns for something fixed is
distinguished from what it returns otherwise. What an object keeps is left out: the interpreter
does not know what becomes of it (see `loaded_in_half`). So is a tensor without dimensions, which
decides no dtype.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain

from precision_lint.facts.dtypes._generated.kernels import AGREEING
from precision_lint.facts.dtypes._generated.operators import METHODS
from precision_lint.facts.dtypes.functions_of_file import (
    WHOLE,
    FunctionsOfFile,
    Imported,
    Reachable,
)
from precision_lint.facts.dtypes.syntax.item_writes import is_dictionary, may_be_indexed_write
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import children, walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import own_statements
from precision_lint.source.python.syntax import callee_name, dotted
from precision_lint.source.python.syntax_tree import syntax_tree

PRODUCTS = frozenset(
    {
        "linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "conv1d", "conv2d", "conv3d",
        "conv_transpose1d", "conv_transpose2d", "scaled_dot_product_attention",
    }
)  # fmt: skip
"""Operators whose operands need one dtype, as models use them."""
WRITES = frozenset(
    {
        "index_put_", "index_add", "index_add_", "index_copy_", "masked_scatter",
        "masked_scatter_", "scatter", "scatter_", "scatter_add", "scatter_add_",
    }
)  # fmt: skip
"""Those that write one tensor into another."""
_OF_TENSORS = METHODS.keys() | WRITES

_FIXED = regex(r"torch\.(?:float|float32|double|float64|half|float16)$")
_MAKING = frozenset(
    {"zeros", "ones", "full", "empty", "rand", "randn", "eye", "linspace", "tensor"}
)
"""Functions of torch whose result is float32 if no dtype is given."""
_FIXING = frozenset({"float", "double", "half"})
_FIXING_WORDS = _FIXING | _MAKING | {"float32", "float64", "float16"}
"""Words in all that fixes a dtype: see `_FIXED` for the last ones."""
_CASTING = frozenset({"to", "type", "type_as", "bfloat16", "long", "int", "bool", "item", "tolist"})
_DEVICE = regex(r"device|cuda|cpu|rank")
_PLAIN = frozenset({"shape", "device", "ndim", "size", "dim", "numel"})
_OF_TORCH = ("torch.", "F.", "nn.functional.")
_TESTING_DTYPE = regex(r"dtype|is_floating")
_MOST_ROUNDS = 24
_SOURCE = regex(
    r"\.\s*(?:float|double|half)\s*\("
    r"|\btorch\.(?:float|double|half|zeros|ones|full|empty|rand|eye|linspace|tensor)"
)
"""What fixes a dtype, in the text of a function."""


@fact
def fixed_dtypes_meeting_others(file: ParsedPython) -> Reachable:
    """The functions of a file in which a fixed dtype may meet another one."""
    return _solved(file)[1]


def meeting_others_with_imports(file: ParsedPython, imported: Sequence[Imported]) -> Reachable:
    """The same, where some names of the file are functions and classes of other files."""
    known = FunctionsOfFile(file)
    known.take_over(imported)
    return _solve(known)


def imported_as(name: str, function: ast.FunctionDef, file: ParsedPython) -> Imported | None:
    """What a name stands for that a file of the project defines; None if nothing is fixed in it."""
    positions = _solved(file)[0].given(function, is_given=False)
    return Imported(name, function, positions) if positions else None


@fact
def _solved(file: ParsedPython) -> tuple[FunctionsOfFile, Reachable]:
    known = FunctionsOfFile(file)
    return known, _solve(known)


def _solve(known: FunctionsOfFile) -> Reachable:
    """Walk the functions of a file until nothing more is known of what they take and give."""
    fixing = [each for each in known.functions if _SOURCE.search(known.file.rows_of(each))]
    changed = known.changed | dict.fromkeys(fixing, True)
    met: set[ast.FunctionDef] = set()
    for _ in range(_MOST_ROUNDS):
        if not changed:
            break
        known.changed = {}
        for each, is_changed_itself in changed.items():
            if is_changed_itself and _Function(known, each, frozenset()).meets_others():
                met.add(each)
            taken = known.taking.get(each)
            if taken and _Function(known, each, taken).meets_others():
                met.add(each)
        changed = known.changed
    return Reachable(known, frozenset(met))


class _Function:
    """The variables of one function that hold a fixed dtype, statement by statement.

    `taken` are the parameters that are given something fixed.
    """

    def __init__(self, known: FunctionsOfFile, node: ast.FunctionDef, taken: Set[str]) -> None:
        self._known = known
        self._node = node
        self._is_given = bool(taken)
        self._held = {*taken}
        self._callables: dict[str, ast.expr] = {}
        """Local variables, with the expressions that say what they call."""
        self._is_met = False
        self._words = known.words_by_row(node)
        self._watched = {*_FIXING_WORDS, *known.giving, *taken}
        """The words without which a statement neither fixes a dtype nor has to do with one."""

    def meets_others(self) -> bool:
        self._block(self._node.body)
        return self._is_met

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self._is_concerned(statement):
                self._statement(statement)
            else:
                self._skip(statement)

    def _is_concerned(self, node: ast.stmt) -> bool:
        first = node.lineno - self._node.lineno
        rows = self._words[first : first + (node.end_lineno or node.lineno) - node.lineno + 1]
        return not self._watched.isdisjoint(chain.from_iterable(rows))

    def _skip(self, statement: ast.stmt) -> None:
        """Of what neither fixes a dtype nor works with one: what its variables stand for."""
        for node in own_statements([statement]):
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._callables |= _named(target, value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._callables |= _named(target, value)
                case ast.For(target=target, iter=iterated):
                    self._callables |= dict.fromkeys(_names_in(target), iterated)

    def _call_by(self, names: Mapping[str, ast.expr]) -> None:
        """Variables stand for expressions of a statement that is concerned."""
        self._callables |= names
        self._watched |= names.keys()

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, value)
            case ast.AugAssign(target=target, value=value):
                if self._is_fixed(value) and not isinstance(target, ast.Subscript):
                    self._hold(target, True)  # an item that is added to keeps its dtype
            case ast.Return(value=ast.expr() as value):
                if fixed := self._results(value):
                    self._known.give(self._node, fixed, is_given=self._is_given)
            case ast.Expr(value=value):
                self._is_fixed(value)
            case ast.If(test=test, body=body, orelse=orelse):
                self._is_fixed(test)
                before = {*self._held}
                self._block(body)
                after, self._held = self._held, before
                self._block(orelse)
                if self._held != after and _TESTING_DTYPE.search(ast.unparse(test)):
                    self._held &= after  # one of them casts
                else:
                    self._held |= after
            case ast.For(target=target, iter=iterated, body=body, orelse=orelse):
                self._call_by(dict.fromkeys(_names_in(target), iterated))
                self._hold(target, self._is_fixed(iterated))
                for _ in range(2):
                    before = {*self._held}
                    self._block(body)
                    self._held |= before
                    if self._held == before:
                        break
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
                        self._block([child])
                    elif isinstance(child, ast.expr):
                        self._is_fixed(child)
                    elif isinstance(child, ast.ExceptHandler | ast.match_case):
                        self._block(child.body)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                fixed = [self._is_fixed(one) for one in values]
                self._call_by(_named(target, value))
                for one, is_fixed in zip(targets, fixed, strict=True):
                    self._hold(one, is_fixed)
            case ast.Tuple(elts=targets), ast.Call():
                fixed_ones = self._results(value)
                for position, one in enumerate(targets):
                    self._hold(one, not fixed_ones.isdisjoint({position, WHOLE}))
            case ast.Subscript(value=owner), _:
                is_fixed = self._is_fixed(value)
                if is_fixed != self._is_fixed(owner):
                    self._write(target, is_fixed)
            case _:
                self._call_by(_named(target, value))
                self._hold(target, self._is_fixed(value))

    def _hold(self, target: ast.expr, is_fixed: bool) -> None:
        match target:
            case ast.Name(id=name):
                (self._held.add if is_fixed else self._held.discard)(name)
                self._watched |= {name} if is_fixed else set()
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self._hold(item, is_fixed)
            case ast.Starred(value=value):
                self._hold(value, is_fixed)
            case ast.Subscript() if is_fixed:
                self._write(target, is_fixed)

    def _write(self, target: ast.Subscript, is_fixed: bool) -> None:
        """A dictionary holds what is written into it, and a tensor keeps its dtype."""
        owner, file = target.value, self._known.file
        held = self._callables.get(owner.id) if isinstance(owner, ast.Name) else None
        if isinstance(held, ast.Dict | ast.DictComp) or is_dictionary(owner, syntax_tree(file)):
            if is_fixed:
                self._hold(owner, True)
        else:
            self._is_met |= may_be_indexed_write(target, file)

    def _results(self, value: ast.expr) -> set[int]:
        """The items of what is returned that are fixed."""
        match value:
            case ast.Tuple(elts=items):
                return {position for position, one in enumerate(items) if self._is_fixed(one)}
            case ast.Call():
                return self._call(value)
        return {WHOLE} if self._is_fixed(value) else set()

    def _is_fixed(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self._held
            case ast.Constant() | ast.JoinedStr():
                return False
            case ast.Attribute(value=value, attr=name):
                return self._is_fixed(value) and name not in _PLAIN
            case ast.Call():
                return bool(self._call(node))
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
                self._is_met |= self._is_fixed(body)
                return False
        return self._any(node)

    def _any(self, node: ast.expr) -> bool:
        return self._all_of(one for one in children(node) if isinstance(one, ast.expr))

    def _agreeing(self, operands: list[ast.expr]) -> bool:
        """Operands that need one dtype: all of them are fixed, or none."""
        fixed = [self._is_fixed(one) for one in operands]
        self._is_met |= any(fixed) and not all(fixed)
        return any(fixed)

    def _call(self, node: ast.Call) -> set[int]:
        """The results of a call that are fixed."""
        name, function = callee_name(node), node.func
        keywords = {each.arg: each.value for each in node.keywords}
        given = [*node.args, *(value for key, value in keywords.items() if key != "dtype")]
        receiver = function.value if isinstance(function, ast.Attribute) else None
        path = dotted(function) or ""
        is_function = path.startswith(_OF_TORCH)
        owner = [] if receiver is None or is_function else [receiver]
        if name in {"to", "type"} and owner:
            is_fixed = self._cast(owner[0], node, keywords)
        elif name in _FIXING and owner and not given:
            self._is_fixed(owner[0])
            is_fixed = True
        elif name in _CASTING:
            self._all_of(owner)
            is_fixed = self._all_of(given) and name == "type_as"
        elif is_function or (owner and name in _OF_TENSORS and not path.startswith("self.")):
            is_fixed = self._of_torch(node, name, [*owner, *given], keywords, path)
        else:
            return self._of_file(node, name, owner, keywords)
        return {WHOLE} if is_fixed else set()

    def _function_of(self, node: ast.Call) -> ast.expr:
        """What is called; of a variable, the expression that it stands for."""
        if isinstance(node.func, ast.Name):
            return self._callables.get(node.func.id, node.func)
        return node.func

    def _of_torch(
        self,
        node: ast.Call,
        name: str,
        operands: list[ast.expr],
        keywords: dict[str | None, ast.expr],
        path: str,
    ) -> bool:
        needs_one = name in PRODUCTS or name in WRITES
        row = AGREEING.get(name) or AGREEING.get(f"nn.functional.{name}") if needs_one else None
        if name == "einsum":
            is_fixed = self._agreeing(operands[1:])
        elif row is not None:
            positions = {position for position, _ in row.operands}
            needed = [one for at, one in enumerate(operands) if at in positions]
            is_fixed = self._agreeing([one for one in needed if _may_be_tensor(one)])
        else:
            is_fixed = self._all_of(operands)
        if "dtype" in keywords:
            return self._is_dtype_fixed(keywords["dtype"])
        return is_fixed or (
            name in _MAKING and path.startswith("torch.") and not _makes_no_floats(node, name)
        )

    def _of_file(
        self,
        node: ast.Call,
        name: str,
        owner: list[ast.expr],
        keywords: dict[str | None, ast.expr],
    ) -> set[int]:
        """The results that are fixed of what torch does not define."""
        is_of_fixed = self._all_of(owner)
        positional = [self._is_fixed(one) for one in node.args]
        named = {key: self._is_fixed(value) for key, value in keywords.items()}
        function_node = self._function_of(node)
        functions = self._known.called(function_node, self._node)
        is_given = any(positional) or any(named.values())
        results: set[int] = set()
        for function in functions:
            names = [one.arg for one in function.args.args]
            names = names[1:] if names[:1] in (["self"], ["cls"]) else names
            taken = {one for one, is_fixed in zip(names, positional, strict=False) if is_fixed}
            taken |= {key for key, is_fixed in named.items() if is_fixed and key in names}
            self._known.take(function, taken)
            results |= self._known.given(function, is_given=bool(taken))
            if is_given and not taken:
                self._is_met = True
        if functions:
            return results
        self._is_met |= is_given and self._known.is_layer(function_node)
        # What else it is given decides, too. Rows of a table have its dtype.
        is_of_fixed |= any(positional[:1]) and not self._known.is_embedding(function_node)
        return {WHOLE} if is_of_fixed and not name[:1].isupper() else set()

    def _cast(self, owner: ast.expr, node: ast.Call, keywords: dict[str | None, ast.expr]) -> bool:
        before = self._is_fixed(owner)
        asked = [*node.args, *(value for key, value in keywords.items() if key == "dtype")]
        if any(map(self._is_dtype_fixed, asked)):
            return True
        return before and all(_DEVICE.search(ast.unparse(one)) for one in asked)

    def _is_dtype_fixed(self, node: ast.expr) -> bool:
        return self._is_fixed(node) or _FIXED.match(dotted(node) or "") is not None

    def _all_of(self, nodes: Iterable[ast.expr]) -> bool:
        """True if one of some expressions is fixed; all of them are walked."""
        fixed = [self._is_fixed(one) for one in nodes]
        return any(fixed)


def _named(target: ast.expr, value: ast.expr) -> dict[str, ast.expr]:
    """The variables that an assignment binds, with what each stands for."""
    match target, value:
        case ast.Name(id=name), _:
            return {name: value}
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            pairs = zip(targets, values, strict=True)
            return {one.id: given for one, given in pairs if isinstance(one, ast.Name)}
    return {}


def _names_in(target: ast.expr) -> list[str]:
    return [each.id for each in walk(target) if isinstance(each, ast.Name)]


def _may_be_tensor(node: ast.expr) -> bool:
    return not isinstance(node, ast.Constant | ast.JoinedStr | ast.UnaryOp | ast.Tuple)


def _makes_no_floats(node: ast.Call, name: str) -> bool:
    """True for a factory whose result is of integers, or has no dimensions."""
    named = {each.arg: each.value for each in node.keywords}
    given = [*node.args, *filter(None, map(named.get, ("size", "data", "fill_value")))]
    match name, given:
        case "tensor", [value, *_]:
            return isinstance(value, ast.Constant)
        case _, [ast.List(elts=[]) | ast.Tuple(elts=[]), *_]:
            return True
        case "full", [_, ast.Constant(value=int())]:
            return True
    return False
