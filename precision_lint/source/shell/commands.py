"""The commands of a script, and what is known of the place that each stands at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from precision_lint.model.finding import Span
from precision_lint.source.shell.variables import Assigned, Word
from precision_lint.source.shell.words import Text

Construct: TypeAlias = Literal["if", "case", "loop", "function", "list"]

_SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh"})
_PRINTING = frozenset({"echo", "printf", "alias"})
_WRAP = "--wrap"
_WRITING = frozenset({"cat", "tee"})


@dataclass(frozen=True, slots=True)
class Branch:
    """One way through a construct of the script; `list` is what `&&` and `||` connect."""

    construct: Construct
    number: int  # tells the constructs of a script apart
    arm: int


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command.

    `branches` are the ways that lead to it, outer ones first. `environment` is what it is known to
    get. `directory` is where a `cd` before it went to, seen from where the script is started: None
    if nowhere, with `UNKNOWN` in it if that is not decided here.
    """

    words: tuple[Word, ...]
    branches: tuple[Branch, ...]
    environment: Mapping[str, Assigned]
    directory: str | None = None

    @property
    def is_conditional(self) -> bool:
        """True if a run of the script may pass it by."""
        return bool(self.branches)

    def excludes(self, other: Command) -> bool:
        """True if no run of the script executes both: they stand in two arms of one construct."""
        arms = {(branch.construct, branch.number): branch.arm for branch in other.branches}
        return any(
            arms.get((branch.construct, branch.number), branch.arm) != branch.arm
            for branch in self.branches
            if branch.construct not in ("loop", "function")
        )


@dataclass(frozen=True, slots=True)
class Heredoc:
    """A here-document: what `command` is given to write to `target`, or to run as a script.

    In the body of one that is not `quoted` the shell replaces variables: `values` are those that
    are known. `tabs` says that tabs at the start of its lines are dropped (`<<-`).
    """

    command: Command
    body: Span
    quoted: bool
    tabs: bool
    target: Text | None = None
    is_run: bool = False
    values: Mapping[str, Assigned] = field(default_factory=dict)


def inner_script(words: tuple[Word, ...]) -> Word | None:
    """The script in `srun bash -c "..."`, the word after a shell's option `-c`, or in
    `sbatch --wrap="..."`.
    """
    if not words or words[0].text in _PRINTING:
        return None
    names = [word.text.rpartition("/")[2] for word in words]
    if names[0] == "sbatch":
        return _wrapped(words)
    shell = next((index for index, name in enumerate(names) if name in _SHELLS), len(words))
    for index in range(shell + 1, len(words) - 1):
        option = words[index].text
        if not option.startswith("-"):
            return None
        if option.endswith("c") and not option.startswith("--"):
            return words[index + 1]
    return None


def _wrapped(words: tuple[Word, ...]) -> Word | None:
    """The script that `sbatch` writes around the value of its option `--wrap`."""
    for index, word in enumerate(words):
        if word.text.startswith(_WRAP + "="):
            script = word.traced[len(_WRAP) + 1 :]
            return replace(word, traced=script, verbatim=False)
        if word.text == _WRAP and index + 1 < len(words):
            return words[index + 1]
    return None


def runs_input(words: tuple[Word, ...]) -> bool:
    """True if a command takes a script from its input: `bash <<EOF`, `sbatch <<EOF`."""
    names = [word.text.rpartition("/")[2] for word in words]
    if names[:1] == ["sbatch"]:
        return all(name.startswith("-") for name in names[1:])
    shell = next((index for index, name in enumerate(names) if name in _SHELLS), len(names))
    return shell < len(names) and all(name.startswith("-") for name in names[shell + 1 :])


def writes_input(words: tuple[Word, ...]) -> bool:
    """True if a command writes its input as it is: `cat`, `tee`, `sudo tee`."""
    names = [word.text for word in words[:2]]
    return bool(_WRITING.intersection(names[:1] if names[:1] != ["sudo"] else names[1:]))


def written_file(words: tuple[Word, ...]) -> Text | None:
    """The file that `tee` writes to."""
    names = [word.text for word in words]
    if "tee" not in names[:2]:
        return None
    files = (word.traced for word in words[names.index("tee") + 1 :] if word.text[:1] != "-")
    return next(files, None)
