"""Positions or timesteps that are rounded to half precision.

## What it does
Finds:

- `torch.arange` and `torch.linspace` in bfloat16 or float16 (by `dtype=`, or by a cast of the
  result), if a bound that is written out is beyond the integers of this dtype, or if the function
  makes angles of the range: by `sin`, `cos`, `outer`, `einsum`, `polar`;
- `timesteps.to(torch.bfloat16)` and other casts to bfloat16 of what is named a timestep, most of
  which are integers below 1000;
- angles that are cast before `sin` and `cos`: a product of a range and frequencies, and what
  `RotaryPositionEmbedding` of TransformerEngine gives, which are angles and not cosines;
- timesteps in float32 that are given to a model which FSDP computes in bfloat16:
  `MixedPrecision(param_dtype=torch.bfloat16)` casts all floating inputs of the outermost module,
  unless it has `cast_root_forward_inputs=False` (FSDP2: `cast_forward_inputs=False`);
- in a file that does something when it is started, which is followed as Python would run it:
  ranges in the certain dtype of what this run gives, their products with frequencies in half
  precision, of which angles are made, and running sums in half precision that are used as integers;
- ranges in the dtype of a buffer (`type_as(self.inv_freq)`), and products of a range and such a
  buffer by `outer` or `einsum`, of which angles are made, if a program casts the module, or one
  that holds it: `net = Net()` and `net.bfloat16()`;
- angles that are made of a buffer which was rounded so, even after `.float()`, if it is registered
  with `persistent=False`, and the program that casts the module loads its weights from a file:
  these were trained with other angles;
- a matrix product of `torch.arange(…)` and frequencies in `forward`, by `@`, `matmul`, `mm` or
  `bmm`, whose result goes to `sin` or `cos`, in a program that calls it under autocast: autocast
  casts both.

The dtype must be known: a literal, a setting with its value, a tensor that was cast; of ranges,
only in files that name a half dtype. Not reported: ranges up to 256 in bfloat16 and 2048 in
float16, integers, positions in float32, products in a region with `enabled=False`, `torch.outer`
and `torch.einsum("i,j->ij", …)`, which autocast leaves alone, timesteps that were divided
before they are cast, timesteps between 0 and 1 (`torch.rand`) for FSDP, and angles of the rows and
columns of an image (`meshgrid`).

## Why it hurts
There is no error. bfloat16 represents all integers only up to 256, float16 up to 2048, and of those
beyond only every second, fourth, eighth … So positions coincide:
`torch.arange(300, dtype=torch.bfloat16)` has 279 distinct values (torch 2.13). The angle of
position 4095 is off by up to 8 radians, and timestep 937 becomes 936. Short inputs do not show it.

## Example
```python
import torch

t = torch.arange(length, device=device, dtype=torch.bfloat16)
angles = torch.outer(t, frequencies)
cos, sin = angles.cos(), angles.sin()
```

## Use instead
```python
import torch

t = torch.arange(length, device=device, dtype=torch.float32)
angles = torch.outer(t, frequencies.float())
cos, sin = angles.cos().to(torch.bfloat16), angles.sin().to(torch.bfloat16)
```

## Fix safety
Unsafe: `dtype=` becomes `torch.float32`, and so may the result, which must be cast to the dtype of
the model after `cos` and `sin`. No fix for casts and products.

## References
- Pitfalls E05, E06, E16
- https://github.com/huggingface/transformers/pull/29285
- https://github.com/EleutherAI/gpt-neox/issues/1003
- https://github.com/modelscope/DiffSynth-Studio/pull/1025
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Position,
    ProgramRounding,
    PythonFile,
    Related,
    Rule,
    Severity,
    angles_in_half,
    positions,
    positions_of_buffers,
    precision_of,
    program_positions,
    sharded_inputs,
)

RULE = Rule(
    code="MP304",
    name="positions-in-half",
    summary="positions or timesteps are rounded to half precision",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=(
        (b"torch",),
        (b"arange(", b"linspace(", b"timestep", b"cumsum(", b"RotaryPositionEmbedding"),
    ),
    pitfalls=("E05", "E06", "E16"),
    preview=True,
)

_INTEGERS = {"bfloat16": 256, "float16": 2048}


def check_source(file: PythonFile) -> Iterator[Finding]:
    every = (
        *positions_of_buffers(file),
        *positions(file),
        *angles_in_half(file),
        *sharded_inputs(file),
    )
    found = {one.span: one for one in every}
    for each in program_positions(file):
        if each.call.span not in found:
            yield _of_program(each, file)
    for position in found.values():
        is_proved = position.form == "range" and position.is_certain and position.use is None
        yield file.finding(
            RULE,
            position.span,
            _message(position, file),
            confidence=Confidence.HIGH if is_proved else Confidence.MEDIUM,
            why=_why(position),
            fix=_fix(position),
            related=list(_related(position, file)),
            precisions=tuple(filter(None, [precision_of(position.dtype)])),
        )


def _of_program(found: ProgramRounding, file: PythonFile) -> Finding:
    related = [*(place.related for place in found.call.way), *found.related]
    return file.finding(
        RULE,
        found.call.span,
        f"{found.problem} in this program",
        confidence=Confidence.MEDIUM,
        why=f"{found.effect[:1].upper()}{found.effect[1:]}. Compute them in float32.",
        related=list(dict.fromkeys(related)),
        precisions=tuple(filter(None, [precision_of(found.dtype)])),
    )


def _why(position: Position) -> str:
    if position.form == "buffer":
        return (
            "The weights come from a file, but the buffer does not: a cast to float32 restores "
            "nothing, and the angles of far positions are not those of the training. "
            "Make the buffer in float32 after the module is cast."
        )
    if position.form == "input":
        return (
            f"{position.dtype} has 8 bits: of 1000 timesteps about 290 differ, and embeddings that "
            "the model computes in float32 start from rounded ones. Set "
            "`cast_root_forward_inputs=False`, or `cast_forward_inputs=False` of FSDP2, and cast "
            "the other inputs before the call."
        )
    if position.form == "angles":
        advice = (
            "TransformerEngine takes the sine and the cosine of them. Leave them in float32."
            if position.use is None
            else "Take the sine and the cosine in float32, and cast these."
        )
        return f"The angles of far positions are off by radians. {advice}"
    if position.form == "frequencies":
        return "The angles of far positions are wrong. Compute them in float32."
    return (
        f"{position.dtype} represents all integers only up to {_INTEGERS[position.dtype]}: "
        "larger positions round to the same number."
    )


def _message(position: Position, file: PythonFile) -> str:
    are = "are" if position.is_certain else "can be"
    call = position.call
    if call is None:
        return f"autocast rounds the positions of this product to {position.dtype}"
    if position.form == "input":
        name = file.text[position.span]
        return f"FSDP casts `{name}` to {position.dtype} on its way into the model"
    if position.form == "angles":
        return f"the angles that are cast here {are} rounded to {position.dtype}"
    if position.form == "buffer":
        was = "was" if position.is_certain else "can have been"
        return f"the buffer that is read here {was} rounded to {position.dtype}"
    if position.form == "frequencies":
        return f"positions are multiplied by frequencies that {are} {position.dtype}"
    if position.form == "timesteps" and call.receiver_span is not None:
        return f"the values of `{file.text[call.receiver_span]}` {are} rounded to {position.dtype}"
    return f"the numbers of this range {are} rounded to {position.dtype}"


def _related(position: Position, file: PythonFile) -> Iterator[Related]:
    yield position.origin.related
    yield from (site.related for site in position.origin.route)
    if position.use is not None:
        yield file.related(position.use, "angles are computed from them here")


def _fix(position: Position) -> Fix | None:
    call = position.call
    dtype = None if call is None else call.keywords.get("dtype")
    if position.form != "range" or call is None or call.function is None or dtype is None:
        return None
    edit = Edit(dtype.span, "torch.float32")
    return Fix(Applicability.UNSAFE, "Make the range in float32", (edit,))
