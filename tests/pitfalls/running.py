"""Runs the program of a case, and says what happened."""

from __future__ import annotations

import contextlib
import os
import runpy
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from tests.pitfalls.cases import Case


@dataclass(frozen=True)
class Ran:
    """What a program did."""

    variables: SimpleNamespace = field(default_factory=SimpleNamespace)
    error: str = ""
    warnings: tuple[str, ...] = ()


def run(case: Case, files: dict[str, str], folder: Path) -> Ran:
    """Run a program of a case in a folder that gets its files."""
    write(files, folder)
    program = folder / next((name for name in files if name.endswith(".py")), "run.py")
    if case.run:
        program = folder / "run_case.py"
        program.write_text(case.run, "utf-8")
    if case.is_alone:
        return _alone(program)
    with _unchanged(folder), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            variables = runpy.run_path(str(program), run_name="__main__")
            error = ""
        except Exception as raised:
            variables, error = {}, f"{type(raised).__name__}: {raised}"
    said = tuple(f"{each.category.__name__}: {each.message}" for each in caught)
    return Ran(SimpleNamespace(**variables), error, said)


def write(files: dict[str, str], folder: Path) -> None:
    """Write the files of a project."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _alone(program: Path) -> Ran:
    done = subprocess.run(
        [sys.executable, program.name], cwd=program.parent, capture_output=True, text=True
    )
    said = done.stderr.strip()
    return Ran(
        SimpleNamespace(printed=done.stdout.split()), said if done.returncode else "", (said,)
    )


@contextlib.contextmanager
def _unchanged(folder: Path) -> Iterator[None]:
    """Run in a folder, and undo what programs change of the process."""
    import torch

    # Another test may have imported a module of the same name.
    hidden = {
        name: sys.modules.pop(name)
        for name in (each.stem for each in folder.glob("*.py"))
        if name in sys.modules
    }
    before, path, modules = Path.cwd(), [*sys.path], {*sys.modules}
    environment = dict(os.environ)
    dtype = torch.get_default_dtype()
    torch.manual_seed(0)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path
        torch.set_default_dtype(dtype)
        for name in {*sys.modules} - modules:
            origin = getattr(sys.modules[name], "__file__", None) or ""
            if Path(origin).is_relative_to(folder):
                del sys.modules[name]
        sys.modules.update(hidden)
        os.environ.clear()
        os.environ.update(environment)
