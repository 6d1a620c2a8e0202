"""Take the casts out of real model code, one at a time: what breaks, and which rule says so.

    python scripts/remove_casts.py            # run the models without each cast, write the record
    python scripts/remove_casts.py --score    # what the linter finds in the files without the cast

The first runs tiny models of transformers on CPU as `measure_models.py` does, each mutant in a
process of its own: half an hour on one core. The second needs no torch: it lints each file without
its cast beside the file as it is, with preview rules, and prints by rule which mutants that raise
are found, and which of the others are reported.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Container
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from tests.forking import forked  # noqa: E402
from tests.model_zoo import facts, mutants, removals  # noqa: E402
from tests.model_zoo.report import sources  # noqa: E402

SECONDS_FOR_ALL = 2000
SECONDS_FOR_ONE = 150
"""For an architecture."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--score", action="store_true", help="hold the linter to the record")
    parser.add_argument("--add", action="store_true", help="keep the record, run what is missing")
    parser.add_argument("--every", type=int, default=1, help="score every Nth file only")
    parser.add_argument("--list", action="store_true", help="print each mutant that is scored")
    parser.add_argument("--seconds", type=int, default=SECONDS_FOR_ALL, help="for the runs")
    parser.add_argument("architectures", nargs="*")
    arguments = parser.parse_args()
    if arguments.score:
        from tests.model_zoo.scoring import report

        with tempfile.TemporaryDirectory() as folder:
            package = sources(Path(folder))
            print(*report(mutants.load(), package, arguments.every, arguments.list), sep="\n")
        return
    before = mutants.load().mutants if arguments.add else ()
    recorded = record(arguments.architectures, arguments.seconds, before)
    if not arguments.architectures:
        mutants.save(recorded)
    print(f"{len(recorded.mutants)} mutants of {len(recorded.digests)} files")


def record(
    architectures: list[str], seconds: int, before: tuple[mutants.Mutant, ...] = ()
) -> mutants.Record:
    """Run the models of the architectures without each of their casts."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    package = facts.installed_sources()
    if package is None:
        raise SystemExit(f"needs transformers=={facts.TRANSFORMERS}")
    import torch

    if torch.__version__.partition("+")[0] != facts.TORCH:
        raise SystemExit(f"needs torch=={facts.TORCH}")
    torch.set_num_threads(1)
    start = time.monotonic()
    found = {(each.path, each.removed): each for each in before}
    for name in architectures or _by_casts(package):
        if time.monotonic() - start > seconds:
            break
        said = forked(lambda name=name: _mutants(name, package, found.keys()), SECONDS_FOR_ONE)
        new = [mutants.unpacked(each) for each in said or ()]
        print(f"{time.monotonic() - start:6.0f} s {name}: {len(new)}", flush=True)
        for each in new:
            found.setdefault((each.path, each.removed), each)
            if architectures:
                print("  ", each.removed, each.kind, each.label, each.raising)
    paths = sorted({path for path, _ in found})
    digests = {path: sha256((package / path).read_bytes()).hexdigest() for path in paths}
    return mutants.Record(tuple(found[key] for key in sorted(found)), digests)


def _by_casts(package: Path) -> list[str]:
    """The architectures that are known to run, then the others with the most casts."""
    from transformers import CONFIG_MAPPING

    known = facts.load().ran
    casts = {}
    for name in CONFIG_MAPPING:
        file = name.replace("-", "_")
        for path in package.glob(f"models/{file}/modeling_{file}.py"):
            casts[name] = len(removals.sites(path.read_text("utf-8")))
    ordered = sorted(casts, key=lambda name: (name not in known, -casts[name]))
    return [name for name in ordered if casts[name]]


def _mutants(name: str, package: Path, known: Container[tuple[str, facts.Span]]) -> list[Any]:
    """The new mutants of an architecture, packed; in a process that imports its code."""
    from tests.model_zoo import running

    start = time.monotonic()
    found: dict[facts.Span, Any] = {}
    for base in running.bases(name):
        path = Path(base.module.__file__ or "").relative_to(package).as_posix()
        seconds = (len(base.runs) + 1) * running.SECONDS
        for site in base.sites if len(base.runs) > 1 else ():
            if (path, site.removed) in known or site.removed in found:
                continue
            if time.monotonic() - start > SECONDS_FOR_ONE / 2:
                break
            said = forked(
                lambda base=base, site=site: mutants.packed_outcomes(running.outcomes(base, site)),
                seconds,
            )
            if said and "float32" in said:
                packed = [name, path, site.kind, site.removed, site.inserted, said]
                found[site.removed] = packed
    return [*found.values()]


if __name__ == "__main__":
    main()
