"""Random Triton kernels: what the linter says of them, held against the compiler.

    python benchmarks/triton_random.py [--kernels 20000] [--seed 0] [--jobs 2]

The kernels are those of `tests/facts/triton/generated.py`, each for bf16, fp16 and fp32, and for
every choice of its compile-time flags. The result goes to `benchmarks/triton-random.json`: how
often both agree, what only the compiler refuses (misses) and what only the linter does (false
errors), by class and with the first seeds of each.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from precision_lint.model.version import __version__  # noqa: E402
from tests.facts.triton.agreement import DTYPES, compare, family  # noqa: E402
from tests.facts.triton.generated import generate  # noqa: E402

RECORD = ROOT / "benchmarks" / "triton-random.json"
_AT_ONCE = 250
_EXAMPLES = 5

Classes = dict[str, Counter[int]]
"""Seeds, by class."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    end = options.seed + options.kernels
    parts = [range(at, min(at + _AT_ONCE, end)) for at in range(options.seed, end, _AT_ONCE)]
    refused: Counter[str] = Counter()
    missed: Classes = {}
    wrong: Classes = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for number, (some_refused, some_missed, some_wrong) in enumerate(pool.map(_part, parts), 1):
            refused += some_refused
            for found, some in ((missed, some_missed), (wrong, some_wrong)):
                for name, seeds in some.items():
                    found.setdefault(name, Counter()).update(seeds)
            print(
                f"{number}/{len(parts)}: {_total(missed)} missed, {_total(wrong)} wrong", flush=True
            )
    verdicts = options.kernels * len(DTYPES)
    record = {
        "date": date.today().isoformat(),
        "precision-lint": __version__,
        "python": platform.python_version(),
        "triton": version("triton"),
        "seeds": [options.seed, end - 1],
        "verdicts": verdicts,
        "refused by the compiler": dict(sorted(refused.items())),
        "agreement": round(1 - (_total(missed) + _total(wrong)) / verdicts, 5),
        "misses": _total(missed),
        "false errors": _total(wrong),
        "misses by class": _shown(missed),
        "false errors by class": _shown(wrong),
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n")


def _part(seeds: range) -> tuple[Counter[str], Classes, Classes]:
    refused: Counter[str] = Counter()
    missed: Classes = {}
    wrong: Classes = {}
    with tempfile.TemporaryDirectory() as folder:
        for outcome in compare(map(generate, seeds), Path(folder)):
            families = {family(error) for error in outcome.errors}
            refused.update([outcome.dtype] if outcome.errors else [])
            if outcome.is_miss:
                name = " or ".join(sorted(families))
                missed.setdefault(name, Counter())[outcome.kernel.seed] += 1
            if outcome.is_false_error:
                name = " and ".join(sorted(outcome.linter))
                wrong.setdefault(name, Counter())[outcome.kernel.seed] += 1
    return refused, missed, wrong


def _total(classes: Classes) -> int:
    return sum(seeds.total() for seeds in classes.values())


def _shown(classes: Classes) -> dict[str, dict[str, object]]:
    most = sorted(classes.items(), key=lambda item: (-item[1].total(), item[0]))
    return {name: {"verdicts": c.total(), "seeds": sorted(c)[:_EXAMPLES]} for name, c in most}


if __name__ == "__main__":
    main()
