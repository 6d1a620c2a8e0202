"""NumPy conversion of a bfloat16 tensor.

## What it does
Finds conversions to NumPy arrays of tensors that are bfloat16 or fp8, or can be:

- by methods: `t.numpy()`, `t.numpy(force=True)`, `t.__array__()`;
- by functions of NumPy: `np.asarray(t)`, `np.float32(t)`, `np.sqrt(t)`, `np.save(path, t)` …;
- by plots (matplotlib, seaborn, plotly), pandas (`pd.DataFrame({"loss": t})`), polars, scikit-learn
  (metrics and models), SciPy, faiss;
- by what makes or writes images, sound and meshes: `to_pil_image` and `ToPILImage` of torchvision
  since 0.17, imageio, mediapy, scikit-image, soundfile, librosa, trimesh, `to_numpy_array` of
  transformers, `wandb.Image` and `wandb.Histogram`, tensorboardX, h5py.

Lists of tensors count (`np.stack(losses)`, `np.mean([a, b])`) if the function converts them.
Methods count if their object is known to come from such a library (`fig, ax = plt.subplots()`).

Not reported are integers, bools, comparisons, `argmax`, token ids, tensors that were cast, and
arrays of other libraries. Code that works is not reported: `.tolist()`, `.item()`, `float(t)`,
`np.split(t, 2)`, `pd.Series` of a list of tensors, `torchvision.utils.save_image`, datasets,
evaluate, torchmetrics, and torch's own TensorBoard writer, unless the project pins a torch below
2.3 (`add_histogram`). Neither is code that fails with any
dtype or with another error: `np.mean(t)`, `memoryview(t)`, `Image.fromarray(t)`, OpenCV, JSON,
pyarrow, `safetensors.numpy`, `np.from_dlpack(t)`. Operators between arrays and tensors (`array *
t`) are not checked. The output of a model counts only where it is used as a tensor: as an argument
it may be an image. Of modules whose code is not seen, only classes of torch, transformers,
diffusers and the like count, and outputs with the names of theirs (`logits`): others may widen what
they return. Weights that a function is given count if something in the project names the function.
Code that tests for bfloat16 (`x.float().numpy() if use_bf16 else x.numpy()`) is not reported, nor
what a test expects to fail (`with pytest.raises(TypeError)`).

Confidence is high if the tensor is proved to have such a dtype, or if a test is parametrized with
it (`@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])`). It is medium if the
finding can name where the dtype comes from and the call sites on the way: a cast in the code, a
value in the configuration, a default that names it, or autocast that a framework turns on. If an
option of a program chooses the dtype, the finding says with which value: ``with `--dtype bf16` ``.
An option without choices takes every name of the table that it is looked up in. Weights of a model
that anybody may give count where a program that the file is a part of makes or loads modules in
bfloat16, and so does a class of the project that the project itself loads with a dtype
(`Encoder.from_pretrained(path, dtype=dtype)`, also in a docstring or a page). What only a `for`
loop without a pass leaves does not count. Programs in the
README, in pages, notebooks and docstrings count as runs if they name bfloat16, and so do the
commands of Markdown pages (`python score.py --dtype bfloat16`): the finding names the line of the
document. `dtype="auto"` counts where such a program uses bfloat16 at all. What is loaded without a
dtype has that of its checkpoint: it counts where a file on the way makes tensors bfloat16. What
`torch.load` gives counts as weights only if it is read as they are: all entries alike, or under a
key that names weights (`state_dict`, `lm_head.weight`). Of a table of all formats, with bools and
`int64`, a float under an unknown key is a guess, and so are the weights of what a function of the
project returns that could not be followed. Autocast and mixed precision make no weights bfloat16.
Data whose array becomes integers at once, as by `.astype(np.int32)`, or whose bytes are read
(`.tobytes()`), holds packed integers and is not reported. transformers before 5 loads float32
unless it is given a dtype. Otherwise only a caller could choose the dtype; confidence is low, and
the finding is hidden by default. float16 is no evidence: NumPy has it.

## Why it hurts
NumPy has no bfloat16: `TypeError: Got unsupported ScalarType BFloat16` (torch 2.13; the same in
every release). `.numpy(force=True)` and `np.asarray(t, dtype=np.float32)` raise as well, because
torch converts before NumPy casts. Tests in float32 do not reveal it.

## Example
```python
logits = model(**batch).logits
scores = logits.cpu().numpy()
plt.plot(losses)
```

## Use instead
```python
logits = model(**batch).logits
scores = logits.cpu().float().numpy()
plt.plot([item.float() for item in losses])
```
or, if the tensor may be integral or float64, the helper `to_numpy(logits.cpu())`.

## Fix safety
Where the tensor is certainly of a floating dtype that float32 holds, the fix inserts `.float()`,
after the move to the host so that half the bytes are copied; it needs no import. Where the tensor
may be integral or float64, which `.float()` would change, the fix is `to_numpy`: it converts the
dtypes that NumPy lacks to float32 and leaves every other tensor unchanged. That fix needs the
helper: the configuration names its module (`fix.helper-module`), or the file imports it already.
Without a helper the fix is `.float()`, and unsafe; it is shown only where the tensor is known to be
integers, bools or float64 on some way: labels of `argmax` and `topk` that take the same way as the
logits, masks of comparisons. Where the value may be something else than a tensor, `to_numpy` is
shown and not applied. The items of literals, of comprehensions and of lists
in variables are converted one by one.

Safe if the values are certainly tensors of torch. Unsafe if they may be something else, as both
`.float()` and `to_numpy` reject Python numbers in a list, and tensors of TensorFlow, which also
have a method `numpy`. Items of lists are tensors for certain where a dtype is known to reach them,
and what has a method `numpy` where the file names no other framework.

Display only if the file reads the bytes of the array: `.tobytes()`, `.view(np.int16)`, `.nbytes`, a
hash, `stream.write(array)`, also through an attribute, or in a function that gets or returns it.
float32 has twice as many bytes as bfloat16, and what reads them does not notice.

Unsafe if the fix changes more than the error: `np.sqrt(t)` and other functions return a tensor
for a tensor, and `to_numpy` makes it an array, or `.float()` makes a float16 result a float32 one;
scikit-learn models compute in float64 for a tensor and in the array's own dtype for an array,
seaborn writes `None` on the axis of a tensor. Display only for `to_pil_image` and `wandb.Image`,
which read arrays with the channels last and integers as other values than floats, unless the tensor
is certainly floating. No fix if the tensors are in a list that is built with `*` or contains lists,
or if a comment would be lost.

## References
- Pitfalls A01, A02, A03, A04, A05
- https://github.com/unslothai/unsloth/issues/930
- https://github.com/InternLM/lmdeploy/issues/2453
- https://github.com/pytorch/pytorch/issues/110285
- https://github.com/pytorch/pytorch/pull/120087
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from precision_lint.fixers import arrays, calls, helpers, raw_bytes
from precision_lint.rule_api import (
    BFLOAT16,
    Applicability,
    Argument,
    Call,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    Span,
    Tensor,
    functions_around,
    guard_excludes_bfloat16,
    is_expected_to_fail,
    is_of_run,
    precision_of,
    regex,
    sinks,
    witnesses,
)

_NAMES = sorted(name.encode() for name in sinks.NAMES)
_LIBRARIES = sorted(package.encode() for package in sinks.PACKAGES)

RULE = Rule(
    code="MP101",
    name="numpy-on-bfloat16",
    summary="NumPy conversion of a tensor that is or can be bfloat16",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("bf16", "fp8"),
    fix="sometimes",
    triggers=((*_NAMES, *_LIBRARIES),),
    calls=frozenset(
        {*sinks.NAMES, *sinks.METHODS_OF_OTHERS} | {f"{package}.*" for package in sinks.PACKAGES}
    ),
    pitfalls=("A01", "A02", "A03", "A04", "A05"),
)

_NAME = regex(r"\w+")
_BYTES = "; its bytes, which are read here, are then those of float32"
_WIDEN = ".float()"
_AS_INTEGERS = regex(r"\.astype\((?:np|numpy)\.u?int(?:16|32|64)\)")
"""What makes integers of an array. Images are made of floats with `np.uint8`."""
_FLOATING = frozenset({"dtype", "autocast", "loader", "weights", "auto", "load"})
"""Kinds of origins of floats: a dtype that is named, and weights."""
_OTHER_FRAMEWORKS = regex(
    r"tensorflow|\b(?:flax|jax|keras|mindspore|paddle|tf)\b|_tf\b|\btf_|\bTF(?=[A-Z])", re.ASCII
)
"""What code with tensors of other frameworks names."""


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    """False in a file that neither names tensors nor is a part of a program with half precision."""
    return file.fact(_may_get_tensors, lambda: _may_get_tensors(file))


def _may_get_tensors(file: PythonFile) -> bool:
    """True if a file names what makes or converts tensors, or its program may give it some."""
    if any(word in file.text.text for word in _OF_TENSORS):
        return True
    project, path = file.project, file.text.path
    choosing = project.python_sources_matching(_CHOOSING_HALF)
    return any(project.runs_with(each, path) for each in choosing)


_OF_TENSORS = ("torch", ".cpu()", ".detach()")

_CHOOSING_HALF = rb"\b(?:bfloat16|bf16|BF16)\b|\bgetattr\(torch,"
"""What a Python file holds that chooses bfloat16, or a dtype by its name."""


def follows(call: Call) -> bool:
    return sinks.may_convert(call)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    sink = sinks.sink_of(call, file.project.version_of)
    converted = [] if sink is None else [one for one in sink.converted(call) if _lacking(one)]
    if sink is None or not converted:
        return
    if any(guard_excludes_bfloat16(guard, file.text) for guard in call.guards):
        return  # `x.float().numpy() if use_bf16 else x.numpy()`
    if is_expected_to_fail(call, file):
        return
    tensors = [tensor for argument in converted for tensor in _lacking(argument)]
    proved = [argument for argument in converted if _is_proved(argument)]
    named = [one for one in converted if any(each.dtypes & sinks.LACKING for each in _lacking(one))]
    dtypes = sorted({name for tensor in tensors for name in tensor.dtypes & sinks.LACKING})
    dtype = " or ".join(dict.fromkeys(map(_in_short, dtypes or [BFLOAT16])))
    origins = {tensor.origin.related: None for tensor in tensors if tensor.origin is not None}
    confidence = Confidence.HIGH if proved else Confidence.LOW
    if not proved:
        is_packed = _are_integers(file, call.span)
        for witness in witnesses(tensors, sinks.LACKING, file, call.span, is_packed=is_packed):
            origins[witness] = None
            confidence = Confidence.MEDIUM
        if any(is_of_run(tensor) and tensor.may_be(sinks.LACKING) for tensor in tensors):
            confidence = Confidence.HIGH
    yield file.finding(
        RULE,
        call.span,
        f"{_subject(file, *proved, *named, *converted)} {dtype}, which NumPy does not have",
        confidence=confidence,
        severity=Severity.ERROR if proved else Severity.WARNING,
        why="`TypeError: Got unsupported ScalarType "
        f"{sinks.scalar_type((dtypes or [BFLOAT16])[0])}`"
        + ("." if proved else f", raised if the tensor is {dtype}."),
        fix=partial(_fix, call, file, sink, converted),
        related=list(origins),
        precisions=tuple(dict.fromkeys(filter(None, map(precision_of, dtypes or [BFLOAT16])))),
    )


def _are_integers(file: PythonFile, span: Span) -> bool:
    """True if the array becomes integers, or its bytes are read: of text, of an encoded image."""
    return _AS_INTEGERS.match(file.text.text, span.end) is not None or raw_bytes.are_read(
        file, span
    )


def _in_short(dtype: str) -> str:
    """The formats of float8 have one name."""
    return "float8" if dtype.startswith("float8") else dtype


def _lacking(argument: Argument) -> list[Tensor]:
    """The tensors of an argument that can have a dtype that NumPy lacks."""
    return [tensor for tensor in sinks.tensors(argument.value) if tensor.may_be(sinks.LACKING)]


def _is_proved(argument: Argument) -> bool:
    return any(tensor.must_be(sinks.LACKING) for tensor in _lacking(argument))


def _subject(file: PythonFile, argument: Argument, *_: Argument) -> str:
    """What the message is about: "`logits` can be"."""
    text = file.text[argument.span]
    what = f"`{text}`" if len(text) <= 40 and "\n" not in text else ""
    is_tensor = isinstance(argument.value, Tensor)
    what = what or ("this tensor" if is_tensor else "this argument")
    if _is_proved(argument):
        return f"{what} {'is' if is_tensor else 'holds'}"
    return f"{what} can {'be' if is_tensor else 'hold'}"


def _fix(call: Call, file: PythonFile, sink: sinks.Sink, converted: list[Argument]) -> Fix | None:
    helper = helpers.helper(
        file, "to_numpy", call.span.start, file.helper_module("to_numpy"), file.import_style
    )

    is_of_parameter = any(_is_of_parameter(file, argument.span) for argument in converted)
    are_tensors = all(_are_tensors(sink, file, argument) for argument in converted)
    is_helper_wanted = helper.is_asked_for or not are_tensors

    def is_float(tensor: Tensor) -> bool:
        by_route = tensor.caller_chosen and tensor.origin is not None and tensor.origin.route
        is_certain = _is_narrow_float(tensor) and not (by_route and is_of_parameter)
        return is_certain or sink.array == "something else"

    def choose(tensor: Tensor) -> str | None:
        if not tensor.may_be(sinks.LACKING):
            return None
        return helper.local if is_helper_wanted and not is_float(tensor) else _WIDEN

    edits: list[Edit] = []
    for argument in converted:
        part = (
            _of_receiver(call, file, choose(_lacking(argument)[0]) or _WIDEN)
            if sink.receiver
            else arrays.convert_argument(file, call, argument, choose)
        )
        if part is None:
            return None
        edits += part
    level = min(_applicability(sink, file, argument) for argument in converted)
    read = _BYTES if raw_bytes.are_read(file, call.span) else ""
    if read:
        level = Applicability.DISPLAY
    if any(helper.local in edit.content for edit in edits):
        if not helper.is_at_hand:
            allowed = Applicability.UNSAFE if helper.is_asked_for else Applicability.DISPLAY
            level = min(level, allowed)
        message = "Use `to_numpy`: bfloat16 and float8 become float32, other dtypes stay"
        return Fix(level, f"{message}{read}{helper.note}", (*helper.edits, *edits))
    if all(is_float(tensor) for argument in converted for tensor in _lacking(argument)):
        return Fix(level, f"Widen to float32 on the host{read}", tuple(edits))
    message = "Widen to float32 on the host, integers and float64 as well"
    keeps = "`precision-lint vendor to_numpy` writes a helper that keeps their dtypes"
    holds_others = any(_is_also_other(one) for argument in converted for one in _lacking(argument))
    allowed = Applicability.DISPLAY if holds_others else Applicability.UNSAFE
    return Fix(min(level, allowed), f"{message}{read} ({keeps})", tuple(edits))


def _is_of_parameter(file: PythonFile, span: Span) -> bool:
    """True for `t.cpu()` in `def host(t)`: what one caller passes says nothing of the others."""
    name = _NAME.match(file.text.text, span.start)
    return (
        name is not None
        and name[0] not in {"self", "cls"}
        and any(
            each.arg == name[0]
            for node in functions_around(file, span.start)
            for each in (*node.args.args, *node.args.kwonlyargs)
        )
    )


def _is_narrow_float(tensor: Tensor) -> bool:
    """True if the tensor is certainly of a floating dtype, and one that float32 holds.

    A caller who may choose the dtype may pass integers as well, and data that is loaded may hold
    integers. The weights of a model are floats.
    """
    is_named = tensor.origin is not None and tensor.origin.kind in _FLOATING
    is_float = tensor.dtypes <= sinks.NARROW and not tensor.may_be_other
    return is_float and (is_named if tensor.caller_chosen else bool(tensor.dtypes))


def _is_also_other(tensor: Tensor) -> bool:
    """True if it is known to be integers, bools or float64 on some way, as labels of `argmax`."""
    return not tensor.dtypes <= sinks.NARROW


def _of_receiver(call: Call, file: PythonFile, how: str) -> list[Edit] | None:
    if how == _WIDEN:
        insertion = calls.insert_before_method(file, call, how)
        return None if insertion is None else [insertion]
    if call.name == "__array__" and (call.arguments or call.keywords):
        return calls.wrap_before_method(file, call, how)  # arrays also have this method
    return calls.wrap_receiver(file, call, how)


def _applicability(sink: sinks.Sink, file: PythonFile, argument: Argument) -> Applicability:
    tensors = _lacking(argument)
    if all(tensor.must_be(sinks.LACKING) for tensor in tensors):
        return Applicability.SAFE
    match sink.array, argument.value:
        case "something else", _ if not all(map(_is_narrow_float, tensors)):
            return Applicability.DISPLAY
        case "another result", Tensor():
            return Applicability.UNSAFE
    return Applicability.SAFE if _are_tensors(sink, file, argument) else Applicability.UNSAFE


def _names_other_framework(file: PythonFile) -> bool:
    return _OTHER_FRAMEWORKS.search(file.text.text) is not None


def _are_tensors(sink: sinks.Sink, file: PythonFile, argument: Argument) -> bool:
    """True if the values that are converted are certainly tensors of torch.

    A list can contain Python numbers, whatever an annotation of it promises: its items are tensors
    where a dtype is known to reach them. Tensors of TensorFlow also have a method `numpy`.
    """
    if sink.receiver:
        return not file.fact(_OTHER_FRAMEWORKS, lambda: _names_other_framework(file))
    if isinstance(argument.value, Tensor):
        value = argument.value
        is_declared = value.origin is not None and value.origin.kind == "caller"
        return is_declared or not value.may_be_other or value.scalar is not None
    return all(
        tensor.dtypes & sinks.LACKING and not tensor.may_be_other for tensor in _lacking(argument)
    )
