"""Training steps before and after their repair, executed with torch's scaler on the CPU.

A model with dropout-free layers is trained for 50 steps. What the fix makes of a broken step has to
give the weights of a step that was written right, bit for bit; the broken one has to differ, or to
raise.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from precision_lint.engine.job import Job, Result
from precision_lint.engine.run import lint_bytes
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Applicability
from precision_lint.project.files import Project

torch = pytest.importorskip("torch")

HEAD = """\
import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_


def train(model, batches, optimizer, every):
    scaler = torch.amp.GradScaler("cpu", growth_interval=10)
    for i, (x, y) in enumerate(batches):
        loss = torch.nn.functional.mse_loss(model(x), y) / every
"""
RIGHT_CLIP = """\
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), 0.1)
        scaler.step(optimizer)
        scaler.update()
"""
RIGHT_ACCUMULATION = """\
        scaler.scale(loss).backward()
        if (i + 1) % every == 0:
            scaler.unscale_(optimizer)
            clip_grad_value_(model.parameters(), 0.01)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
"""
RIGHT_PLAIN = """\
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
"""
KNOWN = ("since the last update()", "prior to update", "_scale is None")
STEPS = {
    "clipped before unscale_": (
        RIGHT_CLIP.replace("        scaler.unscale_(optimizer)\n", ""),
        RIGHT_CLIP,
    ),
    "clipped before unscale_ on the boundary": (
        RIGHT_ACCUMULATION.replace("            scaler.unscale_(optimizer)\n", ""),
        RIGHT_ACCUMULATION,
    ),
    "a plain step of scaled gradients": (
        RIGHT_PLAIN.replace("scaler.step(optimizer)", "optimizer.step()"),
        RIGHT_PLAIN,
    ),
    "both steps": (
        RIGHT_PLAIN.replace(
            "scaler.step(optimizer)\n", "scaler.step(optimizer)\n        optimizer.step()\n"
        ),
        RIGHT_PLAIN,
    ),
    "no scale": (RIGHT_PLAIN.replace("scaler.scale(loss)", "loss"), RIGHT_PLAIN),
    "no update": (RIGHT_PLAIN.replace("        scaler.update()\n", ""), RIGHT_PLAIN),
}


UNSCALE = "scaler.unscale_(optimizer)"
CLIP = "clip_grad_norm_(model.parameters(), 0.1)"
STEP = """\
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
"""
RAISING = {
    "in every micro-batch": f"""\
        scaler.scale(loss).backward()
        {CLIP}
        if (i + 1) % every == 0:
{STEP}""",
    "under another condition than the step": f"""\
        scaler.scale(loss).backward()
        if len(x) > 1:
            {CLIP}
        if (i + 1) % every == 0:
{STEP}""",
    "for each group of parameters": f"""\
        scaler.scale(loss).backward()
        if (i + 1) % every == 0:
            for _ in model.children():
                {CLIP}
{STEP}""",
    "a batch that is left out after the clipping": f"""\
        scaler.scale(loss).backward()
        if (i + 1) % every == 0:
            {CLIP}
            if i < 8:
                continue
{STEP}""",
}
"""Steps where `unscale_` above the clipping would be called twice between two updates."""


def linted(source: str, fixes: Applicability | None = None) -> Result:
    path = Path("/nowhere/case.py")
    job = Job(
        Project(path.parent),
        Settings(select=("MP2",)),
        fixes,
        write=False,
        named=frozenset([path]),
    )
    result = lint_bytes(job, path, source.encode(), "python")
    assert result.failure is None
    return result


def fixed(source: str) -> str:
    result = linted(source, Applicability.SAFE)
    assert result.text is not None
    return result.text.text


def weights(source: str) -> list[torch.Tensor]:
    """The parameters after 50 steps."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    batches = [(torch.randn(16, 4), torch.randn(16, 1)) for _ in range(50)]
    scope: dict[str, object] = {}
    exec(compile(source, "case.py", "exec"), scope)
    scope["train"](model, batches, optimizer, 4)  # type: ignore[operator]
    return [parameter.detach().clone() for parameter in model.parameters()]


