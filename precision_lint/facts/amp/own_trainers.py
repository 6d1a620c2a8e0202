"""Trainers: those of transformers and TRL, and classes of the project that extend one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import ClassObject, OneOf, Symbol, Value
from precision_lint.facts.dtypes.syntax.definitions import Class
from precision_lint.facts.dtypes.syntax.mentions import OWN_TRAINER
from precision_lint.model.regex import regex
from precision_lint.source.python.syntax import dotted, qualified

TRAINERS = frozenset(
    {
        "Trainer", "Seq2SeqTrainer", "SFTTrainer", "DPOTrainer", "RewardTrainer", "KTOTrainer",
        "ORPOTrainer", "CPOTrainer", "GKDTrainer", "GRPOTrainer", OWN_TRAINER,
    }
)  # fmt: skip
"""What trainers are called by; classes of a project have these names, too.

Each of them updates the weights of the model in the dtype that they have: with a model in bfloat16
and `bf16=True`, weights and averages of gradients stay bfloat16 (a step of each on the CPU, torch
2.13, transformers 5.23, TRL 1.16). Other trainers may train something else than the model.
"""

_PACKAGES = frozenset({"transformers", "trl"})
_MAKING = frozenset(
    {"create_optimizer", "create_optimizer_and_scheduler", "get_optimizer_cls_and_kwargs"}
)
"""The methods of a trainer that make its optimizer."""
_RUNNING = frozenset({"train", "_inner_training_loop", "training_step"})
"""Those that run it; one that calls that of its base adds something."""

_TRAINING_LESS = regex(
    r"requires_grad|\bparam\w*\.data\b|model\)?\.(?:float\(|to\([^)\n]*float32)", re.IGNORECASE
)
"""What freezes weights, or trains them in float32."""


def is_of_library(call: Call) -> bool:
    """True for a trainer of transformers or TRL itself."""
    package = (call.function or "").partition(".")[0]
    return call.name != OWN_TRAINER and package in _PACKAGES


def extends_trainer(call: Call) -> bool:
    """True for a class of the project that leaves training the whole model to a known trainer.

    It gets the model and the arguments by these names. Of several classes, all are such.
    """
    is_given = "model" in call.keywords and "args" in call.keywords
    match call.called:
        case OneOf(members=members):
            return is_given and all(map(_is_trainer, members))
        case called:
            return is_given and isinstance(called, ClassObject) and _is_trainer(called)


def _is_trainer(called: Value) -> bool:
    match called:
        case ClassObject(definition=definition):
            return _extends(definition)
        case Symbol(name=name):
            package, _, last = name.rpartition(".")
            return package.partition(".")[0] in _PACKAGES and last in TRAINERS
    return False


def _extends(definition: Class) -> bool:
    classes = [*_own_classes(definition)]
    roots = {
        name
        for each in classes
        for base in each.node.bases
        if (name := qualified(base, each.module.imports)).partition(".")[0] in _PACKAGES
    }
    return any(name.endswith("Trainer") for name in roots) and not any(
        any(name in _MAKING or _replaces(each, name) for name in each.methods)
        or _TRAINING_LESS.search(_text(each))
        for each in classes
    )


def _replaces(definition: Class, method: str) -> bool:
    return method in _RUNNING and f"super().{method}(" not in _text(definition)


def _own_classes(definition: Class) -> Iterator[Class]:
    """A class, and its bases in the same file."""
    seen = [definition]
    for each in seen:
        yield each
        for base in each.node.bases:
            found = each.module.top.get(dotted(base) or "")
            if isinstance(found, Class) and found not in seen:
                seen.append(found)


def _text(definition: Class) -> str:
    file = definition.module.file
    return file.text[file.span_of(definition.node)]
