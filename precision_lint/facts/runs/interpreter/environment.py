"""The environment of a run: what its command line, the program's defaults and its files give."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.sources import (
    DEFAULT,
    CodePlace,
    MappingSource,
    Occurrence,
    typed,
)
from precision_lint.facts.runs.interpreter.added_words import added_options
from precision_lint.facts.runs.interpreter.here_documents import WrittenFile, written_file
from precision_lint.facts.runs.interpreter.known import CommandLine, Given, Items, Known, Settings
from precision_lint.facts.runs.interpreter.named_objects import named_object, objects_with
from precision_lint.facts.runs.interpreter.program import Program, keyword_of
from precision_lint.facts.runs.interpreter.subcommands import is_subcommand, subcommand
from precision_lint.facts.settings.given import Declaration, Kind, normal
from precision_lint.facts.settings.vocabulary import is_precise, names_precision
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import Memo, cached_property
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import Option, assignments, options
from precision_lint.source.config.settings_tree import Mapping as Tree
from precision_lint.source.config.settings_tree import mappings
from precision_lint.source.shell.variables import Word
from precision_lint.source.shell.words import UNKNOWN, Text

_BOOLEANS = {
    "true": True, "yes": True, "on": True, "1": True,
    "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip

_TEXTS = ("", "str", "bool")
"""The types of options that leave the name of a dtype as it is, or make a truth value of it."""

_FORMATS = {"yaml": (".yaml", ".yml"), "json": (".json",), "toml": (".toml",)}
"""The files that a loader reads, by what its name contains."""

ReadConfig = Callable[[Path], ParsedConfig | None]
"""Gives the configuration at a path, with the files that it is composed of."""


@frozen(eq=False, slots=False)
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
    opened: Path | None = None
    """The file that the program opens where an option chooses it, if no launch says which."""
    beside: Mapping[str, Option | None] = field(default_factory=dict)
    """The options that commands give to the program together with that file; None for one whose
    value is not the same in all of them.
    """

    @property
    def span(self) -> Span | None:
        """The launch, or the whole file that the program opens; None for a program alone."""
        if self.launch is not None:
            return self.launch.span
        return self.file.documents[0].span if self.opened is not None else None

    def option(self, name: str) -> Known | None:
        """The value of an option by its name in the program; None if only run time knows it.

        What the program assigns to it later is not asked here.
        """
        if name in self.chosen:
            return self._supposed(name)
        if is_subcommand(name, self.program):
            return self._subcommand(name)
        if self.opened is not None and name in self.program.opened:
            # Some file, whatever the default: where there is one such option, the one that is open.
            is_one = len(self.program.opened & self.program.options.keys()) == 1
            return Known(str(self.opened)) if is_one else None
        if self.opened is not None and name not in self.program.options:
            settings = self.settings_at(self.opened)  # no parser has it: it is the file's
            return settings.get(name) if settings is not None else None
        default = self.default(name)
        if option := self.given(name):
            return self._word(name, option, default)
        if self._may_be_given(name) or default is None or name in self.keys_opened:
            return None
        for each in (*self._names_of(name), *_negated(name)):
            if each in self.beside:
                return self._beside(name, self.beside[each], default)
        return default

    @cached_property
    def keys_opened(self) -> frozenset[str]:
        """The keys of the file that the program opens: each may give the option of its name."""
        documents = self.file.documents if self.opened is not None else ()
        return frozenset(normal(name) for each in mappings(documents) for name in each.names)

    def is_silent(self, name: str) -> bool:
        """True if nothing of the run gives an option: it is what the program says."""
        if self.opened is not None or name in self.chosen:
            return False
        return self.fact(
            ("silent", name),
            lambda: (
                self.given(name) is None
                and not self._below(name)
                and not is_subcommand(name, self.program)
                and not self._is_of_object(name)
            ),
        )

    def _below(self, name: str) -> bool:
        return any(word.startswith(f"{name}.") for word in self.words)

    def declares(self, name: str) -> bool:
        """True if an option has the name, or may have it."""
        is_declared = name in self.program.options or is_subcommand(name, self.program)
        return is_declared or self.command_line.has(name)

    def given(self, name: str) -> Option | None:
        """The words of the command line that set an option, by its name in the program."""
        found = None
        for each in self._names_of(name):
            found = self.words.get(each, found)
        return found or next(filter(None, map(self.words.get, _negated(name))), None)

    def _names_of(self, name: str) -> Iterator[str]:
        """How words may set an option, which counts above what is before it."""
        yield name
        for given in self.program.options.get(name, ()):
            yield ".".join(given.path)
        yield from self.program.flags_of.get(name, ())

    @cached_property
    def words(self) -> Mapping[str, Option]:
        """The options of the command line, the last of each name."""
        return {option.name.replace("-", "_"): option for option in self._options}

    @cached_property
    def _options(self) -> tuple[Option, ...]:
        return tuple(options(self.launch.words)) if self.launch else ()

    @cached_property
    def overrides(self) -> Mapping[str, Occurrence]:
        """The words `trainer.precision=16` of the command line, as Hydra reads their values."""
        words = self.launch.words if self.launch else ()
        return {
            option.name: Occurrence(option.name, typed(option.value), option, self.file)
            for option in assignments(words)
        }

    @property
    def command_line(self) -> CommandLine:
        """The options of the command line, whatever declares them."""
        return CommandLine(_OptionWords(self))

    @property
    def assignments(self) -> CommandLine:
        """The words `a.b=value` of the command line."""
        return CommandLine(_AssignmentWords(self))

    @cached_property
    def variables(self) -> Given:
        """The environment variables that the command line is given, in lower case: pydantic does
        not distinguish upper from lower case.
        """
        environment = self.launch.environment if self.launch else {}
        return Given({name.lower(): self.variable(name) for name in environment})

    def variable(self, name: str) -> Known | None:
        """An environment variable that the script sets."""
        assigned = self.launch.environment.get(name) if self.launch else None
        if assigned is None or UNKNOWN in assigned.text.chars:
            return None
        text = assigned.text.chars
        return Known(text, Occurrence(name, text, assigned, self.file))

    def items(self, name: str) -> Items | None:
        """The words that an option takes, for one that is declared to take several."""
        option = self.given(name)
        if option is None or self.launch is None or not self._takes_several(name):
            return None
        words = self.launch.words
        first = next((index for index, word in enumerate(words) if word is option.words[0]), None)
        if first is None:
            return None
        found = []
        for word in words[first + 1 :]:
            if word.text.startswith("-"):
                break
            if UNKNOWN in word.text:
                return None
            given = Option(option.name, word.text, (option.words[0], word))
            found.append(Known(word.text, Occurrence(name, word.text, given, self.file)))
        return Items(tuple(found))

    def _takes_several(self, name: str) -> bool:
        """`parser.add_argument("--configs", nargs="+")`."""
        for _, call in self.program.calls("add_argument"):
            names = [each.value for each in call.args if isinstance(each, ast.Constant)]
            if any(str(each).lstrip("-").replace("-", "_") == name for each in names):
                return any(
                    each.arg == "nargs"
                    and isinstance(each.value, ast.Constant)
                    and each.value.value in ("+", "*")
                    for each in call.keywords
                )
        return False

    def positional(self, index: int) -> Known | None:
        """A word of the command line by its place, if nothing before it is unknown or an option."""
        words = self.launch.words if self.launch else ()
        if not 0 < index <= len(words) or self.launch is None:
            return None
        before = words[: index - 1]
        if any(UNKNOWN in word.text and not word.verbatim for word in before):
            return None
        word = words[index - 1]
        if UNKNOWN in word.text or word.text.startswith("-"):
            return None
        option = Option(f"argv[{index}]", word.text, (word,))
        return Known(word.text, Occurrence(option.name, word.text, option, self.file))

    def settings(
        self, path: str | WrittenFile, near: Path, *, overrides: bool = False
    ) -> Settings | None:
        """A file that the program opens by its path."""
        written = self.written(Text(path)) if isinstance(path, str) else path
        if written is not None:
            return self._settings_in(written.file, overrides)
        assert isinstance(path, str)
        files = self.program.project.config_files
        directory = self.launch.directory if self.launch else None
        places = [(self.file.text.path, directory), (near, None)]
        found = next(filter(None, (files.find(path, *place) for place in places)), None)
        return self.settings_at(found, overrides=overrides) if found else None

    def loaded(self, path: Known | None, loader: str, near: Path) -> Known | None:
        """The settings of a file that a function loads. Where no launch says which, it is the one
        that is looked at.
        """
        settings: Settings | None = None
        if path is not None and isinstance(path.value, str | WrittenFile):
            settings = self.settings(path.value, near)
        if self.opened is not None and (settings is None or (path and path.written is not None)):
            kind = next((one for one in _FORMATS if one in loader.lower()), "yaml")
            if self.opened.suffix in _FORMATS[kind]:
                settings = self.settings_at(self.opened)
        return Known(settings, path.written if path else None) if settings is not None else None

    def settings_at(self, path: Path, *, overrides: bool = False) -> Settings | None:
        """The settings of a file of the project."""
        return self._settings_in(self.read(path), overrides)

    def written(self, path: Text) -> WrittenFile | None:
        """The file that the script writes to a path before it starts the program."""
        return written_file(path, self.file, self.launch) if self.launch is not None else None

    def _settings_in(self, file: ParsedConfig | None, overrides: bool) -> Settings | None:
        match file.documents if file is not None else ():
            case (Tree() as root, *_):
                assert file is not None
                return Settings(
                    MappingSource(file, root), overrides=self.overrides if overrides else {}
                )
        return None

    def _subcommand(self, name: str) -> Known | None:
        """The subcommand that the command line names."""
        word = subcommand(name, self.launch.words, self.program) if self.launch else None
        if word is None:
            return None
        option = Option(name, word.text, (word, word))
        return Known(word.text, Occurrence(name, word.text, option, self.file))

    def _supposed(self, name: str) -> Known | None:
        """An option with the value that is supposed, which is written where it is declared."""
        for given in self.program.options.get(name, ()):
            file = self.program.project.config_files.at(given.origin.source.path)
            if file is not None:
                value = self.chosen[name]
                return Known(value, Occurrence(name, value, CodePlace(given.origin.span), file))
        return None

    def _beside(self, name: str, option: Option | None, default: Known) -> Known | None:
        """What commands say that have the file: of switches, but for those of precision."""
        known = self._word(name, option, default) if option is not None else None
        is_switch = known is not None and isinstance(known.value, bool) and not is_precise(name)
        return Known(known.value) if known is not None and is_switch else None

    def _word(self, name: str, option: Option, default: Known | None) -> Known | None:
        """An option as the program's parser reads it."""
        value: object = option.value
        flag = option.name.replace("-", "_")
        is_renamed = flag != name
        if value is None and (file := self.written(option.traced)) is not None:
            return Known(file, Occurrence(name, None, option, self.file))
        if value is None or self._is_converted(name, value):
            return None
        if value is True:
            given = self.program.flags.get(flag) if is_renamed else None
            value = given.switches_to if given else not (is_renamed and flag in _negated(name))
        elif isinstance(value, str) and self.program.type_of(name) == "bool":
            value = value != ""  # bool("False") is true
        elif isinstance(value, str) and default is not None:
            if isinstance(default.value, bool):
                value = _BOOLEANS.get(value.lower())
            elif isinstance(default.value, int) and value.isdigit():
                value = int(value)
        elif isinstance(value, str) and value.isdigit() and self.program.is_integer(name):
            value = int(value)
        elif isinstance(value, str) and value in ("True", "False"):
            value = value == "True"
        elif value in ("true", "false"):
            return None  # a text or a truth value, as its type says
        written = Occurrence(name, value, option, self.file)
        return Known(value, written, is_direct=not is_renamed) if value is not None else None

    def _is_converted(self, name: str, value: object) -> bool:
        """True if a function of the program makes something else of a name: `type=dtype_of`."""
        return names_precision(value) and self.program.type_of(name) not in _TEXTS

    def default(self, name: str) -> Known | None:
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
        if self._is_of_object(name):
            return self._of_object(name, given)
        file = self.program.project.config_files.at(given.origin.source.path)
        if file is None:
            return None
        written = Occurrence(name, given.value, CodePlace(given.origin.span, DEFAULT), file)
        return Known(given.value, written)

    def _is_of_object(self, name: str) -> bool:
        """True if the object that the first word names decides about a default."""
        declared = self.program.options.get(name, ())
        return self.launch is not None and any(
            objects_with(name, given, self.program) for given in declared
        )

    def _of_object(self, name: str, given: Declaration) -> Known | None:
        """The default of an option in the object that the first word names."""
        word = self.positional(1)
        found = named_object(str(word.value), given, self.program) if word is not None else None
        if found is None:
            return None
        home, call = found
        own = keyword_of(call, name)
        file = self.program.project.config_files.at(
            given.origin.source.path if own is None else home.text.path
        )
        if file is None or not isinstance(own, ast.Constant | None):
            return None
        value = given.value if own is None else own.value
        span = given.origin.span if own is None else home.span_of(own)
        return Known(value, Occurrence(name, value, CodePlace(span), file))

    @cached_property
    def has_unknown_words(self) -> bool:
        """True if words of the command line are unknown, which may be options."""
        return bool(self._unknown_words)

    @cached_property
    def _unknown_words(self) -> tuple[Word, ...]:
        taken = {id(word) for option in self._options for word in option.words[1:]}
        return tuple(
            word
            for word in (self.launch.words if self.launch else ())
            if UNKNOWN in word.text.partition("=")[0]
            and id(word) not in taken
            and "/" not in word.text
        )

    @cached_property
    def perhaps_given(self) -> frozenset[str] | None:
        """The options that words may give which are unknown; None if these may be any."""
        found = [added_options(word, self.file) for word in self._unknown_words]
        known = [names for names in found if names is not None]
        return frozenset().union(*known) if len(known) == len(found) else None

    def _may_be_given(self, name: str) -> bool:
        """True if an unknown word may set an option, or a part of a section."""
        if self.perhaps_given is None:
            return True
        names = {*self._names_of(name), *_negated(name)}
        return any(each in names or each.startswith(f"{name}.") for each in self.perhaps_given)


