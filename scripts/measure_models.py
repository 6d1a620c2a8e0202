"""Record which dtypes occur in the model code of transformers, and hold the dtype flow to them.

    python scripts/measure_models.py            # run the models, write the facts
    python scripts/measure_models.py --report   # what the flow contradicts and does not know

The models are tiny, have random weights and run on CPU: their weights and inputs in float32,
bfloat16 and float16, and in float32 under autocast to bfloat16. It takes about a minute, Python
3.11 or later, and the releases that `tests/model_zoo/facts.py` pins. Re-run it with newer releases.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import logging
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from tests.model_zoo import facts  # noqa: E402
from tests.model_zoo.report import report, sources  # noqa: E402

ARCHITECTURES = """
albert bart bert big_bird biogpt blenderbot bloom bros canine clip codegen cohere convbert ctrl
deberta deberta-v2 deepseek_v2 deepseek_v3 dinov2 distilbert electra ernie esm falcon fnet fsmt
funnel gemma gemma2 gemma3_text glm glm4 gpt2 gpt_bigcode gpt_neo gpt_neox gptj granite granitemoe
hubert ibert jamba layoutlm led lilt llama llama4_text longformer luke m2m_100 mamba mamba2 marian
mbart mistral mixtral mobilebert mpnet mpt mvp nystromformer olmo olmo2 olmoe opt pegasus phi phi3
prophetnet qwen2 qwen2_moe qwen3 qwen3_moe recurrent_gemma rembert roberta roformer rwkv siglip
speech_to_text splinter squeezebert stablelm starcoder2 swin swinv2 t5 timesformer umt5 vit vit_mae
vivit wav2vec2 wavlm whisper xglm xlm xlm-roberta xlnet xmod yoso zamba
""".split()
SECONDS = 5
"""A model that takes longer in one mode is left out: convolutions in float16 are slow on CPU."""

_EXCLUDED = ("/utils/", "/generation/")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument("--report", action="store_true", help="hold the dtype flow to the facts")
    parser.add_argument("--alone", action="store_true", help="follow no imports")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--groups", type=int, default=15, help="groups of each kind to print")
    parser.add_argument("architectures", nargs="*", default=ARCHITECTURES)
    arguments = parser.parse_args()
    if arguments.report:
        with tempfile.TemporaryDirectory() as folder:
            lines = report(
                facts.load().files,
                sources(Path(folder)),
                follows=not arguments.alone,
                jobs=arguments.jobs,
                most=arguments.groups,
            )
            print(*lines, sep="\n")
        return
    recorded = record(arguments.architectures)
    facts.save(recorded)
    print(f"{recorded.count} facts of {len(recorded.files)} files, {len(recorded.ran)} models")


_Raw = argparse.RawDescriptionHelpFormatter


# Recording


def record(architectures: list[str]) -> facts.ModelFacts:
    """Run the architectures, and collect what occurs in the files of transformers."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    package = facts.installed_sources()
    if package is None:
        raise SystemExit(f"needs transformers=={facts.TRANSFORMERS}")
    import torch

    if torch.__version__.partition("+")[0] != facts.TORCH:
        raise SystemExit(f"needs torch=={facts.TORCH}")
    from tests.model_zoo.tracer import Tracer

    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, _stop)
    prefix = f"{package}/"
    tracer = Tracer(
        lambda path: path.startswith(prefix) and not any(each in path for each in _EXCLUDED)
    )
    ran = {}
    for name in architectures:
        modes = _run(name, tracer)
        print(f"{name}: {', '.join(modes) or 'did not run'}", flush=True)
        if modes:
            ran[name] = modes
    by_file: dict[str, dict[facts.Span, facts.ByMode]] = {}
    for (path, span), by_mode in tracer.results.items():
        by_file.setdefault(path, {})[span] = {
            mode: frozenset(results) for mode, results in by_mode.items()
        }
    return facts.ModelFacts(
        ran,
        tuple(
            facts.SourceFacts(
                path.removeprefix(prefix), sha256(Path(path).read_bytes()).hexdigest(), spans
            )
            for path, spans in sorted(by_file.items())
        ),
    )


def _run(architecture: str, tracer: Any) -> tuple[str, ...]:
    """Run the first model of an architecture that works in float32; the modes that it ran in."""
    import torch

    from tests.model_zoo.tiny import Tiny, candidates

    def runs(tiny: Tiny, mode: str, *contexts: contextlib.AbstractContextManager[Any]) -> bool:
        tracer.mode = mode
        torch.manual_seed(0)
        try:
            with contextlib.ExitStack() as stack, torch.no_grad(), _limited():
                for context in contexts:
                    stack.enter_context(context)
                tiny.model(**tiny.inputs)
        except Exception:  # what a library raises for this dtype: the facts before it hold
            return False
        return True

    deadline = time.monotonic() + 4 * SECONDS
    for tiny in candidates(architecture):
        if runs(tiny, "float32"):
            break
        if time.monotonic() > deadline:
            return ()
    else:
        return ()
    low = {
        dtype: Tiny(copy.deepcopy(tiny.model).to(dtype), _cast(tiny.inputs, dtype))
        for dtype in (torch.bfloat16, torch.float16)
    }
    autocast = torch.autocast("cpu", dtype=torch.bfloat16)
    attempts = {
        "float32": (tiny, tracer),
        "bfloat16": (low[torch.bfloat16], tracer),
        "float16": (low[torch.float16], tracer),
        "autocast bfloat16": (tiny, autocast, tracer),
    }
    return tuple(mode for mode, (one, *contexts) in attempts.items() if runs(one, mode, *contexts))


def _cast(inputs: dict[str, Any], dtype: Any) -> dict[str, Any]:
    return {
        name: value.to(dtype) if value.is_floating_point() else value
        for name, value in inputs.items()
    }


@contextlib.contextmanager
def _limited(seconds: int = SECONDS) -> Iterator[None]:
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def _stop(*_: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    main()
