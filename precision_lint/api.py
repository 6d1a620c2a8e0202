"""What programs call: a project as a mapping of names to contents, and what is wrong with it.

    from precision_lint.api import Settings, lint_project

    settings = Settings(target={"torch": "2.5"})
    found = lint_project({"train.py": b"...", "conf/run.yaml": b"..."}, settings)
    for record in found.records:
        print(record["filename"], record["location"]["row"], record["code"])

The result follows from the arguments alone: no file, no configuration and no cache of the machine
counts, and nothing is left behind. So projects can be checked anywhere, in any order: in a pool of
processes, or as a function of Ray, Spark or Dask.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import StringIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from precision_lint.engine.job import Job
from precision_lint.engine.run import run
from precision_lint.engine.settings import Settings
from precision_lint.engine.shard import Shard
from precision_lint.model.finding import Confidence, Severity
from precision_lint.model.frozen import frozen
from precision_lint.project.discovery import files as files_of
from precision_lint.project.files import Project
from precision_lint.report import write

__all__ = ["Confidence", "Findings", "Settings", "Severity", "Shard", "lint_project"]


@frozen(slots=False)
class Findings:
    """What was found in a project."""

    records: tuple[Mapping[str, Any], ...] = ()
    """The findings as `--output-format json` writes them; file names are those of the mapping."""
    notes: tuple[str, ...] = ()
    """What could not be checked, and why."""
    failures: tuple[str, ...] = ()
    """Defects of the linter itself, each with the file that it could not check."""


def lint_project(
    files: Mapping[str, bytes], settings: Settings | None = None, shard: Shard | None = None
) -> Findings:
    """The findings of a project of some files, by their names: paths from its root, with slashes.

    With a shard, only this share of the files is checked; facts still come from all of them.
    Settings that are not about findings, such as `fix` or `cache_dir`, do not count.

    Raises:
        ValueError: a name is no path below the root, or is also the folder of another file.
    """
    settings = settings or Settings()
    with TemporaryDirectory(prefix="precision-lint-") as made:
        root = Path(made).resolve()
        for name, content in files.items():
            _put(root, name, content)
        exclude = (*settings.exclude, *settings.extend_exclude)
        project = Project(
            root, exclude, settings.target, settings.target_gpu, settings.helper_module
        )
        paths = files_of([root], root, exclude, markdown=settings.markdown)
        shared = paths if shard is None else shard.of(paths)
        results = run(Job(project, settings, write=False), shared, reported=paths)
        said = StringIO()
        found = [finding for result in results for finding in result.findings]
        texts = {result.path: result.text for result in results if result.text is not None}
        write("json", found, texts, said, color=False, root=root)
    folder = f"{root.as_posix()}/"
    return Findings(
        tuple(json.loads(said.getvalue().replace(folder, ""))),
        tuple(note.replace(folder, "") for result in results for note in result.notes),
        tuple(result.failure.replace(folder, "") for result in results if result.failure),
    )


def _put(root: Path, name: str, content: bytes) -> None:
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts or "\0" in name:
        raise ValueError(f"`{name}` is no path below the root of a project")
    path = root.joinpath(*pure.parts)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise ValueError(f"`{name}` is both a file and a folder") from None
