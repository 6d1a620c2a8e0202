"""What is known of the parameters that a program trains, at its first backward pass."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.values import Model
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.source.text.text import SourceText
from tests.context import python_file

_PROGRAM = """\
import torch
from diffusers.training_utils import cast_training_params
from peft import get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModel


def narrow(model):
    for parameter in model.parameters():
        parameter.data = parameter.float()


def train(args, other, loader):
    model = AutoModel.from_pretrained("name", torch_dtype=torch.float16)
{body}
    for batch in loader:
        model(batch).backward()
"""


def parsed(text: str) -> PythonFile:
    return python_file(SourceText(Path("case.py"), text))


def trained(body: str, name: str = "model") -> Model:
    text = _PROGRAM.format(body=indent(body, "    "))
    (call,) = calls_in(parsed(text), frozenset({"backward"}))
    return call.models[name]


def test_a_module_knows_which_call_gave_it_its_dtype() -> None:
    model = trained("model.to(args.device)")
    assert model.parameters.dtypes == {"float16"}
    assert model.cast is not None
    assert model.cast.text == "the model is loaded here"
    model = trained("model.float()\nif args.half:\n    model.half()")
    assert model.cast is not None
    assert model.cast.text == "the model is cast here"
    assert [guard.holds for guard in model.cast.guards] == [True]
    assert trained("model.to(torch.bfloat16)").parameters.dtypes == {"bfloat16"}


@pytest.mark.parametrize(
    "body",
    [
        "cast_training_params(model, dtype=torch.float32)",
        "if args.fp16:\n    cast_training_params([model], dtype=torch.float32)",
        "models = [model]\nmodels.extend(other)\ncast_training_params(models, torch.float32)",
        "for p in model.parameters():\n    if p.requires_grad:\n        p.data = p.float()",
        "for p in model.parameters():\n    p.data = p.data.to(torch.float32)",
        "for name, p in model.named_parameters():\n    p.data = p.float()",
        "for each in [model]:\n    for p in each.parameters():\n        p.data = p.float()",
        "narrow(model)",
        "upcast_trained(model)",
        "model.head.float()",
    ],
)
def test_parameters_are_cast_apart_from_the_others(body: str) -> None:
    assert trained(body).is_widened


@pytest.mark.parametrize(
    "body",
    [
        "model.eval()",
        "narrow(other)",
        "for p in model.parameters():\n    p.requires_grad = False",
        "for p in model.parameters():\n    p.data = p.half()",
        "cast_training_params(model, dtype=torch.float32)\nmodel.half()",
    ],
)
def test_parameters_stay_as_the_module_is(body: str) -> None:
    model = trained(body)
    assert not model.is_widened
    assert model.parameters.dtypes == {"float16"}


def test_adapters_take_the_dtype_of_their_module() -> None:
    assert trained("model.eval()").adapter is None
    assert trained("model.add_adapter(args.config)").adapter is not None
    assert trained("model = get_peft_model(model, args.config)").adapter is None
    off = "model = get_peft_model(model, args.config, autocast_adapter_dtype=False)"
    assert trained(off).adapter is not None


def test_peft_prepares_a_model_by_casting_it() -> None:
    assert trained("prepare_model_for_kbit_training(model)").parameters.dtypes == {"float32"}
    some = trained("if args.bits == 8:\n    prepare_model_for_kbit_training(model)")
    assert some.parameters.dtypes == {"float16", "float32"}


def test_a_cast_of_an_unknown_object_leaves_the_others_unknown() -> None:
    text = "def train(one, other):\n    one.half()\n    other.train()\n    one.backward()\n"
    calls = calls_in(parsed(text), frozenset({"backward"}))
    assert set(calls[0].models) == {"one"}


def test_a_run_takes_the_branches_that_its_settings_choose() -> None:
    text = _PROGRAM.format(body="    if args.wide:\n        model.float()")
    file, names = parsed(text), frozenset({"backward"})
    for wide, dtype in ((True, "float32"), (False, "float16")):
        (call,) = calls_in(file, names, names, lambda _, wide=wide: wide)
        assert call.models["model"].parameters.dtypes == {dtype}
