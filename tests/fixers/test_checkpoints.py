"""The fix of a checkpoint without the scaler's state: saved, loaded, and executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from precision_lint.engine.job import Job
from precision_lint.engine.run import lint_bytes
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Fix
from precision_lint.project.files import Project

torch = pytest.importorskip("torch")

TRAINER = """\
import torch


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.amp.GradScaler("cpu")

    def step(self, batch):
        self.optimizer.zero_grad()
        self.scaler.scale(self.model(batch).sum()).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def save(self, path):
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        torch.save(state, path)

    def load(self, path):
        state = torch.load(path)
        self.model.load_state_dict(state["model"])
        if "optimizer" in state:
            self.optimizer.load_state_dict(state["optimizer"])  # and its momenta
        return state
"""
FUNCTION = """\
import torch


def train(args, model, optimizer, batches):
    scaler = torch.amp.GradScaler("cuda")
    if args.resume:
        checkpoint = torch.load(args.resume)
        optimizer.load_state_dict(checkpoint['optim'])
    for batch in batches:
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)
        scaler.update()
    torch.save({'model': model.state_dict(), 'optim': optimizer.state_dict()}, args.path)
"""
LOADED = """\
        optimizer.load_state_dict(checkpoint['optim'])
        if checkpoint.get('scaler'):
            scaler.load_state_dict(checkpoint['scaler'])
