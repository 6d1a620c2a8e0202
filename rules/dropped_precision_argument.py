"""A precision argument that the pinned transformers or accelerate no longer takes.

## What it does
Finds `half_precision_backend`, `fp16_backend` and `fp16_opt_level` in calls of transformers'
`TrainingArguments` and `Seq2SeqTrainingArguments` where the project requires transformers 5 or
newer, and `fp16=` in a call of `Accelerator` where it requires accelerate 0.16 or newer.

Not reported: projects that name no version or allow an older one, subclasses, and calls in `try:`.

## Why it hurts
`TypeError: TrainingArguments.__init__() got an unexpected keyword argument 'fp16_opt_level'`,
`TypeError: Accelerator.__init__() got an unexpected keyword argument 'fp16'` (transformers 5.0 to
5.23, accelerate 0.16 to 1.15). Releases of transformers before 5 took them, with a warning for
`fp16_backend`.

## Example
```python
TrainingArguments(output_dir="out", fp16=True, fp16_opt_level="O2")
```

## Use instead
```python
TrainingArguments(output_dir="out", fp16=True)
```

## Fix safety
There is no fix: mixed precision is what `fp16=True` does alone, and `Accelerator` takes
`mixed_precision="fp16"`.

## References
- Pitfall H06
- https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.rule_api import (
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
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
    triggers=(
        (b"TrainingArguments(", b"Accelerator("),
        (b"half_precision_backend", b"fp16_backend", b"fp16_opt_level", b"fp16=", b"fp16 ="),
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


def check_source(file: PythonFile) -> Iterator[Finding]:
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
