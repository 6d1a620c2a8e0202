"""Trainers of transformers and TRL, and own ones, whose model and arguments one file makes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from precision_lint.facts.amp.launch_backends import names_backend
from precision_lint.facts.amp.optional_adapters import runs_without_adapters
from precision_lint.facts.amp.own_trainers import TRAINERS, extends_trainer, is_of_library
from precision_lint.facts.amp.parsed_arguments import ParsedArguments, parsed_arguments
from precision_lint.facts.amp.plain_runs import PlainRun
from precision_lint.facts.amp.rates_in_runs import rate_in_runs
from precision_lint.facts.amp.weights_in_runs import ChosenDtype, chosen_dtype
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import Model
from precision_lint.facts.settings.default_numbers import small_default
from precision_lint.model.dtypes import BFLOAT16, FLOAT16
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import arguments_of, binding
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

_HALF = frozenset({BFLOAT16, FLOAT16})

_MOST_HOPS = 3
"""Names and parameters from a trainer to what makes its arguments."""

_POSITIONS: Mapping[str, int] = {
    **dict.fromkeys(("DPOTrainer", "KTOTrainer", "GKDTrainer", "GRPOTrainer"), 2),
    **dict.fromkeys(
        ("Trainer", "Seq2SeqTrainer", "SFTTrainer", "RewardTrainer", "ORPOTrainer", "CPOTrainer"), 1
    ),
}
"""The positions of the arguments of library trainers (TRL 1.16); the model is the first."""


_STOCK = frozenset(
    {
        "adamw_torch", "adamw_torch_fused", "adamw_hf", "adafactor", "sgd", "adamw_bnb_8bit",
        "adamw_8bit", "paged_adamw_8bit", "paged_adamw_32bit", "lion_8bit", "lion_32bit",
        "paged_lion_8bit", "paged_lion_32bit",
    }
)  # fmt: skip
"""What the argument `optim` calls optimizers that store weights as they are."""


@frozen
class TrainerSetup:
    """A trainer: its call, what it trains, and the call that makes its arguments.

    `arguments` is None if a parser makes them. `rate` is the learning rate, None if neither the
    code nor the default of an option says it; `optimizer` is None if it may not be a plain one.
    It `is_offered` if a run of the project certainly has these arguments and no other backend, and
    `is_shown` if a script or a page starts it. `chosen` is the dtype of the weights, with the
    command whose options choose it; None if the code alone says it.
    """

    call: Call
    model: Model
    arguments: ast.Call | None
    rate: float | None
    optimizer: str | None
    is_offered: bool = True
    is_shown: bool = False
    chosen: ChosenDtype | None = None

    def argument(self, name: str) -> ast.expr | None:
        """An argument by keyword; None if it is absent."""
        given = () if self.arguments is None else self.arguments.keywords
        return next((one.value for one in given if one.arg == name), None)

    def is_on(self, name: str) -> bool:
        """True if an argument is literally True."""
        match self.argument(name):
            case ast.Constant(value=True):
                return True
        return False


def trainer_setups(calls: Sequence[Call], file: PythonFile) -> Iterator[TrainerSetup]:
    """The trainers of a file whose model is known, and whose arguments are made in the file."""
    for call in calls:
        if call.name not in TRAINERS or not (is_of_library(call) or extends_trainer(call)):
            continue
        if "optimizers" in call.keywords or "optimizer_cls_and_kwargs" in call.keywords:
            continue  # it is given another one
        given = call.argument(_POSITIONS.get(call.name, 1), "args")
        model = reading(call.value(0, "model"))
        if given is None or not isinstance(model, Model):
            continue
        node = file.node_at(given.span)
        arguments = _made(node, file)
        if arguments is not None and callee_name(arguments) in ARGUMENTS:
            optimizer = _optimizer(arguments)
            yield TrainerSetup(call, model, arguments, _rate(arguments, file), optimizer)
        elif arguments is None and model.parameters.dtypes & _HALF:
            parsed = parsed_arguments(node, file, tuple(ARGUMENTS))
            if parsed is not None:
                yield from _parsed(call, model, parsed, file)


def _parsed(
    call: Call, model: Model, parsed: ParsedArguments, file: PythonFile
) -> Iterator[TrainerSetup]:
    """A trainer in the runs that give it a plain optimizer and no scaler, the largest rate of
    these; nothing if there are none.
    """
    if parsed.words is not None:
        runs: tuple[PlainRun | None, ...] = (None,)
    else:
        node = file.node_at(call.span)
        runs = tuple(
            run
            for run in runs_without_adapters(file)
            if node is not None and run.reaches(node) and _trains(run, file)
        )
    in_half = _in_half(model, runs, parsed, file)
    plain = [run for run in in_half if _is_plain(parsed, run)]
    if not plain:
        return
    rates = [_rate_of(parsed.value("learning_rate", run), parsed.library) for run in plain]
    known = [rate for rate in rates if rate is not None]
    rate = max(known) if len(known) == len(rates) else None
    optim = parsed.value("optim", plain[0])
    is_shown = any(run is not None and run.is_shown for run in plain)
    is_offered = not names_backend(file) or is_shown or None in plain
    optimizer = "AdamW" if optim is None else str(optim)
    chosen = in_half[plain[0]]
    yield TrainerSetup(call, model, None, rate, optimizer, is_offered, is_shown, chosen)


def _in_half(
    model: Model,
    runs: Sequence[PlainRun | None],
    parsed: ParsedArguments,
    file: PythonFile,
) -> dict[PlainRun | None, ChosenDtype | None]:
    """The runs in which the weights of a model may be in half precision, with the dtype that the
    options of each choose.
    """
    weights = model.parameters
    if weights.must_be(_HALF) or weights.origin is None:
        return dict.fromkeys(runs)
    found: dict[PlainRun | None, ChosenDtype | None] = {}
    for run in runs:
        chosen = None if run is None else chosen_dtype(weights.origin, run, parsed, file)
        if chosen is None or chosen.dtype in _HALF:
            found[run] = chosen
    return found


def _is_plain(parsed: ParsedArguments, run: PlainRun | None) -> bool:
    optim = parsed.value("optim", run)
    is_stock = optim is None or optim in _STOCK
    return is_stock and str(parsed.value("fp16", run)).lower() in ("none", "false")


def _trains(run: PlainRun, file: PythonFile) -> bool:
    """False where the program asks whether to train (`training_args.do_train`), and it does not."""
    if not any(isinstance(each, ast.Attribute) and each.attr == "do_train" for each in file.nodes):
        return True
    asked = run.environment.words.get("do_train")
    return asked is not None and str(asked.value).lower() == "true"


def starts_training(run: PlainRun, file: PythonFile) -> bool:
    """False for a run that comes to no `trainer.train()` of the file, only to an evaluation."""
    calls = [
        call
        for call in syntax_tree(file).calls("train")
        if isinstance(call.func, ast.Attribute) and "rainer" in ast.unparse(call.func.value)
    ]
    return not calls or any(run.reaches(call) for call in calls)


def _rate_of(value: object, library: str) -> float | None:
    if value is None:
        return ARGUMENTS[library]
    try:
        return float(str(value))
    except ValueError:
        return None


def _optimizer(arguments: ast.Call) -> str | None:
    """The optimizer that arguments select, if it stores weights as they are."""
    match next((one.value for one in arguments.keywords if one.arg == "optim"), None):
        case None if all(one.arg is not None for one in arguments.keywords):
            return "AdamW"
        case ast.Constant(value=str(name)) if name in _STOCK:
            return name
    return None


def _rate(arguments: ast.Call, file: PythonFile) -> float | None:
    """The learning rate that is given, the default of an option, or that of the class."""
    given = next((one.value for one in arguments.keywords if one.arg == "learning_rate"), None)
    match given:
        case None if all(one.arg is not None for one in arguments.keywords):
            return ARGUMENTS[callee_name(arguments)]
        case ast.Constant(value=int() | float() as number):
            return float(number)
    rate = small_default(given, file)
    return rate_in_runs(given, file) if rate is None else rate


def _made(given: ast.expr | None, file: PythonFile) -> ast.Call | None:
    """The one call that makes the arguments of a trainer; a parameter is what the one call of its
    function gives, if no other file imports that.
    """
    syntax = syntax_tree(file)
    for _ in range(_MOST_HOPS):
        if not isinstance(given, ast.Name):
            break
        held = binding(given, syntax)
        if isinstance(held, ast.arg):
            is_alone = not file.project.users(file.text.path)
            values = [value for _, value in arguments_of(held, syntax)] if is_alone else []
        else:
            values = [*held] if held is not None else []
        given = values[0] if len(values) == 1 else None
    return given if isinstance(given, ast.Call) else None
