"""Programs that call the deprecated AMP API in every form that it takes, and what they do.

A program hands what it makes to `record`, which writes down what can be told of it but its class:
device, dtype, whether it is on, whether it keeps casts, the state inside of the region, results.
CUDA is taken to be there, so that a region that should be on is on; none of its kernels runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any
from unittest import mock


@dataclass(frozen=True)
class Form:
    """A program by the name of its form: `cuda with from-import: True, dtype=torch.float16`."""

    name: str
    source: str


STYLES = {
    "attribute": ("import torch", "torch.{device}.amp.{name}"),
    "from-import": ("import torch\nfrom torch.{device}.amp import {name}", "{name}"),
    "alias": ("import torch\nfrom torch.{device}.amp import {name} as old", "old"),
    "module": ("import torch\nfrom torch.{device} import amp", "amp.{name}"),
    "module alias": ("import torch as th\nimport torch.{device}.amp as A\ntorch = th", "A.{name}"),
    "submodule": (
        "from torch.{device}.amp.{module} import {name}\nimport torch",
        "{name}",
    ),
}
"""How a file comes by a name, and how it then writes it."""

MODULES = {"GradScaler": "grad_scaler"}

USAGES = {
    "with": "with {call} as region:\n    record(region)\n",
    "value": "region = {call}\nrecord(region)\nwith region:\n    record(region)\n",
    "decorator": "@{call}\ndef run():\n    record(None)\n\n\nrun()\n",
    "conditional": (
        "import contextlib\n\nuse = True\n"
        "region = {call} if use else contextlib.nullcontext()\nrecord(region)\n"
    ),
    "nested": (
        "with torch.autocast('{device}', dtype=torch.{other}):\n"
        "    with {call} as region:\n        record(region)\n"
    ),
}
"""What is done with a region. In `nested`, another dtype surrounds it."""

SCALER = {
    "init_scale": "1024.0",
    "growth_factor": "3.0",
    "backoff_factor": "0.25",
    "growth_interval": "7",
    "enabled": "use_amp",
}
DTYPES = {"cuda": ("bfloat16", "float16"), "cpu": ("float16", "bfloat16")}
"""For each device, a dtype that is not its default, and the one that is."""


def arguments(values: dict[str, str]) -> Iterator[str]:
    """Every way to pass some of the values: so many by position, any of the others by name."""
    names = list(values)
    for count in range(len(names) + 1):
        others = names[count:]
        for chosen in range(len(others) + 1):
            for keywords in combinations(others, chosen):
                passed = [values[name] for name in names[:count]]
                yield ", ".join([*passed, *(f"{name}={values[name]}" for name in keywords)])


def forms() -> list[Form]:
    """Every form, each with a name of its own."""
    found = [*_regions(), *_scalers(), *_decorators(), *_queries(), *_others()]
    return list({form.name: form for form in found}.values())


def _program(style: str, device: str, name: str) -> tuple[str, str]:
    """The imports of a style, and what a name is called under them."""
    imports, called = STYLES[style]
    words = {"device": device, "name": name, "module": MODULES.get(name, "autocast_mode")}
    return imports.format(**words) + "\n\nuse_amp = True\n", called.format(**words)


def _regions() -> Iterator[Form]:
    number = 0
    for device, (other, default) in DTYPES.items():
        for enabled in ("True", "use_amp", "False"):
            values = {"enabled": enabled, "dtype": f"torch.{other}", "cache_enabled": "False"}
            for passed in arguments(values):
                for usage, body in USAGES.items():
                    style = list(STYLES)[number % len(STYLES)]
                    number += 1
                    head, called = _program(style, device, "autocast")
                    call = f"{called}({passed})"
                    source = body.format(call=call, device=device, other=other)
                    name = f"{device} {usage} {style}: autocast({passed})"
                    yield Form(name, f"{head}\n{source}")
        head, called = _program("attribute", device, "autocast")
        for passed in ("", f"dtype=torch.{default}", "dtype=None", "True, None"):
            results = f"x = torch.full((2, 2), 0.1)\nwith {called}({passed}):\n    record(x @ x)\n"
            yield Form(f"{device} results: autocast({passed})", f"{head}\n{results}")


def _scalers() -> Iterator[Form]:
    for device in DTYPES:
        for number, passed in enumerate(arguments(SCALER)):
            style = list(STYLES)[number % len(STYLES)]
            head, called = _program(style, device, "GradScaler")
            body = f"scaler = {called}({passed})\nrecord(scaler)\n"
            if device == "cpu":
                body += "record(scaler.scale(torch.ones(2)))\nrecord(scaler)\n"
            yield Form(f"{device} {style}: GradScaler({passed})", f"{head}\n{body}")


_FUNCTION = """

class Double(torch.autograd.Function):
    @staticmethod
    {forward}
    def forward(ctx, x):
        record((ctx._dtype, ctx._fwd_used_autocast))
        return 2 * x

    @staticmethod
    {backward}
    def backward(ctx, grad):
        record(None)
        return 2 * grad


x = torch.ones(3, requires_grad=True)
with torch.autocast("cuda", dtype=torch.bfloat16):
    y = Double.apply(x)
y.sum().backward()
record(x.grad)
"""
_DIRECT = """

class Context: pass


def forward(ctx, x):
    record((ctx._dtype, ctx._fwd_used_autocast))
    return 2 * x


with torch.autocast("cuda", dtype=torch.bfloat16):
    record({call}(Context(), torch.ones(2)))
