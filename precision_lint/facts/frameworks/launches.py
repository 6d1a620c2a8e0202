"""Which program a command starts, and with which words.

`srun accelerate launch --config_file a.yaml train.py --bf16` has the launcher `accelerate launch`
with options of its own, the program `train.py`, and the program's words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from itertools import dropwhile
from pathlib import PurePosixPath

from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.shell.commands import Command
from precision_lint.source.shell.expansion import FOUND
from precision_lint.source.shell.variables import Assigned, Word
from precision_lint.source.shell.words import UNKNOWN

_RUNNERS = regex(r"(?:.*/)?(?:python[\d.]*|torchrun|deepspeed|srun|mpirun|composer|colossalai)")
_ACCELERATE = ("accelerate", "launch")
_LAUNCHING_MODULES = frozenset({
    "torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch",
    "torch.backends.xeon.run_cpu", "intel_extension_for_pytorch.cpu.launch",
    "paddle.distributed.launch",
})  # fmt: skip
_PROCESSES = regex(r"--(?:nproc|nproc[_-]per[_-]node|ngpus?|nnodes)(?:=.*)?")
"""Options of a program that starts others in several processes."""
_FLAGS = frozenset({"--use_env", "--use-env", "--standalone", "--no_python"})
_MODULE = ("-m", "--module")  # `deepspeed` and `torchrun` know the long name
_HANDLING = frozenset({
    "echo", "printf", "eval", "alias", "export", "local", "declare", "readonly", "read", "test",
    "[", "[[", "cat", "ls", "cp", "mv", "rm", "ln", "chmod", "touch", "head", "tail", "less",
    "more", "grep", "sed", "awk", "wc", "diff", "cmp", "find", "stat", "which", "git", "tar", "zip",
    "unzip", "scp", "rsync", "wget", "curl", "vim", "vi", "nano", "code", "pip", "pip3", "black",
    "ruff", "isort", "flake8", "mypy", "pylint",
})  # fmt: skip
"""Commands that print words or do something with files: a program among them is not started. What
`eval` executes are commands by themselves.
"""
_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
_MANAGING = frozenset({"container", "compose"})
_FLAG = regex(
    r"-[ditPq]+|--(?:rm|detach|interactive|tty|init|privileged|publish-all|read-only|quiet"
    r"|no-healthcheck|oom-kill-disable|use-api-socket)"
)
"""The options of `docker run` that take no value."""
_ENTERING_FLAG = regex(
    r"-[ceC]+|--(?:nv|rocm|cleanenv|contain|containall|writable|writable-tmpfs|no-home|fakeroot)"
)
"""Those of `apptainer exec`."""
_ENTERED = _CONTAINERS | {"singularity", "apptainer"}
"""Programs whose `exec` runs a command in a container that has a name or is a file."""
_PREFIXES = frozenset({"exec", "nohup", "time", "command", "setsid", "sudo", "env", "timeout"})
"""Commands that start another one, whose name is the first word that is no option of theirs."""
_MANAGERS = frozenset({
    "uv", "poetry", "pdm", "pixi", "hatch", "rye", "pipenv", "conda", "mamba", "micromamba",
})  # fmt: skip
"""Programs whose `run` starts a command in an environment that they manage."""
_OF_MANAGER = regex(
    r"--(?:extra|group|no-group|only-group|no-extra|with|with-editable|with-requirements|python"
    r"|env-file|project|directory|package|index|index-url|name|prefix|cwd|environment|feature"
    r"|manifest-path|executable|refresh-package|upgrade-package|python-platform)|-[npeCPw]"
)
"""The options of these that take a value."""
_TAKES_CODE = regex(
    r"--(?:[\w-]+[-_])?(?:plugins?|callbacks?|configs?|config[-_]file|hooks?|func(?:tion)?s?|rewards?"
    r"|custom[-_](?:code|file|register[-_]path)|(?:func(?:tion)?|reward|plugin|hook|code)[-_](?:path|file))"
)
"""Options that give a tool a file of Python which is not the program."""
_OF_PREFIX = regex(r"-.*|[A-Za-z_]\w*=.*|\d+(?:\.\d+)?[smhd]?", re.DOTALL)
_TOOL = regex(r"(?:.*/)?[a-z][\w.-]*")


@frozen
class Launch:
    """A command taken apart. `program` is a path, a module, or a tool with its subcommand."""

    span: Span
    program: str
    words: tuple[Word, ...]
    launcher: tuple[Word, ...] = ()
    """The words of `accelerate launch` that are its own."""
    environment: Mapping[str, Assigned] = field(default_factory=dict)
    """What is known of the variables that the program gets."""
    directory: str | None = None
    """Where a `cd` before it went to, seen from where the script is started; None if unknown."""
    by_accelerate: bool = False
    """It is started by `accelerate launch`: the words after the program are the program's."""

    @property
    def name(self) -> str:
        """The program without its folder."""
        return PurePosixPath(self.program).name if "/" in self.program else self.program


def handles_words(command: Command) -> bool:
    """True for a command that does something with its words, or with files, and starts nothing."""
    return not command.words or command.words[0].text in _HANDLING


def launch(command: Command) -> Launch | None:
    """What a command starts; None if it starts no program with options."""
    if handles_words(command):
        return None
    started = _started(command.words)
    if started is None:
        return None
    directory = command.directory
    if directory is not None and UNKNOWN in directory:
        directory = None
    return replace(started, environment=command.environment, directory=directory)


