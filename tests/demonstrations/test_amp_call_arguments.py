"""What the classes and decorators of AMP make of arguments that are not theirs."""

from __future__ import annotations

import inspect

import pytest

from precision_lint.facts.amp.signatures import SIGNATURES

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")


def of_torch(name: str) -> object:
    found = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_the_signatures_are_those_of_torch(name: str) -> None:
    taken = inspect.signature(of_torch(name)).parameters.values()
    signature = SIGNATURES[name]
    by_position = [each.name for each in taken if each.kind is not each.KEYWORD_ONLY]
    keyword_only = [each.name for each in taken if each.kind is each.KEYWORD_ONLY]
    assert (tuple(by_position), tuple(keyword_only)) == (
        signature.positional,
        signature.keyword_only,
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.cuda.amp.autocast(device_type="cuda"),
        lambda: torch.cuda.amp.GradScaler(device="cuda"),
        lambda: torch.autocast(dtype=torch.bfloat16),
        lambda: torch.amp.custom_fwd(lambda ctx, x: x),
        lambda: torch.amp.custom_bwd(),
    ],
)
def test_unknown_and_missing_arguments_raise(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError, match=r"unexpected keyword argument|missing 1 required"):
        call()


def test_a_bool_is_no_device_type() -> None:
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        torch.amp.autocast(True)


def test_a_device_is_no_bool() -> None:
    with pytest.raises(TypeError, match="must be bool, not str"):
        torch.set_autocast_enabled("cuda", "cuda")  # what entering the region calls


def test_the_device_as_the_scale_raises_at_the_first_loss() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale="cuda")
    with pytest.raises(TypeError, match="must be Number, not str"):
        scaler.scale(torch.ones(()))


@pytest.mark.parametrize("value", [4096.0, False])
def test_the_scale_as_the_device_is_ignored(value: object) -> None:
    scaler = torch.amp.GradScaler(value)
    assert scaler.is_enabled()
    assert scaler.get_scale() == 65536.0
