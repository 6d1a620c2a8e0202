"""What the linter says of model code without one of its casts."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import repeat
from pathlib import Path

from precision_lint.engine import registry
from precision_lint.engine.run import Job, run
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Finding
from precision_lint.project.files import Project
from tests.model_zoo.mutants import Mutant, Record
from tests.model_zoo.removals import original_row, without

FINE = ("non-finite", "promotes", "narrows", "same")
"""What models do that do not raise in half precision."""
LABELS = ("raises", *FINE, "raises in float32", "not run in half")


@dataclass(frozen=True)
class Scored:
    """A mutant, and the rows at which each rule reports it and not the file as it is."""

    mutant: Mutant
    rows_by_rule: Mapping[str, frozenset[int]]

    @property
    def finding_rules(self) -> frozenset[str]:
        """The rules that report where the cast was, or where the file raises."""
        start, _, end, _ = self.mutant.removed
        places = {*range(start, end + 1)}
        if (raising := self.mutant.raising) and raising.row:
            places.add(raising.row)
        return frozenset(rule for rule, rows in self.rows_by_rule.items() if rows & places)


def score(record: Record, package: Path, folder: Path) -> list[Scored]:
    """Lint each file without its cast, beside the file as it is, in a copy of the package."""
    tree = folder / package.name
    shutil.copytree(package, tree, copy_function=_linked, ignore=_all_but_python)
    copies: dict[Path, tuple[str, Mutant | None]] = {}
    for path, mutants in record.by_file():
        source = (package / path).read_text("utf-8")
        if sha256(source.encode()).hexdigest() != record.digests[path]:
            raise SystemExit(f"{package / path} is not the file that ran")
        for number, mutant in enumerate([None, *mutants] if mutants else []):
            copy = (tree / path).with_name(f"{Path(path).stem}__{number}.py")
            text = source if mutant is None else without(source, mutant.removed, mutant.inserted)
            copy.write_text(text, "utf-8")
            copies[copy] = path, mutant
    results = run(Job(Project(folder), Settings(preview=True)), sorted(copies))
    findings = {result.path: result.findings for result in results}
    assert not [result.failure for result in results if result.failure]
    as_it_is = {
        path: Counter((finding.code, finding.place.start.row) for finding in findings[copy])
        for copy, (path, mutant) in copies.items()
        if mutant is None
    }
    return [
        Scored(mutant, _new(mutant, findings[copy], as_it_is[path], copy))
        for copy, (path, mutant) in copies.items()
        if mutant is not None
    ]


def report(record: Record, package: Path, every: int, is_listed: bool) -> Iterator[str]:
    """By rule: how many of the mutants of each label it reports."""
    kept = dict([*record.digests.items()][::every])
    mutants = tuple(each for each in record.mutants if each.path in kept)
    with tempfile.TemporaryDirectory() as folder:
        scored = score(Record(mutants, kept), package, Path(folder).resolve())
    yield from table(scored)
    for each in scored if is_listed else ():
        if each.rows_by_rule or each.mutant.label == "raises":
            yield listed(each)


def table(scored: list[Scored]) -> Iterator[str]:
    """Counts of reported mutants by rule and label, and their shares."""
    totals = Counter(each.mutant.label for each in scored)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in scored:
        label = each.mutant.label
        rules = each.finding_rules if label == "raises" else {*each.rows_by_rule}
        for rule in {*rules, *(["any rule"] if rules else [])}:
            counts[rule][label] += 1
    yield f"{len(scored)} mutants of {len({each.mutant.path for each in scored})} files"
    yield f"{'':40}" + "".join(f"{label:>18}" for label in LABELS)
    yield f"{'mutants':40}" + "".join(f"{totals[label]:18}" for label in LABELS)
    for rule in sorted(counts):
        name = rule if rule == "any rule" else f"{rule} {registry.rule(rule).name}"
        yield f"{name:40}" + "".join(f"{counts[rule][label]:18}" for label in LABELS)
    found = counts["any rule"]
    others, of_others = (sum(map(each.get, FINE, repeat(0))) for each in (totals, found))
    yield f"raise in half precision, found: {_share(found['raises'], totals['raises'])}"
    yield f"do not raise, reported: {_share(of_others, others)}"


def listed(scored: Scored) -> str:
    """A mutant in a line: where, what was removed, what it does, which rules report it."""
    mutant = scored.mutant
    said = mutant.raising.error if mutant.raising else ""
    rules = ", ".join(
        f"{rule}:{','.join(map(str, sorted(rows)))}" for rule, rows in scored.rows_by_rule.items()
    )
    place = f"{mutant.path}:{mutant.removed[0]}:{mutant.removed[1]}"
    return f"{place} {mutant.kind}: {mutant.label} {said} [{rules or 'not found'}]"


def _new(
    mutant: Mutant, findings: Iterable[Finding], before: Counter[tuple[str, int]], copy: Path
) -> dict[str, frozenset[int]]:
    """The rows of the findings that the file as it is does not have, and of what they refer to."""
    left = Counter(before)
    rows: defaultdict[str, set[int]] = defaultdict(set)
    for finding in findings:
        key = finding.code, original_row(finding.place.start.row, mutant.removed)
        if left[key] > 0:
            left[key] -= 1
            continue
        related = (each.place for each in finding.related if each.place.path == copy)
        rows[finding.code] |= {
            original_row(place.start.row, mutant.removed) for place in (finding.place, *related)
        }
    return {rule: frozenset(each) for rule, each in rows.items()}


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({part / whole:.1%})" if whole else "")


def _linked(source: str, target: str) -> None:
    """A second name for the file where the file system can, else a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _all_but_python(folder: str, names: list[str]) -> list[str]:
    return [
        name for name in names if not name.endswith(".py") and not (Path(folder) / name).is_dir()
    ]
