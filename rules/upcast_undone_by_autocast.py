"""Casts to float32 before a product that autocast runs in half precision.

## What it does
Finds matrix products, convolutions and attention inside an autocast region whose operands were all
explicitly cast to float32: `q.float() @ k.float().T`, `torch.matmul`, `bmm`, `torch.einsum`,
`F.linear`, `F.conv2d`, `F.scaled_dot_product_attention`. The casts may be in the product itself or
in an earlier assignment of a variable; views (`.transpose(1, 2)`, `.T`) and multiplications by a
scale may be in between.

Not reported: products of which only some operands were cast (the cast may only make dtypes agree),
float64, masks and other integers on both sides, `out=`, and regions with `enabled=False`. A product
that is immediately cast back to another dtype has low confidence: little is lost there. Confidence
is medium if a setting enables the region, or if the caller chooses its dtype. A region in the
callers of the function counts with low confidence, and so does one that a program of another file
opens around `forward`, if it names its dtype: nobody has read such findings in unseen code yet.

## Why it hurts
Autocast casts the operands of these operators to half precision, even after an explicit cast. There
is no error. The product is rounded to 8 bits (bfloat16) or 11 bits (float16): the position 1001
times the frequency 1.0 is 1000 in bfloat16, and in float16 a sum of squares above 65504 is
infinite. `.double()` is respected, because autocast does not touch float64.

## Example
```python
with torch.autocast("cuda", dtype=torch.bfloat16):
    angles = positions.float() @ frequencies.float()
```

## Use instead
```python
with torch.autocast("cuda", dtype=torch.bfloat16):
    with torch.autocast("cuda", enabled=False):
        angles = positions.float() @ frequencies.float()
```
In the inner region the casts take effect. If half precision is good enough, remove the casts: they
cost memory and time.

## Fix safety
There is no fix: the author may want float32, or only believe that the code computes in it.

## References
- Pitfall C08
- https://docs.pytorch.org/docs/stable/amp.html#cuda-ops-that-can-autocast-to-float16
- https://github.com/huggingface/transformers/pull/29285
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.rule_api import (
    BFLOAT16,
    DTYPES,
    FLOAT16,
    FLOATING,
    AutocastCall,
    Call,
    Confidence,
    Finding,
    PythonFile,
    Region,
    Related,
    Rule,
    Severity,
    Span,
    SyntaxTree,
    Tensor,
    binding,
    calls_in_other_regions,
    fact,
    multiplied,
    qualified,
    regions_around,
    syntax_tree,
)

RULE = Rule(
    code="MP213",
    name="upcast-undone-by-autocast",
    summary="float32 casts before a product that autocast runs in half precision",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    triggers=((b"torch",), (b".float()", b"torch.float")),
    calls=frozenset({"float", "to", "type"}),
    pitfalls=("C08",),
)

_HALF = frozenset({FLOAT16, BFLOAT16})
_NOT_HALF = (DTYPES - FLOATING) | {"float64"}
_SINGLE = frozenset({"torch.float", "torch.float32"})
_VIEWS = frozenset(
    "transpose permute reshape view unsqueeze squeeze flatten contiguous expand t swapaxes".split()
)
_NARROWS = frozenset({"to", "type", "type_as", "half", "bfloat16", "int", "long"})


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    return file.span_of(node) in _products(file)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    region = call.autocast
    if region is None or not _may_be_half(region):
        return
    for product, casts in _products(file).get(call.span, ()):
        syntax = syntax_tree(file)
        around = next(regions_around(product, syntax), None)
        if next(regions_around(casts[0], syntax), None) != around:
            continue  # the region of the cast is not that of the product
        if around is None and not region.dtype.dtypes:
            continue  # some caller's region, which may be off
        if around is not None and _is_off_somewhere(around):
            continue  # and that of a caller is for the same device
        if _is_counting(casts, call, file):
            continue
        related = [region.dtype.origin.related] if region.dtype.origin is not None else []
        if around is not None:
            related = [file.related(file.span_of(around.node), "the autocast region")]
        confidence = _confidence(product, region, around is not None, file)
        yield _finding(product, region, confidence, related, file)


def _is_off_somewhere(around: AutocastCall) -> bool:
    """True for `torch.autocast(device, enabled=False)`, whichever device that is."""
    match around.argument("enabled"):
        case ast.Constant(value=False):
            return around.device is None
    return False


def check_source(file: PythonFile) -> Iterator[Finding]:
    """Products in `forward` of a module that a program of another file calls in a region."""
    products = {
        span: [each for each in found if _is_in_forward(each[0], file)]
        for span, found in _products(file).items()
    }
    if not any(products.values()):
        return

    def is_first_cast(node: ast.expr) -> bool:
        return bool(products.get(file.span_of(node)))

    for call in calls_in_other_regions(RULE.calls, is_first_cast, file):
        for product, casts in products.get(call.span, ()):
            region = call.autocast
            if region is None or _is_counting(casts, call, file):
                continue
            related = [region.dtype.origin.related] if region.dtype.origin is not None else []
            yield _finding(product, region, Confidence.LOW, related, file)


def _is_in_forward(product: ast.expr, file: PythonFile) -> bool:
    """True in `forward` outside of the regions, on or off, that it enters itself."""
    syntax = syntax_tree(file)
    function = syntax.function(product)
    is_forward = isinstance(function, ast.FunctionDef) and function.name == "forward"
    return is_forward and next(regions_around(product, syntax), None) is None


def _finding(
    product: ast.expr,
    region: Region,
    confidence: Confidence,
    related: Sequence[Related],
    file: PythonFile,
) -> Finding:
    return file.finding(
        RULE,
        file.span_of(product),
        f"autocast undoes the casts to float32: this product is {_precision(region)}",
        confidence=confidence,
        why="Autocast casts the operands of a product whatever their dtype. Compute the "
        "product in `torch.autocast(…, enabled=False)`, or remove the casts.",
        related=related,
    )


@fact
def _products(file: PythonFile) -> dict[Span, list[tuple[ast.expr, list[ast.Call]]]]:
    """The products all of whose operands were cast, by the place of the first of the casts."""
    syntax = syntax_tree(file)
    found: dict[Span, list[tuple[ast.expr, list[ast.Call]]]] = {}
    for node in file.nodes:
        if not isinstance(node, ast.BinOp | ast.Call):
            continue
        casts = [_cast(operand, syntax) for operand in multiplied(node, syntax)]
        seen = [cast for cast in casts if cast is not None]
        if seen and len(seen) == len(casts):
            found.setdefault(file.span_of(seen[0]), []).append((node, seen))
    return found


def _cast(operand: ast.expr, syntax: SyntaxTree, depth: int = 4) -> ast.Call | None:
    """The cast to float32 that an operand comes from, by views, scales and one variable."""
    match operand:
        case ast.Call(func=ast.Attribute(attr="float"), args=[], keywords=[]):
            return operand
        case ast.Call(func=ast.Attribute(attr="to" | "type"), args=args, keywords=keywords):
            given = [*args, *(keyword.value for keyword in keywords)]
            is_cast = any(qualified(each, syntax.names) in _SINGLE for each in given)
            return operand if is_cast else None
        case ast.Call(func=ast.Attribute(value=value, attr=view)) if view in _VIEWS:
            return _cast(value, syntax, depth)
        case ast.Attribute(value=value, attr="T" | "mT") | ast.Subscript(value=value):
            return _cast(value, syntax, depth)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            return _cast(left, syntax, depth) or _cast(right, syntax, depth)
        case ast.Name() if depth:
            values = binding(operand, syntax)
            if isinstance(values, list) and len(values) == 1:
                return _cast(values[0], syntax, depth - 1)
    return None


def _is_counting(casts: list[ast.Call], call: Call, file: PythonFile) -> bool:
    """Whether masks, or other integers, or float64 were cast: nothing was in half precision."""
    spans = {file.span_of(cast) for cast in casts}
    facts = [each for name in RULE.calls for each in call.module.named(name) if each.span in spans]
    wide = [
        isinstance(each.receiver, Tensor) and each.receiver.must_be(_NOT_HALF) for each in facts
    ]
    return bool(wide) and all(wide)


def _may_be_half(region: Region) -> bool:
    made = region.dtype.of_tensor()
    return made.may_be_other or made.may_be(_HALF)


def _precision(region: Region) -> str:
    """What a product in a region is computed in, in words."""
    names = sorted(region.dtype.dtypes & _HALF)
    return f"computed in {' or '.join(names)}" if names else "computed in half precision"


def _confidence(product: ast.expr, region: Region, is_here: bool, file: PythonFile) -> Confidence:
    dtype = region.dtype
    if _narrows(syntax_tree(file).parent(product)) or not (dtype.dtypes or dtype.caller_chosen):
        return Confidence.LOW
    if not dtype.dtypes & _HALF:
        return file.chosen_by_caller()
    if not is_here:
        return Confidence.LOW
    is_proved = dtype.dtypes <= _HALF and not (dtype.may_be_other or dtype.caller_chosen)
    return Confidence.HIGH if is_proved else Confidence.MEDIUM


def _narrows(parent: ast.AST | None) -> bool:
    """Whether a product is cast again at once: `(q.float() @ k.float()).to(q.dtype)`."""
    return isinstance(parent, ast.Attribute) and parent.attr in _NARROWS
