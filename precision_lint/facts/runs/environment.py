"""The environment of a run: what its command line, the program's defaults and its files give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.sources import CodePlace, MappingSource, Occurrence, typed
from precision_lint.facts.runs.known import Known, Settings
from precision_lint.facts.runs.program import Program
from precision_lint.facts.settings.given import Kind
from precision_lint.model.memo import Memo
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import Option, assignments, options
from precision_lint.source.config.settings_tree import Mapping as Tree
from precision_lint.source.shell.words import UNKNOWN

_BOOLEANS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}

ReadConfig = Callable[[Path], ParsedConfig | None]
"""Gives the configuration at a path, with the files that it is composed of."""


@dataclass(frozen=True, eq=False)
class RunEnvironment(Memo):
    """One launch of a program, or the program started without a word.

    `file` is the script with the launch, or the file of the program.
    """

    program: Program
    file: ParsedConfig
    launch: Launch | None
    read: ReadConfig
    chosen: Mapping[str, str | int | bool] = field(default_factory=dict)
    """Options of which a value is supposed, as if the command line gave it."""

    def option(self, name: str) -> Known | None:
        """The value of an option by its name in the program; None if only run time knows it.

        What the program assigns to it later is not asked here.
        """
        declared = self.program.options.get(name, ())
        if name in self.chosen:
            return self._supposed(name)
        default = self._default(name)
        if option := self.given(name):
            return self._word(name, option, declared, default)
        if self._is_open or default is None:
            return None
        return default

    def given(self, name: str) -> Option | None:
        """The words of the command line that set an option, by its name in the program."""
        found = self.words.get(name)
        for given in self.program.options.get(name, ()):
            found = self.words.get(".".join(given.path), found)
        for flag, given in self.program.flags.items():
            if given.path[-1] == name and flag in self.words:
                found = self.words[flag]
        return found or self.words.get(f"no_{name}")

    @cached_property
    def words(self) -> Mapping[str, Option]:
        """The options of the command line, the last of each name."""
        words = self.launch.words if self.launch else ()
        return {option.name.replace("-", "_"): option for option in options(words)}

    @cached_property
    def overrides(self) -> Mapping[str, Occurrence]:
        """The words `trainer.precision=16` of the command line, as Hydra reads their values."""
        words = self.launch.words if self.launch else ()
        return {
            option.name: Occurrence(option.name, typed(option.value), option, self.file)
            for option in assignments(words)
        }

    def settings(self, path: str, near: Path, *, overrides: bool = False) -> Settings | None:
        """A file that the program opens by its path."""
        files = self.program.project.config_files
        directory = self.launch.directory if self.launch else None
        places = [(self.file.text.path, directory), (near, None)]
        found = next(filter(None, (files.find(path, *place) for place in places)), None)
        return self.settings_at(found, overrides=overrides) if found else None

    def settings_at(self, path: Path, *, overrides: bool = False) -> Settings | None:
        """The settings of a file of the project."""
        file = self.read(path)
        match file.documents if file is not None else ():
            case (Tree() as root, *_):
                assert file is not None
                return Settings(
                    MappingSource(file, root), overrides=self.overrides if overrides else {}
                )
        return None

    def _supposed(self, name: str) -> Known | None:
        """An option with the value that is supposed, which is written where it is declared."""
        for given in self.program.options.get(name, ()):
            file = self.program.project.config_files.at(given.origin.source.path)
            if file is not None:
                value = self.chosen[name]
                return Known(value, Occurrence(name, value, CodePlace(given.origin.span), file))
        return None

    def _word(
        self, name: str, option: Option, declared: object, default: Known | None
    ) -> Known | None:
        """An option as the program's parser reads it."""
        value: object = option.value
        flag = option.name.replace("-", "_")
        is_renamed = flag != name
        if value is None:
            return None
        if value is True:
            given = self.program.flags.get(flag) if is_renamed else None
            value = given.switches_to if given else not (is_renamed and flag == f"no_{name}")
        elif isinstance(value, str) and default is not None:
            if isinstance(default.value, bool):
                value = _BOOLEANS.get(value.lower())
            elif isinstance(default.value, int) and value.isdigit():
                value = int(value)
        elif isinstance(value, str) and value in ("True", "False"):
            value = value == "True"
        written = Occurrence(name, value, option, self.file)
        return Known(value, written, is_direct=not is_renamed) if value is not None else None

    def _default(self, name: str) -> Known | None:
        """What an option is without a word; None if its declarations do not agree."""
        declared = self.program.options.get(name, ())
        defaults = [given for given in declared if given.is_default]
        arguments = [given for given in defaults if given.kind is Kind.ARGUMENT]
        found = arguments or defaults
        if not found or any(given.value != found[0].value for given in found):
            return None
        owners = {(given.origin.source.path, given.owner) for given in declared}
        if len(owners) != 1:
            return None  # another parser or class may declare it without a default
        given = found[-1]
        file = self.program.project.config_files.at(given.origin.source.path)
        if file is None:
            return None
        written = Occurrence(name, given.value, CodePlace(given.origin.span), file)
        return Known(given.value, written)

    @cached_property
    def _is_open(self) -> bool:
        """True if words of the command line are unknown, which may be options."""
        words = self.launch.words if self.launch else ()
        taken = {id(word) for option in options(words) for word in option.words[1:]}
        return any(
            UNKNOWN in word.text.partition("=")[0]
            and id(word) not in taken
            and "/" not in word.text
            for word in words
        )
