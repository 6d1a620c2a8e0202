"""Results that a program computes in half precision although their digits matter."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from precision_lint.facts.amp.regions.autocast import records_no_gradients
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import (
    Model,
    ModelOutput,
    NonTensor,
    Tensor,
    Value,
)
from precision_lint.facts.dtypes.domain.weights import as_module
from precision_lint.facts.dtypes.operators.conversions import as_dtype
from precision_lint.facts.dtypes.operators.sinks import tensors
from precision_lint.facts.dtypes.syntax.conditions import (
    guard_excludes_bfloat16,
    guard_excludes_float16,
)
from precision_lint.facts.numerics.decided import Fate
from precision_lint.facts.numerics.log_probabilities import exponentiated
from precision_lint.facts.numerics.shown import is_only_shown
from precision_lint.facts.numerics.uses import first_use, returned_to, used_by
from precision_lint.facts.origin import Origin
from precision_lint.facts.settings.choosing import options_choosing
from precision_lint.model.dtypes import BFLOAT16, FLOAT16, HALF
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import AnyFunction, FunctionDefinition, Loop, own_nodes
from precision_lint.source.python.syntax import callee_name, dotted, last_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, calls_by_span, syntax_tree

LOSSES_OF_TOKENS = frozenset({"cross_entropy"})
SCORES = frozenset({"softmax", "log_softmax"}) | LOSSES_OF_TOKENS
_SCORED_BY = frozenset({"tolist", "item", "gather", "topk", "argsort", "sort", "cumsum", "numpy"})
"""What is done with scores that are compared, ranked, or reported."""

_REPORTED_BY = frozenset({"tolist", "item", "numpy"})
"""What gives single scores to Python. Probabilities in float16 are off by at most 0.0005 (torch
2.13, 1,000 rows of random logits), which no report shows; log-probabilities grow, and so do steps.
"""

_COUNTING = frozenset({"arange", "range"})

_SAMPLING = regex(r"(?:^|_)sampl(?:e|ing)(?:_(?:ids?|tokens?|logits))?$")
"""What chooses a token is called: `self.sampling_ids(logp, …)`."""

_LOSS = regex(r"(?:^|_)loss(?:es)?(?:_|$)")

_OF_SAMPLING = frozenset({"top_p", "top_k", "typical_p", "min_p"})
"""Parameters of functions that choose a token: they compare scores with a threshold."""

TOTALS = frozenset({"zeros", "tensor"})
SUMS = frozenset({"mean", "sum"})

_EXCLUDED_BY = {FLOAT16: guard_excludes_float16, BFLOAT16: guard_excludes_bfloat16}


@frozen
class HalfResult:
    """A call that works in half precision; `related` are the place of the dtype and the use."""

    call: Call
    dtype: str
    is_certain: bool
    related: tuple[Related, ...]


def may_be_scores(node: ast.expr, file: PythonFile) -> bool:
    """True for a call of which single numbers are taken afterwards.

    In `forward` of a module, and in what it calls, whoever loads the module decides the dtype.
    """
    if not isinstance(node, ast.Call) or _is_part_of_forward(node, file):
        return False
    if callee_name(node) in LOSSES_OF_TOKENS:
        return exponentiated(node, file) is not None
    return (
        not _needs_few_digits(node, file)
        and _use_of_scores(node, file) is not None
        and not is_only_shown(node, syntax_tree(file))
    )


def _needs_few_digits(node: ast.Call, file: PythonFile) -> bool:
    """True in a body that samples from the scores, or that stores them in half precision."""
    body = syntax_tree(file).body(node)
    return samples(body) or any(
        _stores_half(each) for each in own_nodes(body) if isinstance(each, ast.Call)
    )


def samples(body: AnyFunction | ast.ClassDef | ast.Module) -> bool:
    """True for a body that chooses a token by its scores."""
    names: set[str] = set()
    if isinstance(body, FunctionDefinition):
        given = body.args
        names = {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    called = [callee_name(each) for each in own_nodes(body) if isinstance(each, ast.Call)]
    are_compared = any(name in _OF_SAMPLING or name.endswith("_threshold") for name in names)
    return are_compared or any(
        name == "multinomial" or _SAMPLING.search(name) is not None for name in called
    )


def _stores_half(call: ast.Call) -> bool:
    name = callee_name(call)
    is_cast = name in {"astype", "to", "type"}
    given = (*call.args, *(each.value for each in call.keywords if each.arg == "dtype"))
    return name == "half" or (
        is_cast and any(last_name(each) in {"float16", "half"} for each in given)
    )


def _is_part_of_forward(node: ast.Call, file: PythonFile) -> bool:
    syntax = syntax_tree(file)
    function = syntax.function(node)
    if not isinstance(function, FunctionDefinition):
        return False
    users = (syntax.function(call) for call in syntax.calls(function.name))
    names = [each.name for each in (function, *users) if isinstance(each, FunctionDefinition)]
    return "forward" in names


def _use_of_scores(node: ast.Call, file: PythonFile) -> ast.expr | None:
    if _is_given_dtype(node, file):
        return None
    syntax = syntax_tree(file)

    def needs_digits(use: ast.expr) -> bool:
        if not isinstance(use, ast.Call):
            return _picks_numbers(use)
        is_named = callee_name(use) in _SCORED_BY
        needs_few = _is_of_loss(use) or _is_compared_sum(use, syntax) or _is_of_best(use)
        return is_named and not needs_few

    found = first_use(node, needs_digits, syntax)
    if found is not None:
        return found
    for call in returned_to(node, syntax):
        if not (_is_part_of_forward(call, file) or _needs_few_digits(call, file)):
            found = first_use(call, needs_digits, syntax)
            if found is not None:
                return found
    return None


def _is_given_dtype(node: ast.Call, file: PythonFile) -> bool:
    """True for `x.log_softmax(-1, torch.float32)`, or with `dtype=`."""
    if any(keyword.arg == "dtype" for keyword in node.keywords):
        return True
    called = qualified(node.func, syntax_tree(file).names)
    before = next((count for name, count in _BEFORE_DTYPE if called.startswith(name)), 1)
    return len(node.args) > before


_BEFORE_DTYPE = (("torch.nn.functional.", 3), ("torch.", 2))
"""Positional arguments before the dtype of functions; methods have one, the dimension."""


def _picks_numbers(use: ast.expr) -> bool:
    """True for `scores[torch.arange(n), ids]`: a number of each row, as `gather` picks them."""
    match use:
        case ast.Subscript(slice=ast.Tuple(elts=[*rows, ast.expr() as ids]), ctx=ast.Load()):
            counted = any(
                isinstance(each, ast.Call) and callee_name(each) in _COUNTING
                for row in rows
                for each in walk(row)
            )
            return counted and not isinstance(ids, ast.Slice | ast.Constant | ast.UnaryOp)
    return False


def _is_of_loss(use: ast.Call) -> bool:
    """True for `loss_kl.item()`: what is printed of a loss is no score."""
    match use.func:
        case ast.Attribute(value=ast.Name() | ast.Attribute() as owner):
            return _LOSS.search(last_name(owner)) is not None
    return False


def _is_of_best(use: ast.Call) -> bool:
    """True for `scores.argmax(-1).item()`: the logits have the same largest one."""
    match use.func:
        case ast.Attribute(value=ast.expr() as owner):
            while isinstance(owner, ast.Subscript | ast.Attribute):
                owner = owner.value
            while isinstance(owner, ast.Call):
                if callee_name(owner) in {"argmax", "argmin"}:
                    return True
                owner = owner.func.value if isinstance(owner.func, ast.Attribute) else owner.func
    return False


def _is_compared_sum(use: ast.Call, syntax: SyntaxTree) -> bool:
    """True for `probabilities.cumsum(-1) <= p`: how many tokens pass changes by one or two."""
    return callee_name(use) == "cumsum" and any(
        isinstance(each, ast.Compare) for each in syntax.around(use)
    )


def scores(call: Call, file: PythonFile) -> HalfResult | None:
    """`log_softmax` of half-precision logits, of which single numbers are taken afterwards."""
    node = calls_by_span(file).get(call.span)
    if node is None or call.autocast is not None or not may_be_scores(node, file):
        return None
    used = _used(node, file)
    if used is None:
        return None
    logits = _operand(call)
    dtypes = (BFLOAT16,) if _is_reported_probability(node, file) else (BFLOAT16, FLOAT16)
    known = result_in_half(call, logits, dtypes, file, (used,))
    return _of_checkpoint(call, logits, file, used) if known is None else known


def _is_reported_probability(node: ast.Call, file: PythonFile) -> bool:
    """True for `softmax(x)[:, 1].tolist()`."""
    if callee_name(node) != "softmax":
        return False
    use = _use_of_scores(node, file)
    return isinstance(use, ast.Call) and callee_name(use) in _REPORTED_BY


def _used(node: ast.Call, file: PythonFile) -> Related | None:
    """Where the digits of some scores count."""
    if callee_name(node) in LOSSES_OF_TOKENS:
        return exponentiated(node, file)
    use = _use_of_scores(node, file)
    if use is None or has_no_digits(node, file):
        return None
    return file.related(file.span_of(use), "its exact value is used here")


def has_no_digits(node: ast.Call, file: PythonFile) -> bool:
    """True if only the largest of some scores counts, or on which side of a threshold one is."""
    fate, own = Fate(node, syntax_tree(file)), file.text.path
    return fate.has_no_digits and not any(
        file.project.uses(path, own)  # or it imports something else of this name
        for name in fate.returned_by
        for path in file.project.importing(own, name)
    )


def _of_checkpoint(
    call: Call, logits: Tensor | None, file: PythonFile, used: Related
) -> HalfResult | None:
    """Logits in the dtype of a checkpoint, in a program that makes tensors bfloat16."""
    origin = None if logits is None else logits.origin
    if logits is None or origin is None or logits.may_be_other:
        return None
    is_of_model = origin.kind in {"weights", "auto", "load", "loader"} and logits.caller_chosen
    enabled = file.bfloat16(origin) if is_of_model else None
    if enabled is None or any(guard_excludes_bfloat16(one, file.text) for one in call.guards):
        return None
    return HalfResult(call, BFLOAT16, False, (origin.related, enabled, used))


def may_be_sum_of_squares(node: ast.expr) -> bool:
    """True for `x.pow(2).mean(-1)`, of whatever dtype."""
    summed = _summed(node) if isinstance(node, ast.Call) else None
    return summed is not None and _is_square(summed)


def may_be_kept_for_backward(call: Call, file: PythonFile) -> bool:
    """True for scores of a whole vocabulary, where autograd may keep them all until `backward`.

    Such scores are picked by `gather`, or by an index; a caller may still turn off the recording of
    gradients.
    """
    node, syntax = calls_by_span(file).get(call.span), syntax_tree(file)
    if node is None or records_no_gradients(node, syntax):
        return False
    picked = used_by(node, frozenset({"gather"}), syntax)
    return picked is not None or first_use(node, _picks_numbers, syntax) is not None


def sum_of_squares(call: Call, file: PythonFile) -> HalfResult | None:
    """`x.pow(2).mean(-1)` of float16."""
    node = calls_by_span(file).get(call.span)
    if node is None or not may_be_sum_of_squares(node):
        return None
    return result_in_half(call, _operand(call), (FLOAT16,), file)


def sum_of_squared_array(call: Call, file: PythonFile) -> HalfResult | None:
    """`(x**2).sum()` of an array of NumPy that is certainly float16."""
    node = calls_by_span(file).get(call.span)
    value: Value = call.receiver if call.function is None else call.value(0, "a")
    if node is None or not isinstance(value, NonTensor) or not may_be_sum_of_squares(node):
        return None
    is_half = value.dtypes == {FLOAT16} and value.scalar is not True
    return HalfResult(call, FLOAT16, True, ()) if is_half else None


def may_be_running_total(node: ast.expr, file: PythonFile) -> bool:
    """True for a number with a dtype, to which a loop adds."""
    return (
        isinstance(node, ast.Call)
        and any(keyword.arg == "dtype" for keyword in node.keywords)
        and _is_single(node)
        and _added_in_loop(node, file) is not None
    )


def running_total(call: Call, file: PythonFile) -> HalfResult | None:
    """`total = torch.zeros((), dtype=torch.bfloat16)`, to which a loop adds."""
    node = calls_by_span(file).get(call.span)
    asked = call.keywords.get("dtype")
    if node is None or asked is None or not _is_single(node):
        return None
    added = _added_in_loop(node, file)
    if added is None or _compares_dtypes(node, file):
        return None
    use = (file.related(file.span_of(added), "it is added to here"),)
    return result_in_half(call, as_dtype(asked.value).of_tensor(), (BFLOAT16, FLOAT16), file, use)


def half_loss(call: Call, file: PythonFile) -> HalfResult | None:
    """A loss of logits of a model that an option, or another setting, makes half precision.

    In `forward`, whoever trains the module may call it under autocast.
    """
    node, given = calls_by_span(file).get(call.span), call.value(0, "input")
    logits = given.tensor if isinstance(given, ModelOutput) else given
    if node is None or not isinstance(logits, Tensor) or logits.origin is None:
        return None
    if _is_part_of_forward(node, file):
        return None
    origin = logits.origin
    is_chosen = origin.witness is not None or options_choosing(
        origin, file, call.span, file.project
    )
    if origin.kind != "dtype" or not is_chosen:
        return None
    return result_in_half(call, logits, (BFLOAT16, FLOAT16), file)


def may_be_averaged_copy(node: ast.expr, file: PythonFile) -> bool:
    """True for a copy that is called an average, and for the classes that make one."""
    if not isinstance(node, ast.Call) or callee_name(node) != "deepcopy":
        return True
    return _is_called_ema(node, file)


def averaged_copy(call: Call, file: PythonFile) -> HalfResult | None:
    """A copy of half-precision weights that is averaged with a decay."""
    node = calls_by_span(file).get(call.span)
    if node is None or (call.name == "deepcopy" and not _is_called_ema(node, file)):
        return None
    value = call.value(0, "model") if call.arguments else call.value(0, "parameters")
    module = as_module(value)
    if isinstance(module, Model):
        weights = [module.parameters]
    else:  # a copy of one tensor is no average of a model
        weights = [] if call.name == "deepcopy" else list(tensors(value))
    return result_in_half(call, weights[0], (BFLOAT16, FLOAT16), file) if weights else None


def result_in_half(
    call: Call,
    tensor: Tensor | None,
    dtypes: Sequence[str],
    file: PythonFile,
    uses: tuple[Related, ...] = (),
) -> HalfResult | None:
    """The finding, if the tensor is known to be of one of the dtypes on some path."""
    origin = None if tensor is None else tensor.origin
    if tensor is None or origin is None or not origin.is_named or origin.is_guess:
        return None
    for dtype in dtypes:
        excluded = any(_EXCLUDED_BY[dtype](guard, file.text) for guard in call.guards)
        if dtype in tensor.dtypes and not excluded:
            route = (site.related for site in origin.route)
            related = (*_places(origin, dtype, call, file), *route, *uses)
            return HalfResult(call, dtype, tensor.must_be(frozenset(dtypes)), related)
    return None


def _places(origin: Origin, dtype: str, call: Call, file: PythonFile) -> Iterator[Related]:
    """Where a tensor gets a dtype, and with which options.

    The text of an origin names the narrowest of several dtypes.
    """
    related = origin.related
    if related.message.startswith(tuple(f"{other} is" for other in HALF - {dtype})):
        yield replace(related, message="the dtype is chosen here")
    else:
        yield related
        yield from options_choosing(origin, file, call.span, file.project)


def _operand(call: Call) -> Tensor | None:
    """The tensor that a function or a method of torch works with."""
    value: Value = call.receiver if call.function is None else call.value(0, "input")
    match value:
        case (Tensor() as tensor) | ModelOutput(tensor=tensor):
            return tensor
    return None


def _summed(node: ast.Call) -> ast.expr | None:
    """What is summed, by a method or by a function of torch or NumPy."""
    match node.func:
        case ast.Attribute(value=ast.Name(id="torch" | "np" | "numpy")):
            return node.args[0] if node.args else None
        case ast.Attribute(value=value):
            return value
    return None


def _is_square(node: ast.expr) -> bool:
    match node:
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=2 | 2.0)):
            return True
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return ast.dump(left) == ast.dump(right)
        case ast.Call(func=ast.Attribute(attr="square")):
            return True
        case ast.Call(func=ast.Attribute(attr="pow"), args=[*_, ast.Constant(value=2 | 2.0)]):
            return True
    return False


def _is_single(node: ast.Call) -> bool:
    """True for a call that makes a tensor of one number."""
    match callee_name(node), node.args:
        case "tensor", [ast.Constant(value=int() | float())]:
            return True
        case "zeros", [] | [ast.Tuple(elts=[])] | [ast.List(elts=[])] | [ast.Constant(value=1)]:
            return bool(node.args)
    return False


def _added_in_loop(made: ast.Call, file: PythonFile) -> ast.stmt | None:
    """The statement of a loop that adds to the variable that a tensor is assigned to."""
    syntax = syntax_tree(file)
    match syntax.parent(made):
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
            name = dotted(target)
        case _:
            return None
    for node in own_nodes(syntax.body(made)):
        match node:
            case ast.AugAssign(op=ast.Add()) if dotted(node.target) == name:
                pass
            case ast.Assign(
                targets=[again], value=ast.BinOp(op=ast.Add(), left=left, right=term)
            ) if name == dotted(again) == dotted(left) and _is_number(term):
                pass
            case _:
                continue
        loops = [each for each in syntax.within_function(node) if isinstance(each, Loop)]
        if any(each not in set(syntax.within_function(made)) for each in loops):
            return node
    return None


def _compares_dtypes(made: ast.Call, file: PythonFile) -> bool:
    """True if the same variable is made in other dtypes, too: the difference is what is shown."""
    syntax = syntax_tree(file)
    statement = syntax.parent(made)
    if not isinstance(statement, ast.Assign):
        return False
    targets = [ast.dump(target) for target in statement.targets]
    made_in = {
        ast.unparse(keyword.value)
        for node in own_nodes(syntax.body(made))
        if isinstance(node, ast.Assign) and [*map(ast.dump, node.targets)] == targets
        if isinstance(node.value, ast.Call) and callee_name(node.value) in TOTALS
        for keyword in node.value.keywords
        if keyword.arg == "dtype"
    }
    return len(made_in) > 1


def _is_number(term: ast.expr) -> bool:
    """True for a number of Python: a tensor that is added to is then as narrow as before.

    The sum of two tensors is in the wider dtype, and so is the total after one iteration.
    """
    match term:
        case ast.Constant() | ast.Call(func=ast.Attribute(attr="item")):
            return True
        case ast.Call(func=ast.Name(id="float" | "int" | "len")):
            return True
    return False


def _is_called_ema(node: ast.Call, file: PythonFile) -> bool:
    """True if a copy is called an average, in a file that updates one by a decay."""
    syntax = syntax_tree(file)
    statement = next((each for each in syntax.around(node) if isinstance(each, ast.Assign)), None)
    named = [] if statement is None else [ast.unparse(each) for each in statement.targets]
    if _is_widened(node, named, syntax):
        return False
    owner = enclosing_class(node, syntax)
    is_of_ema = owner is not None and _EMA.search(owner.name) is not None
    is_named = any("ema" in name.lower().split(".")[-1].split("_") for name in named)
    names = map(callee_name, file.nodes_of(ast.Call))
    return (is_named or is_of_ema) and not _UPDATES.isdisjoint(names)


def _is_widened(node: ast.Call, named: list[str], syntax: SyntaxTree) -> bool:
    """True if a copy is cast to float32, at once or by its name."""
    casts = (*syntax.calls("float"), *syntax.calls("double"))
    owners = (each.func.value for each in casts if isinstance(each.func, ast.Attribute))
    return any(
        dotted(owner) in named or any(inner is node for inner in walk(owner)) for owner in owners
    )


_EMA = regex(r"EMA|Ema(?![a-z])|(?:Moving|Exponential)Average|AverageModel")
"""What classes of averages are called."""
_UPDATES = frozenset({"lerp_", "lerp", "_foreach_lerp_", "mul_", "_foreach_mul_", "mul"})
