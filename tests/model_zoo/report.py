"""What the flow contradicts and does not know of the recorded facts, by cause."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.context import NOWHERE
from tests.model_zoo import facts
from tests.model_zoo.causes import Causes
from tests.model_zoo.flow import Verdict, compare

GROUPED = (Verdict.CONTRADICTED, Verdict.UNKNOWN, Verdict.SOME_TENSOR)
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Lost:
    """An expression that the flow is wrong about or does not know, and why."""

    verdict: Verdict
    kind: str
    place: str
    """Where the flow loses the value: `file:row`."""
    source: str


@dataclass(frozen=True, slots=True)
class FileReport:
    """The verdicts on the expressions of one file."""

    path: str
    verdicts: tuple[Verdict, ...]
    lost: tuple[Lost, ...]


def report_of(package: Path, follows: bool, file: facts.SourceFacts) -> FileReport:
    """Hold the flow to one file: with what it imports, or by itself."""
    source = (package / file.path).read_bytes()
    if not file.is_of(source):
        raise SystemExit(f"{package / file.path} is not the file that ran")
    folder = package if follows else NOWHERE / "transformers"
    compared = compare(file, source.decode(), folder / file.path)
    causes = Causes(compared)
    lost = []
    for each in compared.expressions:
        if each.verdict in GROUPED:
            cause = causes.of(each)
            line = " ".join(ast.unparse(cause.node).split())
            place = f"{file.path}:{cause.node.lineno}"
            kind = "under the autocast of a caller" if each.is_of_autocast else cause.kind
            lost.append(Lost(each.verdict, kind, place, line))
    return FileReport(file.path, tuple(each.verdict for each in compared.expressions), tuple(lost))


def report(
    files: Iterable[facts.SourceFacts], package: Path, *, follows: bool, jobs: int, most: int
) -> Iterator[str]:
    """The shares of the verdicts, and the largest groups of each that is no answer."""
    with ProcessPoolExecutor(jobs) as pool:
        reports = [*pool.map(partial(report_of, package, follows), files)]
    verdicts = Counter(verdict for each in reports for verdict in each.verdicts)
    total = verdicts.total()
    yield f"{total} expressions of {len(reports)} files"
    for verdict in Verdict:
        yield f"{verdicts[verdict]:6} {verdicts[verdict] / total:6.1%} {verdict.value}"
    for verdict in GROUPED:
        groups: defaultdict[str, list[Lost]] = defaultdict(list)
        for lost in (lost for each in reports for lost in each.lost if lost.verdict is verdict):
            groups[lost.kind].append(lost)
        yield f"\n{verdict.value}: {verdicts[verdict]} in {len(groups)} groups"
        for kind, members in sorted(groups.items(), key=lambda group: -len(group[1]))[:most]:
            yield f"{len(members):6} {kind}"
            yield from (f"       {each.place} {each.source[:100]}" for each in _examples(members))


def _examples(members: list[Lost]) -> list[Lost]:
    """Some members, of different files if there are any."""
    by_file = {each.place.partition(":")[0]: each for each in reversed(members)}
    by_place = {each.place: each for each in (*reversed(by_file.values()), *members)}
    return [*by_place.values()][:EXAMPLES]


def sources(folder: Path) -> Path:
    """The package that the facts are of: the installed one, or the unpacked wheel."""
    installed = facts.installed_sources()
    if installed is not None:
        return installed
    release = f"transformers=={facts.TRANSFORMERS}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, release]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder / "transformers"
