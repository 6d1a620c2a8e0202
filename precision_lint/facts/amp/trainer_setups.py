"""Trainers of transformers and TRL, and own ones, whose model and arguments one file makes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from precision_lint.facts.amp.own_trainers import TRAINERS, extends_trainer, is_of_library
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import Model
from precision_lint.facts.settings.default_numbers import small_default
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import syntax_tree

ARGUMENTS: Mapping[str, float] = {
    "TrainingArguments": 5e-5,
    "Seq2SeqTrainingArguments": 5e-5,
    "SFTConfig": 2e-5,
    "GKDConfig": 2e-5,
    "DPOConfig": 1e-6,
    "KTOConfig": 1e-6,
    "ORPOConfig": 1e-6,
    "CPOConfig": 1e-6,
    "GRPOConfig": 1e-6,
    "RewardConfig": 1e-4,
}
"""The classes of arguments with their learning rates (transformers 5.23, TRL 1.16)."""

_POSITIONS: Mapping[str, int] = {
    **dict.fromkeys(("DPOTrainer", "KTOTrainer", "GKDTrainer", "GRPOTrainer"), 2),
    **dict.fromkeys(
        ("Trainer", "Seq2SeqTrainer", "SFTTrainer", "RewardTrainer", "ORPOTrainer", "CPOTrainer"), 1
    ),
}
"""The positions of the arguments of library trainers (TRL 1.16); the model is the first."""


@frozen
class TrainerSetup:
    """A trainer: its call, what it trains, and the call that makes its arguments.

    `rate` is the learning rate, None if neither the code nor the default of an option says it.
    """

    call: Call
    model: Model
    arguments: ast.Call
    rate: float | None

    def argument(self, name: str) -> ast.expr | None:
        """An argument by keyword; None if it is absent."""
        return next((one.value for one in self.arguments.keywords if one.arg == name), None)

    def is_on(self, name: str) -> bool:
        """True if an argument is literally True."""
        match self.argument(name):
            case ast.Constant(value=True):
                return True
        return False

    @property
    def is_whole(self) -> bool:
        """True if all arguments are written out: none comes by `**kwargs`."""
        return all(one.arg is not None for one in self.arguments.keywords)


def trainer_setups(calls: Sequence[Call], file: PythonFile) -> Iterator[TrainerSetup]:
    """The trainers of a file whose model is known, and whose arguments are made in the file."""
    for call in calls:
        if call.name not in TRAINERS or not (is_of_library(call) or extends_trainer(call)):
            continue
        if "optimizers" in call.keywords or "optimizer_cls_and_kwargs" in call.keywords:
            continue  # it is given another one
        given = call.argument(_POSITIONS.get(call.name, 1), "args")
        model = reading(call.value(0, "model"))
        arguments = None if given is None else _made(file.node_at(given.span), file)
        if isinstance(model, Model) and arguments and callee_name(arguments) in ARGUMENTS:
            yield TrainerSetup(call, model, arguments, _rate(arguments, file))


def _rate(arguments: ast.Call, file: PythonFile) -> float | None:
    """The learning rate that is given, the default of an option, or that of the class."""
    given = next((one.value for one in arguments.keywords if one.arg == "learning_rate"), None)
    match given:
        case None if all(one.arg is not None for one in arguments.keywords):
            return ARGUMENTS[callee_name(arguments)]
        case ast.Constant(value=int() | float() as rate):
            return float(rate)
    return small_default(given, file)


def _made(given: ast.expr | None, file: PythonFile) -> ast.Call | None:
    """The one call that makes the arguments of a trainer."""
    if isinstance(given, ast.Name):
        held = binding(given, syntax_tree(file))
        given = held[0] if isinstance(held, list) and len(held) == 1 else None
    return given if isinstance(given, ast.Call) else None
