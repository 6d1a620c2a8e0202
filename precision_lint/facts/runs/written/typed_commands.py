"""Commands in texts that people copy: in comments, and in documents that do not say what they are.

`# torchrun -m package.train --config conf/a.yaml` in a script, or in the file itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch, launch
from precision_lint.facts.frameworks.own_commands import own_commands
from precision_lint.facts.project.facts import Recording
from precision_lint.model.regex import regex
from precision_lint.source.config.parse import parse_config
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText

_RUNNERS = (
    r"python[\d.]*", "torchrun", "deepspeed", r"accelerate[ \t]+launch", "srun", "uv", "poetry",
)  # fmt: skip
_MARK = r"[ \t]*(?:#+|//|\*)?[ \t]*"
"""Before a line of a comment."""
_LONGEST = 3_000
"""Characters of a command."""
_CONTINUED = regex(rf"\\\r?\n{_MARK}")


def typed_commands(text: str, name: str, near: Path, project: Recording) -> Iterator[Launch]:
    """The commands in a text that mention a name of a file."""
    for match in _pattern(project).finditer(text) if name in text else ():
        command = _CONTINUED.sub(" ", match[1][:_LONGEST])
        if name not in command:
            continue
        try:
            file = parse_config(SourceText(near, command + "\n"), "shell")
        except Unparsable:
            continue
        yield from filter(None, map(launch, file.commands))


def _pattern(project: Recording) -> re.Pattern[str]:
    def compute() -> re.Pattern[str]:
        starts = "|".join((*_RUNNERS, *map(re.escape, own_commands(project))))
        return re.compile(
            rf"^{_MARK}(?:[>$%][ \t]+)?((?:[A-Za-z_]\w*=\S*[ \t]+)*(?:{starts})[ \t]"
            rf"(?:[^\n\\]|\\\r?\n|\\)*)",
            re.MULTILINE,
        )

    return project.config_files.once(("pattern of commands",), compute)
