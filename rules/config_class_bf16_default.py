"""Training arguments that switch one half precision on by default.

## What it does
Finds dataclasses that inherit from `TrainingArguments` of transformers, or from a config of TRL,
and give the field `bf16` the default True, or `fp16`. The base class still has the other one.
Finds calls of such a class, too, that a dict of defaults or a function gives both: `bf16=True` in
the defaults, `fp16=True` in the call of the function. What a call itself says is MP702's.

Not reported: classes with a `__post_init__` that mentions the other field, classes that declare
both, defaults that are computed, and classes that only code makes, in calls that do not give the
other field.

## Why it hurts
A run that asks for the other precision, `--fp16` or `fp16=True`, has both on then: `ValueError: At
most one of fp16 and bf16 can be True, but not both` (transformers 5.23). Without a word about bf16,
a run on a GPU before Ampere, or without a GPU, ends with `ValueError: Your setup doesn't support
bf16/gpu.`

## Example
```python
@dataclass
class Arguments(TrainingArguments):
    bf16: bool = True
```

## Use instead
```python
@dataclass
class Arguments(TrainingArguments):
    bf16: bool | None = None

    def __post_init__(self):
        if self.bf16 is None:
            self.bf16 = not self.fp16
        super().__post_init__()
```

## Fix safety
There is no fix: which runs the default is for is not seen there.

## References
- Pitfall I01
- https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    keywords_of,
    last_name,
    no_run_sets,
    qualified,
    syntax_tree,
)

RULE = Rule(
    code="MP607",
    name="config-class-bf16-default",
    summary="training arguments that switch one half precision on by default",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    triggers=((b"dataclass", b"**"), (b"TrainingArguments", b"trl"), (b"bf16", b"fp16")),
    pitfalls=("I01",),
)

_OTHER = {"bf16": "fp16", "fp16": "bf16"}


def check_source(file: PythonFile) -> Iterator[Finding]:
    yield from _given_both(file)
    for node in file.nodes:
        if not isinstance(node, ast.ClassDef) or not _has_both(node, file):
            continue
        fields = {name: each for each in node.body if (name := _field(each)) in _OTHER}
        for name, field in fields.items():
            other = _OTHER[name]
            if other in fields or not _is_true(field) or _resolves(other, node):
                continue
            if no_run_sets(other, node, file):
                continue
            yield file.finding(
                RULE,
                file.span_of(field),
                f"`{name}` is on by default, and stays on when `{other}` is set",
                confidence=Confidence.MEDIUM,
                why="ValueError: At most one of fp16 and bf16 can be True, but not both.",
                related=[file.related(file.span_of(node.bases[0]), f"`{other}` is inherited")],
            )


def _given_both(file: PythonFile) -> Iterator[Finding]:
    """Calls that make such arguments with both, one of which is not written in the call."""
    syntax = syntax_tree(file)
    calls = (each for each in file.nodes if isinstance(each, ast.Call))
    unpacking = (each for each in calls if any(one.arg is None for one in each.keywords))
    for call in unpacking:
        if syntax.may_fail_on_purpose(call) or not _makes_arguments(call.func, file):
            continue
        written = {each.arg for each in call.keywords}
        for given in keywords_of(call, syntax):
            both = [given.values[name] for name in _OTHER if _is_on(given.values.get(name))]
            if len(both) == len(_OTHER) and not written >= _OTHER.keys():
                yield file.finding(
                    RULE,
                    file.span_of(call if given.passed_by is None else given.passed_by),
                    f"`{last_name(call.func)}` gets both `bf16` and `fp16`",
                    confidence=Confidence.MEDIUM,
                    severity=Severity.ERROR,
                    why="ValueError: At most one of fp16 and bf16 can be True, but not both.",
                    related=[
                        file.related(file.span_of(each), f"`{name}` is on here")
                        for name, each in zip(_OTHER, both, strict=True)
                    ],
                )


def _is_on(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def _has_both(node: ast.ClassDef, file: PythonFile, depth: int = 4) -> bool:
    """True for a class of arguments of transformers or TRL, also by way of classes in the file."""
    return any(_makes_arguments(base, file, depth, node) for base in node.bases)


def _makes_arguments(
    named: ast.expr, file: PythonFile, depth: int = 4, below: ast.ClassDef | None = None
) -> bool:
    """True for the name of such a class."""
    package, _, name = qualified(named, syntax_tree(file).names).rpartition(".")
    if package.startswith("transformers") and name.endswith("TrainingArguments"):
        return True
    if package.partition(".")[0] == "trl" and name.endswith("Config"):
        return name != "ModelConfig"
    inner = [each for each in file.tree.body if isinstance(each, ast.ClassDef)]
    above = (each for each in inner if each.name == last_name(named) and each is not below)
    return depth > 0 and any(_has_both(each, file, depth - 1) for each in above)


def _field(node: ast.stmt) -> str:
    match node:
        case ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return ""


def _is_true(field: ast.stmt) -> bool:
    """True for `bf16: bool = True` and `bf16: bool = field(default=True)`."""
    match field:
        case ast.AnnAssign(value=ast.Constant(value=True)):
            return True
        case ast.AnnAssign(value=ast.Call(keywords=keywords)):
            given = {keyword.arg: keyword.value for keyword in keywords}
            default = given.get("default")
            return isinstance(default, ast.Constant) and default.value is True
    return False


def _resolves(other: str, node: ast.ClassDef) -> bool:
    """True if the class looks at the other field when it is made."""
    return any(
        isinstance(each, ast.FunctionDef)
        and each.name in ("__post_init__", "__init__", "__new__")
        and other in ast.unparse(each)
        for each in node.body
    )
