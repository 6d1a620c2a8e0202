"""The commands of a script, and what is known of the place that each stands at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from itertools import takewhile
from typing import Literal, TypeAlias

from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.shell.branches import Branch, excluded
from precision_lint.source.shell.variables import Assigned, Word
from precision_lint.source.shell.words import Text

Language: TypeAlias = Literal["shell", "python"]

_SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh"})
PRINTING = frozenset({"echo", "printf", "alias"})
"""Commands whose words are printed, or kept, and not started."""
_HOLDING = {"sbatch": "--wrap", "gcloud": "--command"}
"""Options whose values are scripts: of `sbatch`, which writes one, and of `gcloud compute ssh`."""
_SESSIONS = frozenset({"tmux", "byobu"})
_IN_SESSION = frozenset({
    "new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane",
    "send-keys", "send",
})  # fmt: skip
_MOST_BEFORE = 4
"""Words up to `ssh`, such as `sshpass -p word`."""
_SHELL_VALUES = regex(r"[-+][a-zA-Z]*[oO]|--(?:rcfile|init-file)")
"""The options of a shell that take the next word."""
_SSH_VALUES = regex(r"-[A-Za-z0-9]*[BbcDEeFIiJLlmOopQRSWw]")
"""The options of `ssh` that take the next word, if nothing is written after the letter."""
_WRITING = frozenset({"cat", "tee"})
_PYTHON = regex(r"python[\d.]*")
_PYTHON_FLAG = regex(r"-[BbdEIiOPqRSsuv]+")
"""The options of Python that take no value, and after which it still reads its input."""


@frozen
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
        return excluded(self.branches, other.branches)


@frozen
class Heredoc:
    """A here-document: what `command` is given to write to `target`, or to run as a script: `runs`
    says in which language.

    In the body of one that is not `quoted` the shell replaces variables: `values` are those that
    are known. `tabs` says that tabs at the start of its lines are dropped (`<<-`).
    """

    command: Command
    body: Span
    quoted: bool
    tabs: bool
    target: Text | None = None
    runs: Language | None = None
    values: Mapping[str, Assigned] = field(default_factory=dict)
    appends: bool = False


def inner_script(words: tuple[Word, ...]) -> Word | None:
    """The script in `srun bash -c "..."`, `su -c "..."`, `ssh host "..."`, `tmux new "..."`, or in
    `sbatch --wrap="..."`.
    """
    if not words or words[0].text in PRINTING:
        return None
    names = [word.text.rpartition("/")[2] for word in words]
    if option := _HOLDING.get(names[0]):
        return _value(words, option)
    if (remote := _after_host(words, names)) is not None:
        return remote[0] if len(remote) == 1 else inner_script(remote)
    if names[0] in _SESSIONS:
        is_run = not _IN_SESSION.isdisjoint(names)
        return next((word for word in words if is_run and " " in word.text.strip()), None)
    if "su" in names[:2]:
        given = (names.index(option) for option in ("-c", "--command") if option in names[:-1])
        return next((words[index + 1] for index in given), None)
    return _after_shell(words, names)


def is_remote(words: tuple[Word, ...]) -> bool:
    """True if another machine runs the inner script: it has variables of its own."""
    names = [word.text for word in words]
    return names[:1] == ["gcloud"] or _after_host(words, names) is not None


def _after_shell(words: tuple[Word, ...], names: list[str]) -> Word | None:
    """The word after the option `-c` of a shell, which other options may precede."""
    shell = next((index for index, name in enumerate(names) if name in _SHELLS), len(words))
    index = shell + 1
    while index < len(words) - 1:
        option = words[index].text
        if option.endswith("c") and option[:1] == "-" and not option.startswith("--"):
            return words[index + 1]
        if option[:1] not in ("-", "+"):
            return None
        index += 2 if _SHELL_VALUES.fullmatch(option) else 1
    return None


def _after_host(words: tuple[Word, ...], names: list[str]) -> tuple[Word, ...] | None:
    """The words after the host of `ssh -p 22 host ...`; None for other commands."""
    if names[0] == "gcloud" or "ssh" not in names[:_MOST_BEFORE]:
        return None
    index = names.index("ssh") + 1
    while index < len(words) and words[index].text.startswith("-"):
        index += 2 if _SSH_VALUES.fullmatch(words[index].text) else 1
    return words[index + 1 :] if index < len(words) else None


def _value(words: tuple[Word, ...], option: str) -> Word | None:
    """The value of an option, as a script."""
    for index, word in enumerate(words):
        if word.text.startswith(option + "="):
            script = word.traced[len(option) + 1 :]
            return replace(word, traced=script, verbatim=False)
        if word.text == option and index + 1 < len(words):
            return words[index + 1]
    return None


def language_of_input(words: tuple[Word, ...]) -> Language | None:
    """The language of the script that a command takes from its input: `python - <<EOF`."""
    if runs_input(words):
        return "shell"
    return "python" if _runs_python(words) else None


def _runs_python(words: tuple[Word, ...]) -> bool:
    """True for `python -u <<EOF`, and for `python - arguments <<EOF`."""
    names = [word.text.rpartition("/")[2] for word in words]
    at = next((index for index, name in enumerate(names) if _PYTHON.fullmatch(name)), None)
    if at is None or names[0] in PRINTING:
        return False
    options = takewhile(lambda name: _PYTHON_FLAG.fullmatch(name), names[at + 1 :])
    rest = names[at + 1 + len([*options]) :]
    return not rest or rest[0] == "-"


def runs_input(words: tuple[Word, ...]) -> bool:
    """True if a command takes a script from its input: `bash <<EOF`, `ssh host <<EOF`."""
    names = [word.text.rpartition("/")[2] for word in words]
    if names[:1] == ["sbatch"]:
        return all(name.startswith("-") for name in names[1:])
    if (remote := _after_host(words, names)) is not None:
        return not remote or runs_input(remote)
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
