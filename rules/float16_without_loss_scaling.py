"""Training under float16 autocast without a GradScaler.

## What it does
Finds a CUDA autocast region in float16, which is also its default dtype, in a function that calls
`backward()` of a loss that is made in the region, or of what is made there, and steps an optimizer,
in a file without any loss scaling: no GradScaler, DeepSpeed, Accelerate or Fabric; an Accelerator
that certainly computes in full precision scales nothing (`mixed_precision="no"`, literally or in
all commands, or none where Python alone starts it). The region may be held by a variable or an
attribute, or returned by a function of the file, or by one of another file: `with
self.precision.region():`. Then no file of the program may scale losses. Where code chooses between
dtypes, also in a function that returns one, a run counts that chooses float16: an option whose
default or choices name it, a switch that is off by default, or a value in a configuration; for an
option without choices, also a value that the program compares it with, or a program beside it that
declares the same option. It does not count if the same option turns the region off. A region for
`device.type` or `str(device)` is one for CUDA if all devices that it can be are written out, and
CUDA is one of them, or if a caller gives such a device, also in another file. So is one whose class
is in a variable that holds the class for CUDA, or a choice between it and that for the CPU. A
region under `no_grad` computes no gradients and is fine. Tests are not reported, because their
training results do not matter.

Also finds a model that FSDP computes in float16 (`MixedPrecision(param_dtype=torch.float16)` or
`MixedPrecisionPolicy`, in all runs or with an option) and that an optimizer of the file gets,
without a `ShardedGradScaler`.

Also finds a region with `dtype=torch.float16` for the device at hand (`device.type`), in a function
whose GradScaler is off on the CPU (`enabled=use_amp and device.type != "cpu"`) while the region is
not: a run on the CPU computes in float16 as well, without a scaler.

## Why it hurts
There is no error. Gradients of activations are float16 where autocast ran in float16, and values
smaller than 6e-8 become zero: the layers below learn from zeros. With a loss of 1e-9 a weight of a
linear layer gets the gradient 0 without a scaler and 1e-9 with one. FSDP casts parameters and
inputs, with the same effect, whatever `reduce_dtype` is.

## Example
```python
with torch.autocast("cuda"):
    loss = model(batch)
loss.backward()
optimizer.step()
```

## Use instead
```python
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = model(batch)
loss.backward()
optimizer.step()
```
or, on hardware without bfloat16, float16 with a `torch.amp.GradScaler("cuda")`.

## Fix safety
There is no fix: the choice depends on the hardware.

## References
- Pitfall C04
- https://docs.pytorch.org/docs/stable/notes/amp_examples.html
- https://github.com/pytorch/pytorch/issues/120376
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    AutocastCall,
    Confidence,
    Finding,
    PythonFile,
    RegionNode,
    Related,
    Rule,
    Scope,
    Severity,
    SyntaxTree,
    With,
    autocasts,
    binding,
    callee_name,
    code_of,
    dotted,
    entered,
    entered_elsewhere,
    float16_shards,
    holders_of_names,
    makes_grad_scaler,
    may_be_cuda,
    names_of,
    options_for,
    own_nodes,
    qualified,
    reads_any,
    records_no_gradients,
    regex,
    syntax_tree,
    unscaled_accelerators,
)

RULE = Rule(
    code="MP215",
    name="float16-without-loss-scaling",
    summary="training under float16 autocast without a GradScaler",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16",),
    triggers=((b"autocast", b"with ", b"param_dtype"), (b".backward(",), (b".step(",)),
    pitfalls=("C04",),
)

_BY_OTHERS = r"scaler|scale_loss|loss_scal|deepspeed|fabric|lightning|set_autocast"
_SCALING = regex(rf"(?i){_BY_OTHERS}|accelerat")
_BESIDE_ACCELERATORS = regex(rf"(?i){_BY_OTHERS}")
_OPTIMIZER = regex(r"(?i)(?:^|[._])(?:opt|\w*optim(?:izer)?\w*)$")
_FLOAT16 = frozenset({"torch.float16", "torch.half"})
_DEVICES = regex(r"cpu|cuda|device|gpu")


def check_source(file: PythonFile) -> Iterator[Finding]:
    if file.project.is_test(file.text.path):
        return
    syntax = syntax_tree(file)
    yield from _on_the_host(file, syntax)
    accelerated: tuple[Related, ...] = ()
    if _SCALING.search(file.text.text) and _SCALING.search(code_of(file)):
        if _BESIDE_ACCELERATORS.search(code_of(file)) is None:
            accelerated = unscaled_accelerators(file)
        if not accelerated:
            return
    yield from _sharded(file, syntax)
    trained: set[ast.AST] = set()
    for made, made_in, region, entering in _regions(file, syntax):
        its = syntax_tree(made_in)
        if made.is_off or made.has_stars or not may_be_cuda(made, made_in):
            continue
        if records_no_gradients(region.body[0], syntax):
            continue  # the backbone is frozen, and what is trained runs outside
        function = syntax.function(region) or syntax.tree
        backward = _training(function, region, syntax)
        if backward is None or function in trained:
            continue
        options = () if _is_float16(made, its) else options_for(made, "float16", made_in)
        if not options and not _is_float16(made, its):
            continue
        if made_in is not file and _is_scaled_elsewhere(file):
            return
        trained.add(function)
        place = made_in.related(made_in.span_of(made.node), "the region is made here")
        yield file.finding(
            RULE,
            file.span_of(entering),
            "training under float16 autocast without loss scaling",
            confidence=Confidence.MEDIUM,
            why="Gradients below 6e-8 become zero in float16: use a GradScaler, or bfloat16, "
            "which needs none.",
            related=[
                *options,
                *([] if made_in is file else [place]),
                file.related(file.span_of(backward), "the loss is not scaled"),
                *accelerated,
            ],
        )


def _sharded(file: PythonFile, syntax: SyntaxTree) -> Iterator[Finding]:
    """Models that FSDP computes in float16."""
    passes = [call for call in syntax.calls("backward") if not call.args]
    backward = min(passes, key=lambda call: call.lineno, default=None)
    if backward is None or not any(map(_steps, syntax.calls("step"))):
        return
    for model in float16_shards(file):
        if _is_scaled_elsewhere(file):
            return
        yield file.finding(
            RULE,
            file.span_of(model.wrapped),
            "training in float16 under FSDP without loss scaling",
            confidence=Confidence.MEDIUM,
            why="Gradients below 6e-8 become zero in float16: use a ShardedGradScaler, or "
            "bfloat16, which needs none.",
            related=[
                *model.options,
                file.related(file.span_of(backward), "the loss is not scaled"),
            ],
        )


def _steps(call: ast.Call) -> bool:
    """True for a step of an optimizer."""
    match call.func:
        case ast.Attribute(value=owner, attr="step"):
            return _OPTIMIZER.search(dotted(owner) or "") is not None
    return False


def _regions(
    file: PythonFile, syntax: SyntaxTree
) -> Iterator[tuple[AutocastCall, PythonFile, RegionNode, ast.Call]]:
    """The regions of a file: the contexts, their files, what they surround, where they are shown.

    A region of another file's function is shown where it is entered.
    """
    for made in autocasts(syntax):
        for region in entered(made, syntax):
            yield made, file, region, made.node
    for each in entered_elsewhere(file):
        yield each.made, each.made_in, each.region, each.context


def _is_scaled_elsewhere(file: PythonFile) -> bool:
    """True if another file that runs with this one may scale a loss."""
    path, project = file.text.path, file.project
    scaling = project.python_sources_matching(str(_SCALING.pattern).encode())
    return any(each != path and project.runs_with(each, path) for each in scaling)


def _on_the_host(file: PythonFile, syntax: SyntaxTree) -> Iterator[Finding]:
    """float16 on whatever device there is, where the scaler is off on the CPU."""
    for made in autocasts(syntax):
        dtype, function = made.argument("dtype"), syntax.function(made.node)
        if function is None or dtype is None or made.is_off or not made.is_generic:
            continue
        is_float16 = qualified(dtype, syntax.names) in _FLOAT16
        given = made.argument("device_type")
        if not is_float16 or not isinstance(given, ast.Attribute) or given.attr != "type":
            continue
        enabled = made.argument("enabled")
        tests = [] if enabled is None else [enabled]
        tests += [
            parent.test
            for parent in syntax.within_function(made.node)
            if isinstance(parent, ast.If | ast.IfExp)
        ]
        if any(_asks_for_device(test, syntax) for test in tests):
            continue
        switch = _switch_of_scaler(function, ast.unparse(given), syntax)
        if switch is not None:
            yield file.finding(
                RULE,
                file.span_of(made.node),
                "on the CPU this region is in float16, and the GradScaler is off",
                confidence=Confidence.MEDIUM,
                why="Gradients below 6e-8 become zero in float16, on the CPU as well. Before about "
                "torch 2.3, the region is off there, with a warning.",
                related=[file.related(file.span_of(switch), "no scaling on the CPU")],
            )


def _asks_for_device(test: ast.expr, syntax: SyntaxTree) -> bool:
    """True if a condition, or a variable in it, depends on the device."""
    held = (binding(node, syntax) for node in ast.walk(test) if isinstance(node, ast.Name))
    values = [value for each in held if isinstance(each, list) for value in each]
    return any(_DEVICES.search(ast.unparse(each)) for each in (test, *values))


def _switch_of_scaler(function: ast.AST, device: str, syntax: SyntaxTree) -> ast.expr | None:
    """The `enabled=` of a scaler in a function that is false on the CPU."""
    for node in ast.walk(function):
        match node:
            case ast.Call(keywords=keywords) if makes_grad_scaler(
                qualified(node.func, syntax.names)
            ):
                for keyword in keywords:
                    if keyword.arg == "enabled" and _is_off_on_cpu(keyword.value, device):
                        return keyword.value
    return None


def _is_off_on_cpu(test: ast.expr, device: str) -> bool:
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_is_off_on_cpu(value, device) for value in values)
        case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[ast.Constant(value="cpu")]):
            return ast.unparse(left) == device
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value="cuda")]):
            return ast.unparse(left) == device
    return False


def _is_float16(made: AutocastCall, syntax: SyntaxTree) -> bool:
    """True for a region in float16, given or by default, in whatever run."""
    dtype = made.argument("dtype")
    return dtype is None or qualified(dtype, syntax.names) in _FLOAT16


def _training(function: ast.AST, region: RegionNode, syntax: SyntaxTree) -> ast.Call | None:
    """The backward call of a function that steps an optimizer: of a loss made in the region."""
    assert isinstance(function, Scope)
    calls = [node for node in own_nodes(function) if isinstance(node, ast.Call)]
    if not any(map(_steps, calls)):
        return None
    backward = [call for call in calls if _differentiates(call)]
    if isinstance(region, With):
        inside = set(ast.walk(region))
        made = holders_of_names(_bound_in(region), region, syntax)
        backward = [call for call in backward if call in inside or reads_any(call, made)]
    return min(backward, key=lambda call: call.lineno, default=None)


def _differentiates(call: ast.Call) -> bool:
    """True for `loss.backward()`, and for `accelerator.backward(loss)`."""
    if callee_name(call) != "backward":
        return False
    return not call.args or "accelerator" in (dotted(call.func) or "")


def _bound_in(region: ast.AST) -> set[str]:
    """What a region assigns, and the objects whose methods it calls: `losses.append(loss)`."""
    bound: set[str] = set()
    for node in ast.walk(region):
        match node:
            case ast.Assign(targets=targets):
                bound |= {name for target in targets for name in names_of(target)}
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                bound |= set(names_of(target))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))):
                bound |= set(names_of(owner))
    return bound
