"""Records of finished runs: files of results, which also say in which precision they were made."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path, PurePosixPath

from precision_lint.facts.project.facts import Recording
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Scalar, mappings

_MOST_MAPPINGS = 500
_LEAST = 2
"""Measured numbers that make a record."""
_DIGITS = 6
"""Digits of a number that was measured: people write shorter ones."""
_OUTCOME = regex(
    r"(?:^|_)(?:accuracy|acc|f1|perplexity|ppl|bleu|elapsed|duration|throughput|latency|runtime"
    r"|tflops|mfu|peak_memory)(?:_|$)|(?:^|_)loss$|_seconds$|_per_sec(?:ond)?s?$",
    re.IGNORECASE,
)
_CHOSEN = regex(
    r"max|min|limit|timeout|threshold|target|warmup|interval|every|budget|weight|coef|alpha|lambda"
    r"|scale|patience|tolerance",
    re.IGNORECASE,
)
"""Names of numbers that somebody chooses: `max_latency_seconds`."""
_ENVIRONMENT = regex(
    r"^(?:git_(?:commit|sha|branch)\w*|hostname|(?:cuda|cudnn|driver|nvidia_driver|torch|pytorch"
    r"|python|transformers)_version|(?:gpu|device)_name|generated_at|finished_at|started_at"
    r"|timestamp)$",
    re.IGNORECASE,
)
"""What a run notes of where and when it took place."""
_LEAST_SIGNS = 3
_WRITING = regex(r"\bjson\.dumps?\(")


_OUTPUT = regex(r"(?:^|_)(?:out|output|save|log|logging|run|result|results|exp)_(?:dir|path)$")
"""Names of the folder that a run writes to."""
_IN_OUTPUT = "it is in the folder that it names for its output"
_NOT_SEEN = "no program is seen to read it"
_LEAST_PARTS = 2
_OF_TOOLS = regex(
    r"(?:^|/)(?:(?P<Hydra>\.hydra/(?:config|hydra|overrides))|(?P<Lightning>version_\w+/hparams)"
    r"|(?P<wandb>wandb/(?:run-|offline-run-|latest-run)[^/]*/files/[\w-]+))\.(?:ya?ml|json)$"
)
"""What Hydra, the loggers of Lightning and wandb write of each run."""


def is_written_by_tool(path: Path) -> bool:
    """True for a file that a tool writes of each run, by the name that the tool gives it."""
    return _OF_TOOLS.search(path.as_posix()) is not None


def kept_of_run(file: ParsedConfig, project: Recording) -> str:
    """Who wrote a file that says with which settings a run was started; empty for other files, and
    for those with the outcomes of a run.
    """
    path = file.text.path
    match = _OF_TOOLS.search(path.as_posix())
    if match is None and not _lies_in_its_output(file, project):
        return ""
    is_named = bool(project.config_files.named_in_python(path))
    why = f"{match.lastgroup} wrote it for a run" if match is not None else _IN_OUTPUT
    return why if is_named else f"{why}; {_NOT_SEEN}"


def is_record(file: ParsedConfig, project: Recording) -> bool:
    """True for a file in the folder which it names for what the run writes, for what tools write of
    each run, for a JSON file with the outcomes of a run, or with measured numbers that no file of
    the project names, but for the program that writes it.
    """
    if _lies_in_its_output(file, project) or is_written_by_tool(file.text.path):
        return True
    if file.format != "json":
        return False
    signs = _signs(file)
    if signs >= _LEAST_SIGNS:
        return True
    if not _has_measurements(file):
        return False
    path = file.text.path
    naming = {one.text.path for one in project.config_files.referring(path)}
    naming |= {*project.config_files.named_in_python(path)}
    if signs:
        naming = {one for one in naming if not _writes(one, project)}
    return not naming


def _writes(path: Path, project: Recording) -> bool:
    """True for a program that writes JSON: the outcomes that it names are its own."""
    return path.suffix == ".py" and _WRITING.search(project.config_files.text(path)) is not None


def _lies_in_its_output(file: ParsedConfig, project: Recording) -> bool:
    """True for `output_dir: outputs/run1/train` in `outputs/run1/train/config.yaml`."""
    here = file.text.path.parent
    inside = here.relative_to(project.root).parts if here.is_relative_to(project.root) else ()
    if len(inside) < _LEAST_PARTS:
        return False
    for mapping in islice(mappings(file.documents), _MOST_MAPPINGS):
        for entry in mapping.entries:
            match entry.value:
                case Scalar(value=str(path)) if entry.name and _OUTPUT.search(entry.name.lower()):
                    named = tuple(part for part in PurePosixPath(path).parts if part != ".")
                    if len(named) >= _LEAST_PARTS and here.parts[-len(named) :] == named:
                        return True
    return False


def _signs(file: ParsedConfig) -> int:
    """How many different entries say what came out of a run, or where and when it took place."""
    names = {
        entry.name
        for mapping in islice(mappings(file.documents), _MOST_MAPPINGS)
        for entry in mapping.entries
        if entry.name and isinstance(entry.value, Scalar) and _is_sign(entry.name, entry.value)
    }
    return len(names)


def _is_sign(name: str, scalar: Scalar) -> bool:
    value = scalar.value
    if isinstance(value, str):
        return bool(value) and _ENVIRONMENT.search(name) is not None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and bool(_OUTCOME.search(name)) and not _CHOSEN.search(name)


def _has_measurements(file: ParsedConfig) -> bool:
    """Lists are not looked at: the means of an image processor have as many digits."""
    numbers = (
        entry.value.value
        for mapping in islice(mappings(file.documents), _MOST_MAPPINGS)
        for entry in mapping.entries
        if isinstance(entry.value, Scalar)
    )
    measured = {one for one in numbers if isinstance(one, float) and _digits(one) >= _DIGITS}
    return len(measured) >= _LEAST


def _digits(number: float) -> int:
    """The significant digits of a number."""
    return len(repr(number).partition("e")[0].replace(".", "").strip("-0"))
