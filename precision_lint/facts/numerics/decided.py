"""Whether the digits of a value can matter: a choice of the largest one, or a threshold, has none.

Logits are in half precision already, so the largest of a few probabilities is that of the logits,
and a single probability is compared with a constant as well as it can be. `exp(x - x.detach())` is
1 whatever was rounded. A sum of scores, a difference of two, and all that leaves the program is
another matter.
"""

from __future__ import annotations

import ast

from precision_lint.facts.amp.regions.autocast import WITHOUT_GRADIENTS
from precision_lint.facts.numerics.shown import prints_to_console
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import default_of
from precision_lint.source.python.statements import FunctionDefinition, Loop
from precision_lint.source.python.syntax import (
    callee_name,
    dotted,
    innermost_name,
    last_name,
    parameters,
    positional_parameters,
)
from precision_lint.source.python.syntax_tree import SyntaxTree

_MOST = 300
"""Places that are looked at; a value that goes further is taken for one that matters."""

_BEST = frozenset({"argmax", "argmin"})
_ABOUT = frozenset({"shape", "dtype", "device", "ndim", "size", "dim", "numel", "is_cuda"})
_SAME = frozenset({"detach", "clone", "contiguous"})
"""Methods whose result is the value itself."""

_ALIKE = _SAME | frozenset(
    {"array", "as_tensor", "asarray", "cat", "concatenate", "copy", "cpu", "cuda", "double", "exp",
     "flatten", "float", "from_numpy", "gather", "item", "list", "log", "max", "min", "numpy",
     "pad", "permute", "reshape", "squeeze", "stack", "t", "tensor", "to", "tolist", "transpose",
     "tuple", "unsqueeze", "view"}
)  # fmt: skip
"""What hands numbers on, and functions that keep their order."""

_LARGEST = frozenset({"max", "min"})
_KEEPING = frozenset({"append", "extend"})
_COUNTING = frozenset({"len", "isinstance"})
_LIBRARIES = frozenset({"F", "np", "numpy", "torch"})
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_THRESHOLD = regex(r"(?i:thresh)|^[A-Z][A-Z\d_]*$")