def are_equal(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(torch.equal(left, right) for left, right in zip(one, other, strict=True))


@pytest.mark.parametrize(("broken", "right"), STEPS.values(), ids=STEPS)
def test_a_repaired_step_trains_as_a_right_one(broken: str, right: str) -> None:
    expected = weights(HEAD + right)
    try:
        is_wrong = not are_equal(weights(HEAD + broken), expected)
    except (RuntimeError, AssertionError) as error:
        is_wrong = any(known in str(error) for known in KNOWN)
    assert is_wrong
    repaired = fixed(HEAD + broken)
    assert repaired == HEAD + right
    assert are_equal(weights(repaired), expected)


@pytest.mark.parametrize("step", RAISING.values(), ids=RAISING)
def test_no_fix_where_unscaling_would_be_repeated(step: str) -> None:
    assert [finding.fix for finding in linted(HEAD + step).findings] == [None]
    indent = re.search(rf"^( +){re.escape(CLIP)}", step, re.MULTILINE)
    assert indent is not None
    unscaled = step.replace(CLIP, f"{UNSCALE}\n{indent[1]}{CLIP}")
    with pytest.raises(RuntimeError, match="already been called on this optimizer since"):
        weights(HEAD + unscaled)


def test_what_clipping_scaled_gradients_does(capsys: pytest.CaptureFixture[str]) -> None:
    """The wrong and the right number: a threshold of 1 for a gradient of norm 1."""
    norms = {}
    for is_unscaled in (False, True):
        weight = torch.nn.Parameter(torch.zeros(1))
        optimizer = torch.optim.SGD([weight], lr=1.0)
        scaler = torch.amp.GradScaler("cpu")
        scaler.scale(weight.sum()).backward()
        if is_unscaled:
            scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_([weight], 1.0)
        scaler.step(optimizer)
        norms[is_unscaled] = -weight.item()
    print(f"clipped first: the weight moves by {norms[False]:.3e}; unscaled first: {norms[True]}")
    assert norms[True] == pytest.approx(1.0, rel=1e-5)
    assert norms[False] == pytest.approx(1 / 65536, rel=1e-5)
    assert "1.526e-05" in capsys.readouterr().out


def test_what_a_plain_step_of_scaled_gradients_does(capsys: pytest.CaptureFixture[str]) -> None:
    """The wrong and the right number: a learning rate of 1 and a gradient of 1."""
    moved = {}
    for is_plain in (True, False):
        weight = torch.nn.Parameter(torch.zeros(1))
        optimizer = torch.optim.SGD([weight], lr=1.0)
        scaler = torch.amp.GradScaler("cpu")
        scaler.scale(weight.sum()).backward()
        if is_plain:
            optimizer.step()
        else:
            scaler.step(optimizer)
        moved[is_plain] = -weight.item()
    print(f"a plain step: {moved[True]}; the scaler's step: {moved[False]}")
    assert moved == {True: 65536.0, False: 1.0}
    assert "65536.0" in capsys.readouterr().out


def test_what_a_resume_without_the_scaler_does(capsys: pytest.CaptureFixture[str]) -> None:
    """The wrong and the right number: the scale after overflows, and after a resume."""
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("cpu")
    for _ in range(4):
        optimizer.zero_grad()
        scaler.scale(weight.sum() * 1e35).backward()  # overflows at this scale
        scaler.step(optimizer)
        scaler.update()
    state = scaler.state_dict()
    resumed, fresh = torch.amp.GradScaler("cpu"), torch.amp.GradScaler("cpu")
    resumed.load_state_dict(state)
    print(f"saved: {resumed.get_scale()}; not saved: {fresh.get_scale()}")
    assert resumed.get_scale() == 4096.0
    assert fresh.get_scale() == 65536.0
    assert "4096.0" in capsys.readouterr().out


def test_what_an_update_between_two_steps_does(capsys: pytest.CaptureFixture[str]) -> None:
    """The wrong and the right number: the second optimizer's step of a gradient of 1."""
    moved = {}
    for is_between in (True, False):
        first, second = (torch.nn.Parameter(torch.zeros(1)) for _ in range(2))
        optimizers = [torch.optim.SGD([each], lr=1.0) for each in (first, second)]
        scaler = torch.amp.GradScaler("cpu", growth_interval=1)
        scaler.scale(first.sum() + second.sum()).backward()
        scaler.step(optimizers[0])
        if is_between:
            scaler.update()
        scaler.step(optimizers[1])
        scaler.update()
        moved[is_between] = -second.item()
    print(f"an update between: {moved[True]}; one at the end: {moved[False]}")
    assert moved == {True: 0.5, False: 1.0}
    assert "0.5" in capsys.readouterr().out