"""
SAVES_ONLY = {
    "loaded before the scaler is made": FUNCTION.replace(
        '    scaler = torch.amp.GradScaler("cuda")\n', ""
    ).replace("    for batch", '    scaler = torch.amp.GradScaler("cuda")\n    for batch'),
    "another key": FUNCTION.replace("checkpoint['optim']", "checkpoint[args.key]"),
    "another optimizer": FUNCTION.replace("optimizer.load_state", "critic_optimizer.load_state"),
    "from what a call returns": FUNCTION.replace("checkpoint['optim']", "read(args)['optim']"),
    "the scaler is made in another method": TRAINER.replace(
        '        self.scaler = torch.amp.GradScaler("cpu")\n', ""
    ).replace(
        "        self.optimizer.zero_grad()\n",
        '        self.scaler = torch.amp.GradScaler("cpu")\n        self.optimizer.zero_grad()\n',
    ),
    "loaded in `__init__`, before the scaler is made": TRAINER.replace(
        "        self.scaler =", '        self.load("a.pt")\n        self.scaler ='
    ),
    "in another class": TRAINER.replace("    def load(", "class Evaluator:\n    def load("),
}


def fix_of(source: str) -> Fix | None:
    path = Path("/nowhere/case.py")
    settings = Settings(select=("MP206",))
    job = Job(Project(path.parent), settings, None, write=False, named=frozenset([path]))
    [finding] = lint_bytes(job, path, source.encode(), "python").findings
    return finding.fix


def shown(source: str) -> str:
    """The source with the fix, which is only shown, written into it."""
    fix = fix_of(source)
    assert fix is not None
    for edit in sorted(fix.edits, key=lambda each: each.span.start, reverse=True):
        source = source[: edit.span.start] + edit.content + source[edit.span.end :]
    return source


def resumed_scale(source: str, path: Path, saved_by: str = "") -> float:
    """The scale after four overflows, a checkpoint, and a resume."""

    def trainer(text: str) -> Any:
        scope: dict[str, Any] = {}
        exec(compile(text, "case.py", "exec"), scope)
        model = torch.nn.Linear(1, 1)
        return scope["Trainer"](model, torch.optim.SGD(model.parameters(), lr=1.0))

    first, second = trainer(saved_by or source), trainer(source)
    for _ in range(4):
        first.step(torch.full((1, 1), 1e35))
    first.save(path)
    second.load(path)
    return float(second.scaler.get_scale())


def test_the_scale_is_that_of_the_checkpoint_after_a_resume(tmp_path: Path) -> None:
    repaired = shown(TRAINER)
    assert resumed_scale(TRAINER, tmp_path / "state.pt") == 65536.0
    assert resumed_scale(repaired, tmp_path / "state.pt") == 4096.0
    assert resumed_scale(repaired, tmp_path / "old.pt", saved_by=TRAINER) == 65536.0


def test_a_checkpoint_of_a_scaler_that_was_off_is_resumed(tmp_path: Path) -> None:
    repaired = shown(TRAINER)
    off = repaired.replace('("cpu")', '("cpu", enabled=False)')
    assert resumed_scale(repaired, tmp_path / "state.pt", saved_by=off) == 65536.0


def test_a_scaler_that_may_be_none_is_asked_first(tmp_path: Path) -> None:
    scaled = TRAINER.replace('("cpu")', '("cpu") if torch.get_num_threads() else None')
    assert resumed_scale(shown(scaled), tmp_path / "state.pt") == 4096.0
    unscaled = scaled.replace("torch.get_num_threads()", "not torch.get_num_threads()")
    scope: dict[str, Any] = {}
    exec(compile(shown(unscaled), "case.py", "exec"), scope)
    model = torch.nn.Linear(1, 1)
    trainer = scope["Trainer"](model, torch.optim.SGD(model.parameters(), lr=1.0))
    trainer.save(tmp_path / "unscaled.pt")
    state = trainer.load(tmp_path / "unscaled.pt")
    assert trainer.scaler is None
    assert state["scaler"] is None


@pytest.mark.parametrize("amp", [True, False])
def test_a_scaler_that_one_side_of_an_if_makes_is_asked_for(amp: bool, tmp_path: Path) -> None:
    made = '        self.scaler = torch.amp.GradScaler("cpu")\n'
    source = TRAINER.replace(made, f"        if AMP:\n    {made}")
    scope: dict[str, Any] = {"AMP": amp}
    exec(compile(shown(source), "case.py", "exec"), scope)
    model = torch.nn.Linear(1, 1)
    trainer = scope["Trainer"](model, torch.optim.SGD(model.parameters(), lr=1.0))
    trainer.save(tmp_path / "state.pt")
    assert (trainer.load(tmp_path / "state.pt")["scaler"] is not None) is amp


def test_the_condition_under_which_a_variable_is_made_is_asked() -> None:
    made = '    scaler = torch.amp.GradScaler("cuda")\n'
    source = FUNCTION.replace(made, f"    if args.amp:\n    {made}")
    repaired = shown(source)
    assert "'scaler': scaler.state_dict() if args.amp else None}" in repaired
    assert "if args.amp and checkpoint.get('scaler'):" in repaired


def test_a_condition_that_is_no_name_gives_no_fix() -> None:
    made = '    scaler = torch.amp.GradScaler("cuda")\n'
    source = FUNCTION.replace(made, f"    if args.bits == 16:\n    {made}")
    assert fix_of(source) is None


def test_a_scaler_in_the_same_block_as_the_checkpoint_is_there() -> None:
    block = "".join(f"    {line}\n" for line in FUNCTION.split("\n\n\n")[1].splitlines())
    source = f"import torch\n\nif __name__ == '__main__':\n{block}"
    assert "'scaler': scaler.state_dict()}" in shown(source)


def test_the_state_is_loaded_in_the_function_that_makes_the_scaler() -> None:
    saved = "optimizer.state_dict(), 'scaler': scaler.state_dict()}"
    expected = FUNCTION.replace("optimizer.state_dict()}", saved).replace(
        "        optimizer.load_state_dict(checkpoint['optim'])\n", LOADED
    )
    assert shown(FUNCTION) == expected


@pytest.mark.parametrize("source", SAVES_ONLY.values(), ids=SAVES_ONLY)
def test_the_author_loads_the_state_where_the_place_is_not_certain(source: str) -> None:
    repaired = shown(source)
    assert "scaler.state_dict()" in repaired
    assert "scaler.load_state_dict" not in repaired


def test_the_scaler_of_several_optimizers_is_named_for_none_of_them() -> None:
    of_generator = FUNCTION.replace(
        "optimizer.load_state_dict(checkpoint['optim'])",
        "g_optimizer.load_state_dict(checkpoint['g_optim'])",
    )
    entries = "'g_optim': g_optimizer.state_dict(), 'd_optim': d_optimizer.state_dict()"
    source = of_generator.replace("'optim': optimizer.state_dict()", entries)
    assert "'scaler': scaler.state_dict()" in shown(source)
    alone = of_generator.replace("'optim': optimizer", "'g_optim': g_optimizer")
    assert "'g_scaler': scaler.state_dict()" in shown(alone)


def test_no_edit_names_what_the_code_that_saves_does_not_have() -> None:
    source = """\
import torch


class Optimizer:
    @classmethod
    def make(cls, inner):
        optimizer = cls(inner)
        optimizer._scaler = torch.amp.GradScaler("cuda")
        return optimizer

    def backward(self, loss):
        self._scaler.scale(loss).backward()

    def state_dict(self):
        return {"optimizer": self._optimizer.state_dict()}

    def load_state_dict(self, state):
        self._optimizer.load_state_dict(state["optimizer"])
"""
    assert fix_of(source) is None
    held = source.replace("def state_dict(self):", "def save(self, optimizer):")
    assert "optimizer._scaler.state_dict()" in shown(held)
