"""Hold the dtype flow against torch, over as many random programs as there is time for.

    python scripts/flow_oracle.py --programs 100000 --jobs 2
    python scripts/flow_oracle.py --programs 50000 --jobs 16 --device cuda

Prints how many probes the flow contradicts, with the least program for each way of doing so, how
often it knows the dtype exactly, and the constructs at which it loses it.
"""

from __future__ import annotations

import argparse
import platform
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import partial, reduce
from multiprocessing import get_context
from operator import iadd, itemgetter
from pathlib import Path
from textwrap import indent

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

import torch  # noqa: E402

from precision_lint.model.version import __version__  # noqa: E402
from tests.property.torch_oracle import Tally, minimal, tally  # noqa: E402
from tests.property.torch_programs import IMPORTS, random_program  # noqa: E402

CHUNK = 250
CONSTRUCTS = 30


def examples(total: Tally, most: int, device: str) -> Iterator[str]:
    """The least programs that contradict, for each cause and construct, frequent ones first.

    Of a program's contradictions of one cause the first counts: later ones mostly follow from it.
    """
    firsts = {(seed, found.cause): found for seed, found in reversed(total.contradictions)}
    ways: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for (seed, cause), found in sorted(firsts.items(), key=itemgetter(0)):
        ways[cause, random_program(seed, device).constructs[found.probe]].append(seed)
    printed: set[str] = set()
    for (cause, construct), seeds in sorted(ways.items(), key=lambda way: -len(way[1]))[:most]:
        found = firsts[seeds[0], cause]
        least = minimal(random_program(seeds[0], device).source, cause).replace(IMPORTS, "")
        nameless = re.sub(r"\d+", "", least)
        if nameless in printed:
            continue
        printed.add(nameless)
        yield (
            f"{len(seeds)} x {construct}, {cause} (seed {seeds[0]}): torch gives {found.actual},"
            f" the flow says {found.claimed}\n\n{indent(least, '    ')}"
        )


def _pool(jobs: int, device: str) -> ProcessPoolExecutor:
    """Processes for the chunks: a GPU gets a new one for each, as a failed kernel ends the old."""
    if device == "cpu":
        return ProcessPoolExecutor(jobs)
    return ProcessPoolExecutor(jobs, get_context("spawn"), max_tasks_per_child=1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="the first program's")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--examples", type=int, default=20, help="how many to reduce and print")
    options = parser.parse_args()
    began = time.monotonic()
    end = options.seed + options.programs
    chunks = [range(at, min(at + CHUNK, end)) for at in range(options.seed, end, CHUNK)]
    with _pool(options.jobs, options.device) as pool:
        total = reduce(iadd, pool.map(partial(tally, device=options.device), chunks), Tally())
    seconds = time.monotonic() - began
    causes = Counter(found.cause for _, found in total.contradictions)
    print(
        f"{date.today()}  precision-lint {__version__}  torch {torch.__version__}"
        f"  {options.device}  Python {platform.python_version()}  seeds {options.seed} to {end - 1}"
    )
    print(f"programs       {total.programs:>9,}  ({total.raised / total.programs:.1%} raise)"
          f"  {total.programs / seconds:.0f} a second")  # fmt: skip
    print(f"probes         {total.probes:>9,}  ({total.fixed.total():,} of one dtype)")
    print(f"contradictions {len(total.contradictions):>9,}  {dict(causes) or ''}")
    print(f"exact          {total.exact_share:>9.2%}")
    print("\nwhere exactness is lost: first in a program; of the construct's probes, those exact\n")
    for construct, count in total.lost.most_common(CONSTRUCTS):
        exact, fixed = total.exact[construct], total.fixed[construct]
        print(f"{count:>7,}  {exact / fixed:>6.1%} of {fixed:>7,}  {construct}")
    for example in examples(total, options.examples, options.device):
        print(f"\n{example}", end="")
    return int(bool(total.contradictions))


if __name__ == "__main__":
    sys.exit(main())