class Fate:
    """Where a value goes in its file; `returned_by` are the functions that return it."""

    def __init__(self, made: ast.expr, syntax: SyntaxTree) -> None:
        self._syntax = syntax
        self._seen: set[ast.AST] = set()
        self._roots: dict[tuple[ast.AST, str], ast.AST] = {}
        self.returned_by: set[str] = set()
        self.has_no_digits = self._has_none(made, made)
        """True if the file makes nothing of it that depends on its digits."""

    def _has_none(self, node: ast.expr, root: ast.AST) -> bool:
        """Whether nothing that is made of an expression does; `root` is the same value."""
        if node in self._seen:
            return True
        self._seen.add(node)
        parent = self._syntax.parent(node)
        if len(self._seen) > _MOST or parent is None:
            return False
        match parent:
            case ast.Attribute():
                return self._has_method(parent, root)
            case ast.Call():
                return self._is_given(node, parent)
            case ast.keyword():
                call = self._syntax.parent(parent)
                if not isinstance(call, ast.Call):
                    return False
                return self._is_key(parent, call) or self._is_given(node, call)
            case ast.Lambda():
                keyword = self._syntax.parent(parent)
                call = None if keyword is None else self._syntax.parent(keyword)
                return isinstance(call, ast.Call) and self._is_key(keyword, call)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self._root(right if left is node else left) is root
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, _ORDERS):
                return self._is_threshold(right if left is node else left)
            case ast.Compare(ops=[ast.Is() | ast.IsNot()]) | ast.Expr() | ast.Delete():
                return True
            case ast.Return():
                return self._is_returned(parent, None)
            case ast.Tuple() if isinstance(outer := self._syntax.parent(parent), ast.Return):
                return self._is_returned(outer, parent.elts.index(node))
            case ast.IfExp(test=test) if test is not node:
                return self._has_none(parent, root)
            case ast.comprehension(target=ast.Name(id=name)):
                whole = self._syntax.parent(parent)
                taken = [] if whole is None else self._syntax.reads(whole, name)
                return all(isinstance(x, ast.expr) and self._has_none(x, x) for x in taken)
            case ast.For(target=ast.Name() as target):
                return self._is_held(target, node, node)
            case (
                ast.Assign(targets=[ast.Name() as target])
                | ast.AnnAssign(target=ast.Name() as target)
                | ast.NamedExpr(target=ast.Name() as target)
            ):
                return self._is_held(target, node, root)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name() as target)]):
                return self._is_held(target, node, node)
            case (
                (ast.Subscript() | ast.UnaryOp(op=ast.USub()) | ast.ListComp() | ast.GeneratorExp())
                | (ast.List() | ast.Tuple() | ast.FormattedValue() | ast.JoinedStr())
                | (ast.Dict() | ast.DictComp())
            ):
                is_index = isinstance(parent, ast.Subscript) and parent.value is not node
                return not is_index and self._has_none(parent, parent)
        return False

    @staticmethod
    def _is_key(keyword: ast.AST | None, call: ast.Call) -> bool:
        """True for the key of `max(range(n), key=lambda i: scores[i])`, which gives an index."""
        is_key = isinstance(keyword, ast.keyword) and keyword.arg == "key"
        return is_key and isinstance(call.func, ast.Name) and call.func.id in _LARGEST

    def _has_method(self, node: ast.Attribute, root: ast.AST) -> bool:
        """Whether an attribute of the value, or what its call gives, has no digits."""
        call = self._syntax.parent(node)
        if node.attr in _ABOUT:
            return True
        if isinstance(call, ast.keyword) and node.attr == "get":
            return self._has_none(node, node)
        if not (isinstance(call, ast.Call) and call.func is node):
            return False
        if node.attr in _ALIKE:
            return self._has_none(call, root if node.attr in _SAME else call)
        return node.attr in _BEST | _KEEPING | {"index"}

    def _is_given(self, node: ast.expr, call: ast.Call) -> bool:
        """Whether a function that gets the value makes nothing of its digits."""
        name = callee_name(call)
        match call.func:
            case ast.Attribute(value=ast.Name() as owner) if name in _KEEPING:
                return self._is_held(owner, node, node)
            case ast.Attribute(value=owner):
                is_known = (dotted(owner) or "").partition(".")[0] in _LIBRARIES
            case ast.Name():
                function = self._function(name)
                if function is not None:
                    return self._is_parameter(node, call, function)
                is_known = not self._syntax.stores(self._syntax.tree, name)
            case _:
                return False
        if not is_known:
            return False
        if name in _LARGEST and any(self._is_key(each, call) for each in call.keywords):
            return True
        if name == "print":
            return prints_to_console(call)
        return name in _BEST | _COUNTING or (name in _ALIKE and self._has_none(call, call))

    def _function(self, name: str) -> FunctionDefinition | None:
        """The only function of the file with a name."""
        known = [each for each in self._syntax.tree.body if isinstance(each, FunctionDefinition)]
        named = [each for each in known if each.name == name]
        return named[0] if len(named) == 1 else None

    def _is_parameter(self, node: ast.expr, call: ast.Call, function: FunctionDefinition) -> bool:
        """Whether a function of the file does nothing that depends on a parameter's digits."""
        names = [each.arg for each in positional_parameters(function.args)]
        given = dict(zip(names, call.args, strict=False))
        given |= {each.arg: each.value for each in call.keywords if each.arg is not None}
        taken = next((name for name, value in given.items() if value is node), None)
        if taken is None or any(isinstance(each, ast.Starred) for each in call.args):
            return False
        is_only_call = len(self._syntax.calls(function.name)) == 1
        for name, value in given.items() if is_only_call else ():
            root = self._root(value)
            if root is not None and not self._syntax.stores(function, name):
                self._roots[function, name] = root
        return self._are_reads_harmless(function, taken, None)

    def _is_returned(self, statement: ast.Return, index: int | None) -> bool:
        """Whether the calls in the file of the function that returns it make nothing of it."""
        function = self._syntax.function(statement)
        if (
            not isinstance(function, FunctionDefinition)
            or self._function(function.name) is not function
        ):
            return False
        reads = self._syntax.reads(self._syntax.tree, function.name)
        calls = [each for each in map(self._syntax.parent, reads) if isinstance(each, ast.Call)]
        called = [each for each in calls if each.func in reads]
        plain = (innermost_name(each) in WITHOUT_GRADIENTS for each in function.decorator_list)
        if not called or len(called) != len(reads) or not all(plain):
            return False
        self.returned_by.add(function.name)
        return all(self._is_result(call, index) for call in called)

    def _is_result(self, call: ast.Call, index: int | None) -> bool:
        if index is None:
            return self._has_none(call, call)
        match self._syntax.parent(call):
            case ast.Assign(targets=[ast.Tuple(elts=targets)]) if index < len(targets):
                target = targets[index]
                return isinstance(target, ast.Name) and self._is_held(target, call, target)
        return False

    def _is_held(self, target: ast.Name, value: ast.expr, root: ast.AST) -> bool:
        """Whether nothing that reads a variable which holds the value depends on its digits."""
        scope = self._syntax.body(target)
        if isinstance(scope, ast.ClassDef | ast.Lambda):
            return False
        stores = self._syntax.stores(scope, target.id)
        if not stores:  # a list that the function is given, or one of the module
            return False
        is_alias = self._block(target) is not None and self._block(target) is self._block(root)
        if len(stores) == 1 and (root is value or is_alias):
            self._roots[scope, target.id] = root
        return self._are_reads_harmless(scope, target.id, value)

    def _block(self, node: ast.AST) -> list[ast.stmt] | None:
        """The statements among which a node stands: in the same ones, each runs as often."""
        around = (node, *self._syntax.around(node))
        statement = next((each for each in around if isinstance(each, ast.stmt)), None)
        return None if statement is None else self._syntax.block(statement)

    def _are_reads_harmless(self, scope: ast.AST, name: str, value: ast.expr | None) -> bool:
        reads = self._syntax.reads(scope, name)
        names = [each for each in reads if isinstance(each, ast.Name)]
        if len(names) < len(reads):
            return False
        for read in sorted(names, key=lambda each: (each.lineno, each.col_offset)):
            owner = self._owner(read, scope)
            if owner is not None and owner is not scope:
                continue
            body = self._syntax.body(read)
            if isinstance(body, ast.Lambda):
                body = self._syntax.body(body)
            if owner is None or body is not scope:
                return False
            if value is not None and not self._may_follow(read, value):
                continue
            if not self._has_none(read, self._roots.get((scope, name), read)):
                return False
        return True

    def _owner(self, read: ast.Name, scope: ast.AST) -> ast.AST | None:
        """The function inside of a scope that binds a name itself, or else the scope."""
        for each in (read, *self._syntax.around(read)):
            if each is scope:
                return scope
            if isinstance(each, FunctionDefinition) and (
                self._syntax.stores(each, read.id)
                or any(given.arg == read.id for given in parameters(each.args))
            ):
                return each
        return None

    def _may_follow(self, read: ast.Name, value: ast.expr) -> bool:
        if (read.lineno, read.col_offset) > (value.lineno, value.col_offset):
            inside = (read, *self._syntax.around(read))
            return value not in inside
        loops = {each for each in self._syntax.around(value) if isinstance(each, Loop)}
        statement = next(each for each in self._syntax.around(value) if isinstance(each, ast.stmt))
        around = [*self._syntax.around(read)]
        return statement not in around and not loops.isdisjoint(around)

    def _is_threshold(self, node: ast.expr) -> bool:
        """True for a number, a parameter with a number as its default, and a threshold by name."""
        function = self._syntax.function(node)
        match node:
            case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
                return True
            case ast.Name(id=name) if function is not None:
                known = next((x for x in parameters(function.args) if x.arg == name), None)
                default = None if known is None else default_of(known, self._syntax)
                if isinstance(default, ast.Constant):
                    return True
        return _THRESHOLD.search(last_name(node)) is not None

    def _root(self, node: ast.expr) -> ast.AST | None:
        """The value that an expression is, if it is one that is followed."""
        match node:
            case ast.Name(id=name):
                return self._roots.get((self._syntax.body(node), name))
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _SAME:
                return self._root(owner)
        return node if node in self._seen else None
