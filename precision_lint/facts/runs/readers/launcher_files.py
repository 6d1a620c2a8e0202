"""Which files commands give to a launcher: what stands after the program is the program's.

`accelerate launch train.py --config_file a.yaml` gives `a.yaml` to `train.py`.
"""

from __future__ import annotations

from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch, launch
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.readers.giving_commands import gifts
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.text.comments import without_comments


def may_get(path: Path, project: Recording) -> bool:
    """True if a launcher may get a file: a command names it, and not only for the program that
    `accelerate launch` starts. Another program may start the launcher.
    """
    if any(not _is_for_program(started, path) for _, started in gifts(path, project)):
        return True
    scripts = (one for one in project.config_files.referring(path) if one.script is not None)
    return any(_says_more(script, path) for script in scripts)


def _is_for_program(started: Launch, path: Path) -> bool:
    return started.by_accelerate and not any(path.name in word.text for word in started.launcher)


def _says_more(script: ParsedConfig, path: Path) -> bool:
    """True if a script names a file outside of the words of such programs."""
    started = filter(None, map(launch, script.commands))
    words = [word for one in started if one.by_accelerate for word in one.words]
    text = without_comments(script.text, "shell")
    return text.count(path.name) > sum(word.text.count(path.name) for word in words)