def _started(words: tuple[Word, ...]) -> Launch | None:
    """What words start; a wrapper that starts another program is passed over."""
    if words[0].text in _PREFIXES:
        rest = tuple(dropwhile(lambda word: _OF_PREFIX.fullmatch(word.text), words[1:]))
        started = _started(rest) if rest else None
        if started is not None:
            return replace(started, span=Span(words[0].span.start, words[-1].span.end))
    if inner := _managed(words) or _wrapped(words):
        started = _started(inner)
        if started is not None:
            return replace(started, span=Span(words[0].span.start, words[-1].span.end))
    if words[0].text in _ENTERED and (started := _in_container(words)):
        return started
    span = Span(words[0].span.start, words[-1].span.end)
    own: tuple[Word, ...] = ()
    by_accelerate = False
    for index, word in enumerate(words):
        text = word.text
        following = words[index + 1].text if index + 1 < len(words) else ""
        if (text.rpartition("/")[2], following) == _ACCELERATE or (
            text in _MODULE and following == "accelerate.commands.launch"
        ):
            own, by_accelerate = words[index + 2 :], True
        if _is_given(words, index):
            continue
        if index and text.startswith(FOUND) and (tool := _tool(words[index:])) is not None:
            before = own[: _length(own, words, index)]
            return replace(tool, span=span, launcher=before, by_accelerate=by_accelerate)
        if text.endswith(".py") and not _starts_another(words, index + 1):
            before = own[: _length(own, words, index)]
            return Launch(span, text, words[index + 1 :], before, by_accelerate=by_accelerate)
        if text in _MODULE and following and not _starts_more(words, index + 1):
            before = own[: _length(own, words, index)]
            return Launch(span, following, words[index + 2 :], before, by_accelerate=by_accelerate)
    return _tool(words)


def _tool(words: tuple[Word, ...]) -> Launch | None:
    """A tool that is no file of Python, with its subcommand."""
    span = Span(words[0].span.start, words[-1].span.end)
    first = words[0].text
    if _RUNNERS.fullmatch(first) or not _TOOL.fullmatch(first):
        return None
    subcommand = [word.text for word in words[1:2] if re.fullmatch(r"[a-z][\w-]*", word.text)]
    program = " ".join([first.rpartition("/")[2], *subcommand])
    return Launch(span, program, words[1 + len(subcommand) :])


def _is_given(words: tuple[Word, ...], at: int) -> bool:
    """True for a file of Python that an option gives to a tool: `--external_plugins a.py b.py`."""
    while at > 0 and words[at].text.endswith(".py"):
        at -= 1
    return _TAKES_CODE.fullmatch(words[at].text) is not None


def _starts_more(words: tuple[Word, ...], at: int) -> bool:
    """True for a module that starts another program, as `torch.distributed.run` does."""
    return words[at].text in _LAUNCHING_MODULES or _starts_another(words, at + 1)


def _starts_another(words: tuple[Word, ...], start: int) -> bool:
    """True for what is started as `multiproc.py --nproc_per_node 8 train.py`, up to the options."""
    scripts = (at for at in range(start, len(words)) if words[at].text.endswith(".py"))
    at = next(scripts, start)
    before = [word.text for word in words[start:at]]
    is_value = bool(before) and before[-1].startswith("--") and before[-1] not in _FLAGS
    return not is_value and any(map(_PROCESSES.fullmatch, before))


def _wrapped(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The command after `--` in `python mason.py --cluster a -- accelerate launch train.py`, and
    in `ray job submit --address a -- python train.py`.
    """
    at = next((index for index, word in enumerate(words) if word.text == "--"), len(words))
    inner = words[at + 1 :]
    is_program = any(word.text.endswith(".py") for word in words[:at]) or any(
        _RUNNERS.fullmatch(word.text) for word in inner[:1]
    )
    is_launch = any(word.text.endswith(".py") or word.text == "-m" for word in inner)
    return inner if is_program and is_launch else ()


def _managed(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The command after `uv run --extra cuda`, `conda run -n env`."""
    if words[0].text.rpartition("/")[2] not in _MANAGERS or not words[1:]:
        return ()
    if words[1].text != "run":
        return ()
    at = 2
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text in ("--", *_MODULE):  # `uv run -m package.module`
            return words[at + (words[at].text == "--") :]
        at += 1 + (_OF_MANAGER.fullmatch(words[at].text) is not None)
    return words[at:]


def _in_container(words: tuple[Word, ...]) -> Launch | None:
    """`docker run --gpus all IMAGE --model m`: the command in the image, or its own entry point.
    `docker exec -it NAME swift sft`, `apptainer exec --nv a.sif swift sft`: the command.
    """
    rest = words[1:]
    while rest and rest[0].text in _MANAGING:
        rest = rest[1:]
    is_entered = bool(rest) and rest[0].text == "exec"
    is_run = bool(rest) and rest[0].text == "run" and words[0].text in _CONTAINERS
    if len(rest) < 2 or not (is_run or is_entered):
        return None
    at = 1
    while at < len(rest) and rest[at].text.startswith("-"):
        option = rest[at].text
        flag = _ENTERING_FLAG if is_entered and words[0].text not in _CONTAINERS else _FLAG
        takes_value = "=" not in option and not flag.fullmatch(option)
        at += 1 + takes_value
    if at >= len(rest):
        return None
    image, inner = rest[at].text, rest[at + 1 :]
    if inner and not inner[0].text.startswith("-"):
        started = _started(inner)
        if started is not None:
            return replace(started, span=Span(words[0].span.start, words[-1].span.end))
    if is_entered:
        return None
    program = image.partition("@")[0]
    folder, slash, name = program.rpartition("/")
    program = f"{folder}{slash}{name.partition(':')[0]}"
    return Launch(Span(words[0].span.start, words[-1].span.end), program, inner)


def _length(own: tuple[Word, ...], words: tuple[Word, ...], index: int) -> int:
    """How many of the words after `accelerate launch` are before the program."""
    return max(0, index - (len(words) - len(own)))
