"""Count in which dtype models of transformers return their outputs under autocast to bfloat16.

    python scripts/measure_outputs.py --device cuda --jobs 12

The models are tiny, have random weights in float32, and run once in a region of the device: on
CUDA, where norms, softmax and powers are computed in float32, or on the CPU, where they are not.
All architectures are tried, with the models that `tests/model_zoo/tiny.py` finds for them.
The figures are in `precision_lint/facts/dtypes/syntax/sources.py`.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

SECONDS = 12
"""For the candidates of one architecture."""
FIRST = "[0]"
"""What stands for the first of the outputs, whatever its name is."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", type=Path, help="a JSON file for what was seen of each model")
    parser.add_argument("architectures", nargs="*")
    arguments = parser.parse_args()
    from transformers import CONFIG_MAPPING

    names = arguments.architectures or sorted(CONFIG_MAPPING)
    found: dict[str, dict[str, str]] = {}
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for seen in pool.map(outputs_of, names, [arguments.device] * len(names)):
            found |= seen
    if arguments.write is not None:
        arguments.write.write_text(json.dumps(found, indent=1, sort_keys=True))
    for line in summary(found):
        print(line)


_Raw = argparse.RawDescriptionHelpFormatter


def outputs_of(architecture: str, device: str) -> dict[str, dict[str, str]]:
    """The dtypes of the outputs of the models of an architecture, by their classes."""
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    warnings.simplefilter("ignore")
    logging.disable()
    import torch

    from tests.model_zoo.tiny import candidates

    torch.set_num_threads(1)
    found: dict[str, dict[str, str]] = {}
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(SECONDS)
    try:
        for tiny in candidates(architecture):
            name = type(tiny.model).__name__
            if name in found:
                continue
            try:
                found[name] = _run(tiny.model, tiny.inputs, device)
            except TimeoutError:
                raise
            except Exception:  # whatever a library raises for inputs that do not fit
                continue
    except Exception:  # no time is left, or the architecture needs a library
        pass
    finally:
        signal.alarm(0)
    return found


def _run(model: Any, inputs: dict[str, Any], device: str) -> dict[str, str]:
    import torch

    model = model.to(device)
    given = {name: value.to(device) for name, value in inputs.items()}
    with torch.no_grad(), torch.autocast(device, dtype=torch.bfloat16):
        returned = model(**given)
    items = [(FIRST, returned[0]), *getattr(returned, "items", dict)()]
    dtypes = {key: str(value.dtype) for key, value in items if isinstance(value, torch.Tensor)}
    return {key: dtype.removeprefix("torch.") for key, dtype in dtypes.items()}


def summary(found: dict[str, dict[str, str]]) -> Iterator[str]:
    """How often each output has which dtype; the first one by the kind of the model."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, outputs in found.items():
        for key, dtype in outputs.items():
            kind = "a base model" if name.endswith("Model") else "a model with a head"
            counts[f"{key} of {kind}" if key == FIRST else key][dtype] += 1
    yield f"{len(found)} models"
    for key, dtypes in sorted(counts.items(), key=lambda each: -each[1].total()):
        yield f"{key}: {', '.join(f'{dtype} {count}' for dtype, count in dtypes.most_common())}"


def _stop(*_: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print(f"{time.monotonic() - started:.0f} s")
