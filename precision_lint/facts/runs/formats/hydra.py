"""Which file Hydra composes for a launch whose words only replace settings of it."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.project.hydra_mains import HydraMain, hydra_mains
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.known import Known
from precision_lint.project import disk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import syntax_tree
from precision_lint.source.shell.words import UNKNOWN

_SHORT = {"-cn": "config_name", "-cp": "config_path", "-cd": "config_dir"}


COMPOSING = "hydra.compose"
MAKING = "hydra.utils.instantiate"
TARGET = "_target_"
_INITIALIZING = {"initialize": "config_path", "initialize_config_dir": "config_dir"}


def composed(
    call: ast.Call, file: ParsedPython, value: Callable[[ast.expr], Known | None]
) -> Path | None:
    """The file that `compose(config_name="a")` starts from, in the folder of the last `initialize`
    before it; None if words of the call change it.
    """
    given = {each.arg: each.value for each in call.keywords}
    name = next(iter(call.args), given.get("config_name"))
    overrides = given.get("overrides")
    if name is None or len(call.args) > 1 or not isinstance(overrides, ast.List | None):
        return None
    calls = syntax_tree(file).calls
    before = [
        (each.lineno, each, option)
        for function, option in _INITIALIZING.items()
        for each in calls(function)
        if each.lineno <= call.lineno
    ]
    if not before or (overrides is not None and overrides.elts):
        return None
    _, initialized, option = max(before, key=lambda row: row[0])
    folder = next(
        (each.value for each in initialized.keywords if each.arg == option),
        next(iter(initialized.args), None),
    )
    texts = [known.value if (known := value(one)) else None for one in (folder, name) if one]
    match texts:
        case [str(beside), str(stem)]:
            parent = file.text.path.parent / beside
            return Path(os.path.normpath(parent / f"{stem.removesuffix('.yaml')}.yaml"))
    return None


def starts_hydra(launch: Launch, program: str) -> bool:
    """False if neither the words of a launch nor the text of its program name a configuration."""
    return "config_name" in program or any(
        word.text.startswith("--config-name") or word.text in _SHORT for word in launch.words
    )


def configuration(run: RunEnvironment) -> Path | None:
    """The file that Hydra starts from; None if there is none, or a word chooses another file."""
    said = dict(_said(run))
    declared = _declared(run)
    name = said.get("config_name") or (declared.name if declared is not None else "")
    if not name:
        return None
    file = f"{name.removesuffix('.yaml')}.yaml"
    found = next(
        (path for path in _candidates(run, said, declared, file) if disk.is_file(path)), None
    )
    if found is None or run.program.project.root not in found.parents:
        return None
    if run.opened is not None and run.opened.parent == found.parent:
        return run.opened  # `--config-name` chooses it
    chooses = any(disk.is_folder(found.parent / override) for override in run.overrides)
    return None if chooses else found


def config_name(run: RunEnvironment) -> str:
    """The name of the configuration that Hydra starts from; empty if only run time knows it."""
    declared = _declared(run)
    return dict(_said(run)).get("config_name") or (declared.name if declared else None) or ""


def _candidates(
    run: RunEnvironment, said: dict[str, str], declared: HydraMain | None, file: str
) -> Iterator[Path]:
    beside = run.program.path.parent
    if folder := said.get("config_path") or said.get("config_dir"):
        yield Path(os.path.normpath(beside / folder / file))
        directory = run.launch.directory if run.launch else None
        files = run.program.project.config_files
        found = files.find(os.path.join(folder, file), run.file.text.path, directory)
        if found is not None:
            yield found
    elif declared is not None and declared.folder is not None:
        yield declared.folder / file


def _said(run: RunEnvironment) -> Iterator[tuple[str, str]]:
    """What the command line says of the file; what comes before an unknown part is left out."""
    for name in ("config_name", "config_path", "config_dir"):
        if option := run.words.get(name):
            yield name, _end(option.text)
    words = run.launch.words if run.launch else ()
    for index, word in enumerate(words[:-1]):
        if name := _SHORT.get(word.text, ""):
            yield name, _end(words[index + 1].text)


def _end(text: str) -> str:
    """`conf` of `$PWD/conf`."""
    return text.rpartition(UNKNOWN)[2].lstrip("/") if UNKNOWN in text else text


def _declared(run: RunEnvironment) -> HydraMain | None:
    """What the program says by `@hydra.main(config_path="conf", config_name="config")`."""
    program = run.program
    first = program.files[0].text.path if program.files else None
    return next(iter(hydra_mains(first, program.project)), None) if first is not None else None
