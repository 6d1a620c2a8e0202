"""A precision argument that the pinned transformers or accelerate no longer takes.

## What it does
Finds `half_precision_backend`, `fp16_backend` and `fp16_opt_level` in calls of transformers'
`TrainingArguments` and `Seq2SeqTrainingArguments` where the project requires transformers 5 or
newer, and `fp16=` in a call of `Accelerator` where it requires accelerate 0.16 or newer.

Also `load_in_4bit` and `load_in_8bit` in `from_pretrained` of a model of transformers: beside a
`quantization_config` since 4.38, and at all since 5. They may be in a mapping that is unpacked into
the call, `options["load_in_4bit"] = True`. A project that names no version is taken to use one
since 4.38.

Not reported: projects that allow an older version, or name none (but for the two beside each
other), subclasses, loads with `trust_remote_code`, whose class may take any argument, and calls in
`try:`.

## Why it hurts
`TypeError: TrainingArguments.__init__() got an unexpected keyword argument 'fp16_opt_level'`,
`TypeError: Accelerator.__init__() got an unexpected keyword argument 'fp16'` (transformers 5.0 to
5.23, accelerate 0.16 to 1.15). Releases of transformers before 5 took them, with a warning for
`fp16_backend`.

A load with both raises `ValueError: You can't pass load_in_4bit or load_in_8bit as a kwarg when
passing quantization_config argument at the same time` (transformers 4.38 to 4.57), and one with
either `TypeError: LlamaForCausalLM.__init__() got an unexpected keyword argument 'load_in_8bit'`
(5.0 to 5.23), also for `False`.

## Example
```python
TrainingArguments(output_dir="out", fp16=True, fp16_opt_level="O2")
```

## Use instead
```python
TrainingArguments(output_dir="out", fp16=True)
```

## Fix safety
Safe for `load_in_4bit=True` beside a config that says the same: it is removed, and the code no
longer raises. No fix for others: mixed precision is what `fp16=True` does alone, `Accelerator`
takes `mixed_precision="fp16"`, and a load takes `quantization_config=BitsAndBytesConfig(...)`.

## References
- Pitfall H06
- https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial

from precision_lint.fixers import calls, statements
from precision_lint.rule_api import (
    Applicability,
    BitsArgument,
    Confidence,
    Finding,
    Fix,
    PythonFile,
    Related,
    Rule,
    Severity,
    bits_arguments,
    callee_name,
    qualified,
    syntax_tree,
)

RULE = Rule(
    code="MP802",
    name="dropped-precision-argument",
    summary="a precision argument that the pinned release no longer takes",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=(
        (b"TrainingArguments(", b"Accelerator(", b"from_pretrained("),
        (
            b"half_precision_backend",
            b"fp16_backend",
            b"fp16_opt_level",
            b"fp16=",
            b"fp16 =",
            b"load_in_4bit",
            b"load_in_8bit",
        ),
    ),
    pitfalls=("H06",),
)

_OF_TRAINER = ("half_precision_backend", "fp16_backend", "fp16_opt_level")
_DROPPED: Mapping[str, tuple[str, tuple[int, int], tuple[str, ...]]] = {
    "transformers.TrainingArguments": ("transformers", (5, 0), _OF_TRAINER),
    "transformers.Seq2SeqTrainingArguments": ("transformers", (5, 0), _OF_TRAINER),
    "accelerate.Accelerator": ("accelerate", (0, 16), ("fp16",)),
}
"""By callee: the library, the first release without the arguments, and the arguments."""


_NO_LONGER_BESIDE = (4, 38)
_NO_LONGER = (5, 0)
"""The first releases without `load_in_8bit` beside a `quantization_config`, and without it."""


def check_source(file: PythonFile) -> Iterator[Finding]:
    yield from _of_calls(file)
    yield from _of_loads(file)


def _of_calls(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    for callee, (library, since, names) in _DROPPED.items():
        for call in syntax.calls(callee.rpartition(".")[2]):
            given = [each for each in call.keywords if each.arg in names]
            if not given or qualified(call.func, syntax.names) != callee:
                continue
            lowest = file.project.lowest_version_of(library, file.text.path)
            if lowest is None or lowest < since or syntax.may_fail_on_purpose(call):
                continue
            for keyword in given:
                yield _finding(keyword, call, library, lowest, file)


def _finding(
    keyword: ast.keyword, call: ast.Call, library: str, lowest: tuple[int, int], file: PythonFile
) -> Finding:
    name = callee_name(call)
    version = ".".join(map(str, lowest))
    return file.finding(
        RULE,
        file.span_of(keyword),
        f"`{name}` of {library} {version}, which the project requires, has no `{keyword.arg}`",
        confidence=Confidence.HIGH,
        why=f"TypeError: {name}.__init__() got an unexpected keyword argument '{keyword.arg}'",
    )


def _of_loads(file: PythonFile) -> Iterator[Finding]:
    lowest = file.project.lowest_version_of("transformers", file.text.path)
    is_gone = lowest is not None and lowest >= _NO_LONGER
    if lowest is not None and lowest < _NO_LONGER_BESIDE:
        return
    for given in bits_arguments(file):
        is_beside = given.is_on and given.config is not None
        if syntax_tree(file).may_fail_on_purpose(given.load) or not (is_gone or is_beside):
            continue
        name, why = given.name, "ValueError before transformers 5, TypeError since"
        message = f"`from_pretrained` takes no `{name}` beside `quantization_config`"
        if is_gone and lowest is not None:
            version = ".".join(map(str, lowest))
            message = f"`from_pretrained` of transformers {version} has no `{name}`"
            why = f"TypeError: __init__() got an unexpected keyword argument '{name}'"
        is_certain = lowest is not None and isinstance(given.node, ast.keyword)
        yield file.finding(
            RULE,
            file.span_of(given.node),
            message,
            confidence=Confidence.HIGH if is_certain else Confidence.MEDIUM,
            severity=Severity.ERROR if is_certain else Severity.WARNING,
            why=why,
            fix=partial(_without, given, file),
            related=_place_of_config(given, file),
        )


def _place_of_config(given: BitsArgument, file: PythonFile) -> list[Related]:
    if given.config is None:
        return []
    return [file.related(file.span_of(given.config), "what it is given beside it")]


def _without(given: BitsArgument, file: PythonFile) -> Fix | None:
    if not given.says_the_same:
        return None
    if isinstance(given.node, ast.Assign):
        edit = statements.delete(file, given.node)
    else:
        edit = calls.remove_keyword(file, given.load, given.node)
    message = f"Leave `{given.name}` to the `quantization_config`"
    return None if edit is None else Fix(Applicability.SAFE, message, (edit,))