@frozen(slots=False)
class _OptionWords:
    """`--train.bf16 true`, `--train.no-bf16`."""

    run: RunEnvironment

    def has(self, name: str) -> bool:
        given = self.run.given(name) is not None
        return given or self.is_section(name) or self.run._may_be_given(name)

    def is_section(self, name: str) -> bool:
        return any(word.startswith(f"{name}.") for word in self.run.words)

    def read(self, name: str, default: Known | None) -> Known | None:
        option = self.run.given(name)
        return self.run._word(name, option, default) if option is not None else None


@frozen(slots=False)
class _AssignmentWords:
    """`train.bf16=true`."""

    run: RunEnvironment

    def has(self, name: str) -> bool:
        return name in self.run.overrides or self.is_section(name) or self.run.has_unknown_words

    def is_section(self, name: str) -> bool:
        return any(word.startswith(f"{name}.") for word in self.run.overrides)

    def read(self, name: str, default: Known | None) -> Known | None:
        written = self.run.overrides.get(name)
        return Known(written.value, written) if written is not None else None


def _negated(name: str) -> tuple[str, ...]:
    """How words switch an option off: click, typer, tyro (1.0) and the Trainer's parser say
    `--no-bf16`, of a section `--train.no-bf16`; Fire (0.7), absl (2.5) and simple-parsing (0.1)
    say `--nobf16`.
    """
    section, dot, last = name.rpartition(".")
    return f"no_{name}", f"{section}{dot}no_{last}", f"{section}{dot}no{last}"
