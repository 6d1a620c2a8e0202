"""What the rivals compute: the loss of random logits or hidden states, held against float64."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from cross_entropy_report import Errors
from cross_entropy_rivals import Loss
from cross_entropy_timing import Prepare, Work

# Rows whose gradients are compared. Few, since the gradient of the loss is that of their mean, so
# that no label's underflows in float16.
COMPARED = 16
# Elements that are float64 at a time.
_CHUNK = 2**24


@dataclass(frozen=True)
class Case:
    """Inputs that no rival writes to, and buffers of the same shapes that some do."""

    inputs: tuple[torch.Tensor, ...]
    buffers: tuple[torch.Tensor, ...]
    target: torch.Tensor

    @classmethod
    def of(cls, inputs: tuple[torch.Tensor, ...], target: torch.Tensor) -> Case:
        return cls(inputs, tuple(map(torch.empty_like, inputs)), target)

    def fresh(self) -> tuple[torch.Tensor, ...]:
        """The inputs anew, as leaves of a graph."""
        for buffer, given in zip(self.buffers, self.inputs, strict=True):
            buffer.copy_(given)
        return tuple(buffer.detach().requires_grad_() for buffer in self.buffers)

    def prepare(self, loss: Loss, direction: str) -> Prepare:
        """Prepares a direction of a training step: fresh inputs, and what precedes the direction.

        The loss's own gradient is 1. Gradients of the inputs are returned, not accumulated.
        """

        def prepared() -> Work:
            inputs = self.fresh()
            if direction == "forward":
                return lambda: loss(*inputs, self.target)
            if direction == "both":
                return lambda: torch.autograd.grad(loss(*inputs, self.target), inputs)
            value = loss(*inputs, self.target)
            return lambda: torch.autograd.grad(value, inputs)

        return prepared

    def copy(self) -> Prepare:
        """Prepares a plain copy of the logits."""
        return lambda: lambda: self.buffers[0].copy_(self.inputs[0])


def logits_case(shape: Sequence[int], dtype: torch.dtype, device: str) -> Case:
    """Of rows x classes. The first rows know their labels, with probabilities up to 0.999."""
    rows, classes = shape
    logits = torch.randn(rows, classes, dtype=dtype, device=device)
    target = torch.randint(classes, (rows,), device=device)
    some = torch.arange(min(COMPARED, rows) // 2, device=device)
    known = torch.linspace(0.5, 0.999, len(some), device=device)
    label = torch.logit(known) + logits[some].float().logsumexp(1)
    logits[some, target[some]] = label.to(dtype)
    return Case.of((logits,), target)


def linear_case(shape: Sequence[int], dtype: torch.dtype, device: str) -> Case:
    """Of tokens x width x classes: hidden states and a weight whose logits have a variance of 1."""
    tokens, width, classes = shape
    hidden = torch.randn(tokens, width, dtype=dtype, device=device)
    weight = torch.randn(classes, width, dtype=dtype, device=device).mul_(1 / math.sqrt(width))
    return Case.of((hidden, weight), torch.randint(classes, (tokens,), device=device))


@dataclass(frozen=True)
class Reference:
    """In float64: the loss, and the gradients of some rows and of the weight, if there is one.

    The gradients are those of `scale` times the loss.
    """

    loss: torch.Tensor
    gradients: tuple[torch.Tensor, ...]
    scale: float


def reference(case: Case) -> Reference:
    """Computed some rows at a time."""
    rows = len(case.target)
    compared = min(COMPARED, rows)
    first, *others = case.inputs
    weights = [given.double().requires_grad_() for given in others]
    weight_gradients = [torch.zeros_like(weight) for weight in weights]
    loss = torch.zeros((), dtype=torch.float64, device=first.device)
    parts = []
    classes = len(others[0]) if others else first.shape[1]
    step = max(1, _CHUNK // classes)
    for start in range(0, rows, step):
        part = first[start : start + step].double().requires_grad_()
        logits = F.linear(part, *weights) if weights else part
        total = F.cross_entropy(logits, case.target[start : start + step], reduction="sum")
        gradient, *rest = torch.autograd.grad(total / compared, (part, *weights))
        for summed, addend in zip(weight_gradients, rest, strict=True):
            summed += addend
        if start < compared:
            parts.append(gradient)
        loss += total.detach() / rows
    return Reference(loss, (torch.cat(parts)[:compared], *weight_gradients), rows / compared)


def errors(loss: Loss, case: Case, right: Reference) -> Errors:
    """How far a rival is from the reference."""
    inputs = case.fresh()
    value = loss(*inputs, case.target)
    scale = torch.full_like(value, right.scale)
    first, *others = torch.autograd.grad(value, inputs, scale)
    wanted, *_ = right.gradients
    compared = len(wanted)
    gradients = [first[:compared].double(), *(other.double() for other in others)]
    label = None
    if not others:
        index = case.target[:compared].unsqueeze(1)
        at_label = wanted.gather(1, index)
        label = ((gradients[0].gather(1, index) - at_label) / at_label).abs().max().item()
    off = (
        ((got - right_one).norm() / right_one.norm()).item()
        for got, right_one in zip(gradients, right.gradients, strict=True)
    )
    return Errors(((value.double() - right.loss) / right.loss).abs().item(), max(off), label)
