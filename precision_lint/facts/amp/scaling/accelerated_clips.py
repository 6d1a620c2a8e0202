"""Gradients that torch clips while the scaler of an `Accelerator` has them scaled.

`accelerator.backward(loss)` scales the loss where mixed precision is `fp16`, and the step of the
prepared optimizer unscales the gradients (accelerate 1.15, `Accelerator.backward`,
`AcceleratedOptimizer.step`). `accelerator.clip_grad_norm_` unscales them first,
`torch.nn.utils.clip_grad_norm_` does not know of the scale. A Trainer of transformers has such an
accelerator.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.amp.launch_backends import is_started_with_backend
from precision_lint.facts.amp.launched_dtypes import given_choice
from precision_lint.facts.amp.scaling.plugins import accelerators
from precision_lint.facts.amp.setting_paths import setting_path
from precision_lint.facts.amp.trainer_setups import ARGUMENTS
from precision_lint.facts.context import PythonFile
from precision_lint.facts.settings.option_calls import destination
from precision_lint.facts.settings.vocabulary import names_float16
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding, default_of, enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import last_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_CLIPS = ("clip_grad_norm_", "clip_grad_value_")
_ACCELERATOR = regex(r"(?i)accelerator$")
"""What people call an `Accelerator`."""
_OTHER_SCALING = regex(
    r"unscale_|import deepspeed|DeepSpeedPlugin|FullyShardedDataParallel|FSDP|[Mm]egatron"
)
"""Backends that scale by themselves, and code that unscales gradients."""
_MOST_NAMES = 4
"""Names that are followed from an argument to the value that it is."""


@frozen
class AcceleratedClip:
    """A clip of torch after the backward pass of an `accelerator`; `chosen` makes it float16."""

    clip: ast.Call
    backward: ast.Call
    accelerator: ast.expr
    chosen: Related


def accelerated_clips(file: PythonFile) -> Iterator[AcceleratedClip]:
    """The clips of a file that take scaled gradients of an accelerator for unscaled ones."""
    text = file.text.text
    if "ccelerator" not in text or "clip_grad_" not in text or _OTHER_SCALING.search(text):
        return
    syntax = syntax_tree(file)
    clips = [call for name in _CLIPS for call in syntax.calls(name)]
    if any(_ACCELERATOR.search(_owner(call)) for call in clips):
        return  # the file knows
    for backward in syntax.calls("backward"):
        match backward:
            case ast.Call(func=ast.Attribute(value=accelerator), args=[_]):
                pass
            case _:
                continue
        if not _ACCELERATOR.search(last_name(accelerator)):
            continue
        clip = _clip_after(backward, clips, syntax)
        chosen = None if clip is None else _float16(accelerator, file, syntax)
        if clip is not None and chosen is not None and not is_started_with_backend(file):
            yield AcceleratedClip(clip, backward, accelerator, chosen)


def _owner(call: ast.Call) -> str:
    return last_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def _clip_after(backward: ast.Call, clips: list[ast.Call], syntax: SyntaxTree) -> ast.Call | None:
    """The first clip of torch that follows in the same function, with no step between the two."""
    body = syntax.body(backward)
    after = [
        call
        for call in clips
        if call.lineno > backward.lineno
        and syntax.body(call) is body
        and qualified(call.func, syntax.names).startswith("torch.nn.utils.")
    ]
    clip = min(after, key=lambda call: call.lineno, default=None)
    between = (*syntax.calls("step"), *syntax.calls("backward"))
    if clip is None or any(
        backward.lineno < call.lineno < clip.lineno and syntax.body(call) is body
        for call in between
    ):
        return None
    return clip


def _float16(accelerator: ast.expr, file: PythonFile, syntax: SyntaxTree) -> Related | None:
    """What makes an accelerator compute in float16, in a run that the project offers."""
    made = [*accelerators(syntax)]
    for call in made:
        for keyword in call.keywords:
            if keyword.arg == "mixed_precision":
                return _chosen(keyword.value, file, syntax, _MOST_NAMES)
    if made or not _is_of_trainer(accelerator, syntax):
        return None
    return _of_arguments(file, syntax)


def _chosen(
    node: ast.expr | None, file: PythonFile, syntax: SyntaxTree, names: int
) -> Related | None:
    """Where `fp16` is the value of an expression, a default, a choice of an option, or given."""
    match node:
        case ast.Constant(value=str(value)) if names_float16(value):
            return file.related(file.span_of(node), "float16 is chosen here")
        case ast.IfExp(body=body, orelse=other):
            found = (_chosen(each, file, syntax, names) for each in (body, other))
            return next((each for each in found if each is not None), None)
        case ast.Name() if names:
            match binding(node, syntax):
                case ast.arg() as parameter:
                    return _chosen(default_of(parameter, syntax), file, syntax, names - 1)
                case list(values):
                    found = (_chosen(each, file, syntax, names - 1) for each in values)
                    return next((each for each in found if each is not None), None)
    path = None if node is None else setting_path(node)
    return None if path is None else _of_option(path, file, syntax) or _given(path, file)


def _of_option(path: tuple[str, ...], file: PythonFile, syntax: SyntaxTree) -> Related | None:
    """Where an option of the file has `fp16` as its default or one of its choices."""
    for call in syntax.calls("add_argument"):
        if destination(call) != path[-1]:
            continue
        for keyword in call.keywords:
            if keyword.arg in {"default", "choices"}:
                for value in walk(keyword.value):
                    if isinstance(value, ast.Constant) and names_float16(value.value):
                        return file.related(file.span_of(value), "float16 is chosen here")
    return None


def _given(path: tuple[str, ...], file: PythonFile) -> Related | None:
    choice = given_choice(path, file, names_float16)
    return None if choice is None else choice.origin.related


def _is_of_trainer(accelerator: ast.expr, syntax: SyntaxTree) -> bool:
    """True for `self.accelerator` in a class that extends a Trainer of transformers or TRL."""
    match accelerator:
        case ast.Attribute(value=ast.Name(id="self")):
            owner = enclosing_class(accelerator, syntax)
            names = [qualified(base, syntax.names) for base in owner.bases] if owner else []
            return any(
                name.partition(".")[0] in {"transformers", "trl"} and name.endswith("Trainer")
                for name in names
            )
    return False


def _of_arguments(file: PythonFile, syntax: SyntaxTree) -> Related | None:
    """Where the arguments of a Trainer turn on `fp16`: written out, by default, or by a launch."""
    given = [
        keyword.value
        for name in ARGUMENTS
        for call in syntax.calls(name)
        for keyword in call.keywords
        if keyword.arg == "fp16"
    ]
    for value in given:
        if isinstance(value, ast.Constant) and value.value is True:
            return file.related(file.span_of(value), "float16 is chosen here")
        path = setting_path(value)
        setting = None if path is None else file.project.setting(path, file.text.path)
        for choice in () if setting is None else setting.choices:
            if choice.value is True:
                return choice.origin.related
    return None