"""


def _decorators() -> Iterator[Form]:
    for style in STYLES:
        head, fwd = _program(style, "cuda", "custom_fwd")
        imports, bwd = _program(style, "cuda", "custom_bwd")
        head += imports.replace(" as old", " as older").replace("use_amp = True\n", "")
        bwd = "older" if bwd == "old" else bwd
        for passed in ("", "()", "(cast_inputs=torch.float32)", "(cast_inputs=None)"):
            body = _FUNCTION.format(forward=f"@{fwd}{passed}", backward=f"@{bwd}")
            yield Form(f"{style}: @custom_fwd{passed}", head + body)
        for passed in ("(forward)", "(fwd=forward)", "(forward, cast_inputs=torch.float32)"):
            body = _DIRECT.format(call=f"{fwd}{passed}")
            yield Form(f"{style}: custom_fwd{passed}", head + body)


def _queries() -> Iterator[Form]:
    for infix, device in (("gpu", "cuda"), ("cpu", "cpu")):
        for other in DTYPES[device]:
            query = f"record(torch.get_autocast_{infix}_dtype())\n"
            region = f'with torch.autocast("{device}", dtype=torch.{other}):\n    {query}'
            setting = f"torch.set_autocast_{infix}_dtype(torch.{other})\n{query}"
            yield Form(f"get_autocast_{infix}_dtype in {other}", _TORCH + region)
            yield Form(f"set_autocast_{infix}_dtype({other})", _TORCH + setting)
    for value in ("True", "False"):
        setting = f"torch.set_autocast_cpu_enabled({value})\n"
        query = "record(torch.is_autocast_cpu_enabled())\n"
        yield Form(f"set_autocast_cpu_enabled({value})", _TORCH + setting + query)
    inside = 'record(f"{torch.get_autocast_gpu_dtype()} {torch.is_autocast_cpu_enabled()}")\n'
    yield Form("queries in an f-string", _TORCH + inside)


_TORCH = "import torch\n\n"
_SEVERAL = """\
from torch.cuda.amp import GradScaler, autocast
import torch

scaler: GradScaler = GradScaler(2.0**4)
record(scaler)


def step(enabled, dtype):
    with autocast(enabled, dtype):
        record(None)
    with autocast(), torch.no_grad():
        record(None)


step(True, torch.bfloat16)
step(False, torch.float16)
"""
_NO_TORCH = """\
from torch.cuda.amp import GradScaler
from torch.cuda.amp import autocast as ac


def step(enabled):
    from torch.cuda import amp

    with ac(enabled), amp.autocast(not enabled):
        record(None)


record(GradScaler(2.0**4))
step(True)
"""
_SHADOWED = """\
from contextlib import nullcontext

from torch.cuda.amp import autocast


def run(autocast):
    with autocast():
        record(None)


run(nullcontext)
with autocast(True):
    record(None)
"""
_CLASS = """\
from torch.cuda.amp import GradScaler

scaler = GradScaler()
record(isinstance(scaler, GradScaler))
"""
_PARTIAL = """\
import functools

import torch

made = functools.partial(torch.cuda.amp.GradScaler, {})
record(made(growth_interval=3))
"""


def _others() -> Iterator[Form]:
    """Forms with more than one call, and arguments that are not written down."""
    yield Form("several uses of one import", _SEVERAL)
    yield Form("torch has no name", _NO_TORCH)
    yield Form("a parameter of the same name", _SHADOWED)
    yield Form("asks for the class", _CLASS)
    for passed in ("2.0**3", "init_scale=8.0, enabled=True"):
        yield Form(f"partial(GradScaler, {passed})", _PARTIAL.format(passed))
    amp = "torch.cuda.amp"
    for name, call in {
        "a call in a call": f"{amp}.autocast(bool({amp}.autocast(False)))",
        "autocast(*arguments)": f"{amp}.autocast(*(True, torch.bfloat16))",
        "GradScaler(*arguments)": f"{amp}.GradScaler(*(4.0, 2.0))",
        "GradScaler(**options)": f"{amp}.GradScaler(**{{'init_scale': 4.0}})",
    }.items():
        yield Form(name, f"{_TORCH}record({call})\n")


def observe(source: str) -> list[Any] | str:
    """What a program records, or the error that it raises."""
    import torch

    seen: list[Any] = []
    scope = {"__name__": "form", "record": lambda value: seen.append(_described(value))}
    with (
        warnings.catch_warnings(),
        mock.patch("torch.cuda.amp.common.amp_definitely_not_available", return_value=False),
        mock.patch("torch.cuda.is_bf16_supported", return_value=True),
    ):
        warnings.simplefilter("ignore")
        before = _state()
        try:
            exec(compile(source, "form.py", "exec"), scope)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            for device, (enabled, dtype) in before[0].items():
                torch.set_autocast_enabled(device, enabled)
                torch.set_autocast_dtype(device, dtype)
            torch.set_autocast_cache_enabled(before[1])
    return seen


def _state() -> tuple[dict[str, tuple[bool, Any]], bool]:
    import torch

    regions = {
        device: (torch.is_autocast_enabled(device), torch.get_autocast_dtype(device))
        for device in DTYPES
    }
    return regions, torch.is_autocast_cache_enabled()


def _told(enabled: bool, dtype: Any) -> Any:
    """The dtype of a region, if it is on: where nothing is cast, nothing has it."""
    return dtype if enabled else "off"


def _described(value: Any) -> Any:
    """What can be told of a value but its class, and of autocast where it is recorded."""
    import torch

    match value:
        case torch.amp.autocast_mode.autocast():
            dtype = _told(value._enabled, value.fast_dtype)
            about = (value.device, dtype, value._cache_enabled)
        case torch.amp.GradScaler():
            about = (value._device, value.is_enabled(), value.state_dict())
        case torch.Tensor():
            about = (value.dtype, value.tolist())
        case _:
            about = value
    regions, keeps_cache = _state()
    return about, {device: _told(*region) for device, region in regions.items()}, keeps_cache
