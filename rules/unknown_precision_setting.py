"""A precision setting that does not exist in its section.

## What it does
Finds keys in a section in which the framework does not know them, such as a loss scale in the
`bf16` section of a DeepSpeed file, usually copied from its `fp16` section. Which keys exist depends
on the version: the linter uses the version that the project pins. A file that nobody reads is left
out, such as a DeepSpeed file that accelerate's file names with `distributed_type: MULTI_GPU`.

Also finds options of a launch, such as `--fp16`, that the program's own parser does not have, if
argparse makes it, all of its options are in sight, and nothing else takes words of the line. The
options of a program that `fire.Fire(train)` starts are the parameters of `train`; silent where
these include `**kwargs`, and where `train` returns something that may take the rest of the line.

With medium confidence, it reports options that the parser has and no code of the program reads,
such as `--mixed_precision bf16` that was copied with the parser of another script. Silent where
anything may read it: a program that hands its settings to a library (`Trainer(args)`) or makes a
table of them (`vars(args)`) that it does more with than write it down.

## Why it hurts
DeepSpeed 0.17.1 and newer reject the file: `Extra inputs are not permitted`, even if the section is
not enabled. Older versions ignore the key silently. argparse stops at an option that it does not
know: `error: unrecognized arguments: --fp16`. Fire calls the function without it, and only then
ends with `ERROR: Could not consume arg: --fp16`. A run with an option that no code reads is as if
it were not there: in float32, without a word.

## Example
```json
{"zero_optimization": {"stage": 2}, "bf16": {"enabled": true, "loss_scale": 0}}
```

## Use instead
```json
{"zero_optimization": {"stage": 2}, "bf16": {"enabled": true}}
```

## Fix safety
Safe: the keys have no effect, or stop the run. Unsafe if a comment on the same line is about the
removed key.

## References
- Pitfalls J01
- docs/frameworks.md lists every combination with its source
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers.repairs import repaired
from precision_lint.rule_api import CONFIG_TRIGGERS, ConfigFile, Finding, Rule, Severity, verdicts

RULE = Rule(
    code="MP704",
    name="unknown-precision-setting",
    summary="a precision setting that does not exist in its section",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=CONFIG_TRIGGERS,
    pitfalls=("J01",),
)


def check_config(file: ConfigFile) -> Iterator[Finding]:
    for verdict in verdicts(file, RULE.name):
        yield verdict.finding(RULE, repaired(verdict))
