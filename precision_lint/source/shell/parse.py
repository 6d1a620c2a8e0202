"""Shell env files and launch scripts: what the variables hold and what the commands are given.

Statements are taken in order, as a shell would. What depends on a condition, a loop, a function or
the caller's environment is unknown after it: it is never a conflict. The body of a function is read
where it is defined, with nothing known, and again for each of its calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile, takewhile
from typing import Literal as OneOf
from typing import TypeAlias

from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.shell.alternatives import added, choices
from precision_lint.source.shell.branches import Branch, Tests
from precision_lint.source.shell.commands import (
    Command,
    Heredoc,
    inner_script,
    is_remote,
    language_of_input,
    writes_input,
    written_file,
)
from precision_lint.source.shell.expansion import Expander, assignment_of, grows
from precision_lint.source.shell.patterns import Arms, said_by
from precision_lint.source.shell.places import Places
from precision_lint.source.shell.variables import Assigned, Variables, Word
from precision_lint.source.shell.words import (
    UNKNOWN,
    HereDocument,
    Lexer,
    Literal,
    RawWord,
    Text,
    Token,
    Variable,
)
from precision_lint.source.text.errors import Unparsable, merge_conflict
from precision_lint.source.text.text import SourceText

__all__ = [
    "Arguments",
    "Assigned",
    "Branch",
    "Command",
    "Follow",
    "Heredoc",
    "Script",
    "Word",
    "parse",
]

_MAX_SCOPES = 64  # deeper than anybody nests; what is assigned there is unknown
_MAX_INNER = 6  # scripts in the words of scripts, and calls of functions in functions
_MAX_PASSES = 8  # words of a loop that are followed apart
_MAX_REPEATED = 192  # passes of all loops, beyond their first, and calls of functions
_MOST_ARGUMENTS = 9  # of a function

_NAME = regex(r"[A-Za-z_]\w*", re.ASCII)
_EXPANDED = regex(r"\$\{?([A-Za-z_]\w*)", re.ASCII)
_LITERAL = regex(r"[\w./:=@%+,-]+", re.ASCII)  # no pattern, nothing unknown
_CLOSED_BY = {
    "if": "fi",
    "while": "done",
    "until": "done",
    "for": "done",
    "select": "done",
    "case": "esac",
}
_CLOSING = frozenset({"fi", "done", "esac", "}"})
_LEADING = frozenset({"if", "elif", "then", "else", "while", "until", "do", "!", "time"})
_DECLARING = frozenset({"export", "readonly", "declare", "typeset", "local"})
_LOCAL = frozenset({"declare", "typeset", "local"})
_ENVIRONMENTS = ("/activate", "/etc/profile.d/conda.sh")
"""The scripts of a virtual environment and of conda set nothing that a training run reads."""
_READING = frozenset({"read", "mapfile", "readarray", "getopts", "printf", "let", "unset"})
_ALL_EXPORTED = (["-a"], ["-o", "allexport"])
_NONE_EXPORTED = (["+a"], ["+o", "allexport"])
_MOVING = frozenset({"cd", "pushd", "popd"})
_DIRECTORY = "."  # no name of a variable, but changed and forgotten like one

_Kind: TypeAlias = OneOf["if", "case", "loop", "function", "list", "pipe", "subshell", "group"]
_SCOPED: frozenset[_Kind] = frozenset(
    {"if", "case", "loop", "function", "list", "pipe", "subshell"}
)
_SUBSHELLS: frozenset[_Kind] = frozenset({"pipe", "subshell"})


@frozen
class Script:
    """What is known of the variables after the last statement, and all commands as written.

    `sourced` are the names of the files that it takes over. `changed` are the variables that it
    may assign; `is_lost` says that something unknown may have assigned any. `assigned` is what it
    assigns itself, wherever that is, by name. `bodies` are all here-documents, read or not.
    `assumed` are the defaults that count as long as who starts it does not set these variables.
    `taken` are the names of the words (`1`, `@`) that who starts it gives, as far as they count.
    """

    source: SourceText
    variables: Mapping[str, Assigned]
    commands: tuple[Command, ...]
    heredocs: tuple[Heredoc, ...]
    sourced: tuple[Word, ...]
    changed: frozenset[str]
    is_lost: bool
    places: Places
    assigned: tuple[tuple[str, Assigned], ...] = ()
    bodies: tuple[Span, ...] = ()
    assumed: Mapping[str, Sequence[Span]] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()

    def words(self, name: str) -> tuple[Word, ...]:
        """What an unquoted `$NAME` expands to."""
        assigned = self.variables.get(name)
        return tuple(self.places.split(assigned.text)) if assigned else ()


@frozen
class Arguments:
    """The words that another script starts a script with, and where they are written."""

    words: tuple[Word, ...]
    places: Places

    def tells(self, taken: frozenset[str]) -> bool:
        """True if anything is known of the words that a script takes."""
        certain = certain_words(self.words)
        is_known = certain == len(self.words)  # others are empty
        return any(name == "@" or is_known or int(name) <= certain for name in taken)


def certain_words(words: Sequence[Word]) -> int:
    """How many of some words have a place: one that may be several moves those after it."""
    return sum(1 for _ in takewhile(lambda word: word.is_one, words))


Follow: TypeAlias = Callable[[str], Script | None]
"""Finds and reads the file that a script sources; None if there is none."""


def parse(
    source: SourceText,
    *,
    masked: str | None = None,
    margin: int = 0,
    given: Mapping[str, Assigned] | None = None,
    exports_all: bool = False,
    follow: Follow = lambda reference: None,
    arguments: Arguments | None = None,
) -> tuple[Script, Unparsable | None]:
    """Read a script; the second half is what a shell would refuse first, if anything.

    A script that is a part of its file is read from `masked`: the file's text with blanks for all
    the rest; it is indented by `margin` blanks. `given` are exported variables that it starts with.
    """
    text = (source.text if masked is None else masked).rstrip(" \r\n")
    lexer = Lexer(text, range(len(text)), margin)
    lexer.at = len(text) - len(text.lstrip(" \r\n"))
    tokens = list(lexer)
    last = _last_assignments(tokens)

    def read(chosen: Mapping[str, int]) -> _Reader:
        reader = _Reader(source, last, follow)
        reader.expander.choices = chosen
        reader.variables.exports_all = exports_all
        for name, assigned in (given or {}).items():
            reader.variables.set(name, assigned)
            reader.variables.export(name)
        if arguments is not None:
            start = reader.places.end
            taken = reader.places.add(arguments.places, Span(0, 0))
            reader.given = range(start, reader.places.end)
            reader.give(taken(Assigned(Span(0, 0), Text(), arguments.words)).elements)
        reader.read(tokens)
        return reader

    reader = read({})
    bodies = (token.body for token in tokens if isinstance(token, HereDocument))
    script = replace(reader.script(), bodies=tuple(filter(None, bodies)))
    for chosen in choices(reader.expander.asked, text):
        job = read(chosen)
        commands = (*script.commands, *added(script.commands, job.commands))
        script = replace(script, commands=commands, taken=script.taken | job.expander.taken)
    defect = lexer.defect
    if defect is None:
        return script, None
    message, offset = defect
    return script, merge_conflict(source) or Unparsable(message, *source.position(offset))


def _last_assignments(tokens: Sequence[Token]) -> dict[str, int]:
    """The index of the last token that assigns each name, or changes the directory.

    `for NAME in …` assigns one, and `read NAME OTHER` several.
    """
    last: dict[str, int] = {}
    command = ""  # whose next words are names
    for index, token in enumerate(tokens):
        if not isinstance(token, RawWord):
            command = ""
            continue
        plain = token.plain or ""
        if assignment := assignment_of(token):
            last[assignment[1]] = index
        elif plain in _MOVING:
            last[_DIRECTORY] = index
        elif command and plain:
            last[plain] = index
        if plain == "for" or plain in _READING:
            command = plain
        elif command == "for":
            command = ""
    return last


@dataclass(slots=True)
class _Passes:
    """The passes of `for name in words` that are still to come; its body starts at a token."""

    name: str
    words: list[Word]
    start: int = -1


@dataclass(slots=True)
class _Function:
    """The body of a function, between two tokens, and the variables outside that it assigns."""

    number: int
    start: int
    end: int = -1
    assigns: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Frame:
    """An open construct: what closes it, and the ways that lead into it."""

    kind: _Kind
    closing: str
    outer: tuple[Branch, ...]
    is_scope: bool
    number: int = 0
    arm: int = 0
    in_pattern: bool = False  # between `in` or `;;` and the bracket after the pattern of a case
    passes: _Passes | None = None  # of a loop over words that are known
    function: _Function | None = None
    tests: Tests = field(default_factory=Tests)
    start: int = 0  # of the condition that is being read
    pattern: list[RawWord] = field(default_factory=list)  # the words of a case up to the bracket
    condition: str = ""  # of the arm that is being read
    arms: Arms | None = None  # of a case about a word that who starts the script gives
    is_off: bool = False  # the arm that is being read does not run

    @property
    def branches(self) -> tuple[Branch, ...]:
        match self.kind:
            case "if" | "case" | "loop" if self.arm:
                return (*self.outer, Branch(self.kind, self.number, self.arm, self.condition))
            case "function" | "list":
                return (*self.outer, Branch(self.kind, self.number, self.arm, self.condition))
        return self.outer


def _reference(path: str) -> str:
    """The file that a script sources; below a folder that only run time knows (`$DIR/a.sh`), it is
    looked for around the script. Empty if more than the folder is not known.
    """
    folder, unknown, rest = path.rpartition(UNKNOWN)
    if not unknown:
        return path
    return rest.lstrip("/") if rest.startswith("/") and "/" not in folder else ""


class _Reader:
    """Walks over the statements with what is known of the variables so far."""

    def __init__(self, source: SourceText, last: Mapping[str, int], follow: Follow) -> None:
        self.source = source
        self.places = Places(source)
        self.variables = Variables(last)
        self.expander = Expander(source, self.places, self.variables)
        self.follow = follow
        self.commands: list[Command] = []
        self.heredocs: list[Heredoc] = []
        self.sourced: list[Word] = []
        self.assigned: list[tuple[str, Assigned]] = []
        self.volatile: set[str] = set()  # assigned in functions, which run who knows when
        self.functions: dict[str, _Function | None] = {}
        self.called: set[int] = set()  # the functions whose calls are followed
        self.altered: set[str] = set()  # what the calls that are followed assign outside
        self.calling = 0
        self.has_set = False  # `set --` gave other arguments
        self.given = range(0)  # where the words are that the script is started with
        self.frames: list[_Frame] = []
        self.branches: tuple[Branch, ...] = ()
        self.opened = 0
        self.in_functions = 0  # how many of the frames are function bodies
        self.too_deep = 0  # how many of the frames have no scope for that reason
        self.inner = 0  # scripts in words of scripts
        self.moves = _DIRECTORY in last
        self.piped_heredocs: list[
            HereDocument
        ] = []  # what `cat` hands on to the next command of a pipe
        self.base = 0  # frames below belong to the script around this one
        self.tokens: list[Token] = []  # of the script itself
        self.reading: tuple[list[Token], int] = ([], 0)  # the tokens, and which comes next
        self.passes = 0  # of loops, beyond the first
        self.passed = Span(0, 0)  # the last statement
        self.variables.set(_DIRECTORY, Assigned(Span(0, 0), Text()))
        self.begin()

    def begin(self) -> None:
        """Expect a new statement."""
        self.pending: list[RawWord] = []  # the simple command that is being read
        self.redirects: list[tuple[str, RawWord]] = []
        self.here: list[HereDocument] = []
        self.redirect = ""  # the next word is the file name of this operator
        self.brackets = 0  # in `for ((...))`
        self.in_test = False  # in `[[ ... ]]`
        self.signature = False  # between the brackets of `name()`
        self.declares = ""  # the next group is the body of this function
        self.continues = False  # after `&&`, `||` or `|`

    def script(self) -> Script:
        variables = self.variables.known()
        variables.pop(_DIRECTORY, None)
        return Script(
            self.source,
            variables,
            tuple(one for one in self.commands if not self.is_followed(one)),
            tuple(one for one in self.heredocs if not self.is_followed(one.command)),
            tuple(self.sourced),
            self.variables.changed,
            self.variables.is_lost,
            self.places,
            tuple(self.assigned),
            assumed=self.expander.assumed,
            taken=frozenset(self.expander.taken),
        )

    def is_followed(self, command: Command) -> bool:
        """True if a command is that of a definition, and those of its calls are known as well."""
        return any(
            branch.construct == "function" and branch.number in self.called
            for branch in command.branches
        )

    # Tokens to statements

    def read(self, tokens: Iterable[Token], *, is_inner: bool = False) -> None:
        outer, self.base = self.base, len(self.frames)
        tokens, index = list(tokens), 0
        if not is_inner:
            self.tokens = tokens
        outer_reading, self.reading = self.reading, (tokens, 0)
        while index < len(tokens):
            token = tokens[index]
            self.reading = (tokens, index + 1)
            if not is_inner:
                self.variables.token = index
            match token:
                case RawWord():
                    self.word(token)
                case HereDocument():
                    self.here.append(token)
                case _:
                    self.operator(token.text)
            index = self.reading[1]
        self.reading = outer_reading
        self.operator("\n")
        while len(self.frames) > self.base:
            self.pop()
        self.begin()
        self.base = outer

    def word(self, word: RawWord) -> None:
        self.continues = False
        if self.redirect:
            self.redirects.append((self.redirect, word))
            self.redirect = ""
            return
        plain = word.plain
        if self.frames and self.frames[-1].in_pattern:
            if plain == "esac":
                self.close()
            else:
                self.frames[-1].pattern.append(word)
        elif self.pending and not (plain == "{" and self.pending[0].plain == "function"):
            self.in_test &= plain != "]]"
            self.pending.append(word)
        elif plain == "{":
            if self.pending:
                self.function(self.pending[1:])
            self.open("group", "}")
        elif plain in _CLOSING:
            self.close()
        else:
            self.keyword(plain or "", word.span)
            self.in_test = plain == "[["
            if plain not in _LEADING and plain != "case":
                self.pending.append(word)

    def keyword(self, plain: str, span: Span) -> None:
        if plain in _CLOSED_BY:
            kind: _Kind = "loop" if _CLOSED_BY[plain] == "done" else "if"
            self.open("case" if plain == "case" else kind, _CLOSED_BY[plain])
            self.frames[-1].in_pattern = plain == "case"
            self.frames[-1].start = span.end
        elif self.frames:
            frame = self.frames[-1]
            match plain, frame.kind:
                case ("then", "if") | ("do", "loop"):
                    if plain == "then" and self.expander.in_file:
                        text = self.source.text[frame.start : span.start]
                        self.state(frame, frame.tests.holds(text))
                    if not frame.arm:
                        self.arm(1)
                    if frame.passes is not None and frame.passes.start < 0:
                        frame.passes.start = self.reading[1]
                case "elif" | "else", "if":
                    frame.start = span.end
                    frame.condition = frame.tests.otherwise() if plain == "else" else ""
                    self.arm(frame.arm + 1)

    def operator(self, text: str) -> None:
        if text[0] in "<>" or text.startswith("&>"):
            self.redirect = text
            if self.pending and (plain := self.pending[-1].plain) and plain.isdigit():
                self.pending.pop()  # the `2` of `2>`
        elif self.frames and self.frames[-1].in_pattern:
            if text == ")":
                self.frames[-1].in_pattern = False
                self.match(self.frames[-1])
        elif self.in_test and text != "\n":
            pass
        elif text == "(":
            self.bracket()
        elif text == ")":
            if self.brackets:
                self.brackets -= 1
            elif self.signature:
                self.signature = False
            else:
                self.statement()
                self.close()
        elif not self.brackets and not (text == "\n" and self.continues):
            self.statement()
            self.separate(text)

    def bracket(self) -> None:
        first = self.pending[0].plain if self.pending else None
        if first == "for" or self.brackets:
            self.brackets += 1
        elif len(self.pending) == 1 or first == "function":
            self.function(self.pending[1:] or self.pending)
            self.signature = True
            self.pending = []
        else:
            self.open("subshell", ")")

    def separate(self, text: str) -> None:
        """What stands between two statements says how the second depends on the first."""
        match text:
            case "&&" | "||":
                passed = self.passed
                self.end("pipe")
                if not (self.frames and self.frames[-1].kind == "list"):
                    self.open("list", "", arm=int(text == "||"))
                    self.frames[-1].start = passed.start
                elif text == "||":
                    self.arm(self.frames[-1].arm + 1, restore=False)
                before = self.source.text[self.frames[-1].start : passed.end]
                test = " ".join(before.split()) if self.expander.in_file else ""
                self.state(self.frames[-1], f"not ({test})" if test and text == "||" else test)
            case "|" | "|&":
                if self.frames and self.frames[-1].kind == "pipe":
                    self.arm(0)
                else:
                    self.open("pipe", "")
            case _:
                self.end("pipe", "list")
        self.continues = text in ("&&", "||", "|", "|&")
        if text not in ("|", "|&"):
            self.piped_heredocs = []
        if text in (";;", ";&", ";;&") and self.frames and self.frames[-1].kind == "case":
            frame = self.frames[-1]
            self.arm(frame.arm + (text == ";;"), restore=text == ";;")
            if text != ";;":  # what follows may run as well
                frame.arms = None
            frame.in_pattern = True

    def match(self, frame: _Frame) -> None:
        """The end of the pattern of a case: the first one has the subject and `in` before it."""
        words, frame.pattern = frame.pattern, []
        if self.given:
            self.decide(frame, words)
        if not self.expander.in_file:
            return
        if frame.arm == 1 and not frame.tests.subject and len(words) > 2:
            frame.tests.subject = self.source[words[0].span]
            words = words[2:]
        if words and frame.tests.subject:
            text = self.source.text[words[0].span.start : words[-1].span.end]
            self.state(frame, frame.tests.holds(text))

    def decide(self, frame: _Frame, words: list[RawWord]) -> None:
        """Say whether the arm runs that a pattern begins, where the words of the script decide."""
        if frame.arm == 1 and len(words) > 2 and words[1].plain == "in":
            said = said_by(self.expander.whole(words[0]), self.given)
            is_once = frame.is_scope and all(each.kind != "loop" for each in self.frames)
            frame.arms = Arms(said) if said is not None and is_once else None
            words = words[2:]
        runs = frame.arms.runs(words) if frame.arms is not None else None
        frame.is_off = runs is False
        if runs:
            self.variables.stay()

    def state(self, frame: _Frame, condition: str) -> None:
        """Say what holds in the arm that is being read."""
        frame.condition = condition
        if frame.is_scope:
            self.branches = frame.branches

    # Frames

    def open(self, kind: _Kind, closing: str, *, arm: int = 0) -> None:
        if self.declares and closing in ("}", ")"):
            kind = "function"
        if kind == "case":
            arm = 1
        name = self.declares
        is_scope = kind in _SCOPED and len(self.frames) < _MAX_SCOPES
        self.opened += 1
        frame = _Frame(kind, closing, self.branches, is_scope, self.opened, arm)
        self.frames.append(frame)
        if kind == "function":
            self.in_functions += 1
            self.expander.takes_defaults = False
            # A name that is defined twice, or inside of a function, may be either.
            is_only = name not in self.functions and self.in_functions == 1 and not self.inner
            frame.function = _Function(self.opened, self.reading[1]) if is_only else None
            self.functions[name] = frame.function
        if is_scope:
            self.branches = frame.branches
            self.variables.open(loop=kind == "loop", function=kind == "function")
        else:
            self.too_deep += kind in _SCOPED
        if kind == "loop" and self.calling:
            for assigned in self.assigned_from(self.reading[1]):
                self.variables.forget(assigned)
        self.begin()

    def arm(self, number: int, *, restore: bool = True) -> None:
        """Go on in another arm of the construct that is open."""
        frame = self.frames[-1]
        starts, frame.arm = frame.arm == 0, number
        if frame.is_scope:
            self.branches = frame.branches
            if not (starts and frame.kind in ("if", "loop")):  # the condition holds in the body
                self.variables.switch(restore=restore)

    def end(self, *kinds: _Kind) -> None:
        """Close what a separator ends."""
        while len(self.frames) > self.base and self.frames[-1].kind in kinds:
            self.pop()

    def close(self) -> None:
        self.end("pipe", "list")
        if len(self.frames) > self.base and not self.passes_again(self.frames[-1]):
            self.pop()
        self.begin()

    # Loops over words that are known

    def loop(self, name: str, words: list[RawWord]) -> None:
        """Set the variable of a loop to the first of its words if all of them are known."""
        self.variables.forget(name)
        if not (words and words[0].plain == "in" and self.frames and not self.in_functions):
            return
        frame, expanded = self.frames[-1], list(self.expander.expand(words[1:]))
        is_known = all(_LITERAL.fullmatch(word.text) for word in expanded)
        if frame.kind != "loop" or not is_known or not 0 < len(expanded) <= _MAX_PASSES:
            return
        if not self.is_used(name):
            return
        frame.passes = _Passes(name, expanded)
        self.next_pass(frame.passes)

    def is_used(self, name: str) -> bool:
        """True if the body of a loop that begins here uses a variable, and nothing else changes.

        What one pass exports, the next one sees: such loops are read once.
        """
        tokens, start = self.reading
        depth, is_used = 0, False
        for token in tokens[start:]:
            match token:
                case HereDocument(quoted=False, body=Span() as body):
                    is_used |= name in _EXPANDED.findall(self.source[body])
                case RawWord(plain=str(plain)) if plain in _DECLARING or plain == "set":
                    return False
                case RawWord(parts=parts):
                    is_used |= any(
                        isinstance(part, Variable) and part.name == name for part in parts
                    )
                    depth += _CLOSED_BY.get(token.plain or "") == "done"
                    if token.plain == "done":
                        if not depth:
                            return is_used
                        depth -= 1
        return False

    def next_pass(self, passes: _Passes) -> None:
        word = passes.words.pop(0)
        origin = word.traced.origins[:1] or (word.span.start,)
        text = Text(word.text, origin * len(word.text))  # to edit it would edit all passes
        self.variables.set(passes.name, Assigned(word.span, text, elsewhere=word.elsewhere))

    def passes_again(self, frame: _Frame) -> bool:
        """Go back to the start of a loop if it has another pass."""
        passes = frame.passes
        if passes is None or not passes.words or passes.start < 0 or self.passes >= _MAX_REPEATED:
            return False
        self.passes += 1
        self.reading = (self.reading[0], passes.start)
        self.next_pass(passes)
        return True

    def pop(self) -> None:
        frame = self.frames.pop()
        self.in_functions -= frame.kind == "function"
        self.set_defaults()
        if frame.function is not None:
            frame.function.end = self.reading[1] - 1
        self.branches = frame.outer
        if frame.is_scope:
            self.variables.close(restore=frame.kind in _SUBSHELLS)
        else:
            self.too_deep -= frame.kind in _SCOPED

    def set_defaults(self) -> None:
        """Outside of functions the arguments are those of the script, but not after `set --`."""
        is_of_script = not self.in_functions and not self.calling and not self.has_set
        self.expander.takes_defaults = is_of_script

    def function(self, words: list[RawWord]) -> None:
        self.declares = next((word.plain for word in words[:1] if word.plain), "?")

    # Statements

    def statement(self) -> None:
        words, redirects, here = self.pending, self.redirects, self.here
        declares = self.declares
        if words:
            self.passed = Span(words[0].span.start, words[-1].span.end)
        self.begin()
        match [word.plain for word in words[:2]]:
            case ["for", str(name)]:
                self.loop(name, words[2:])
            case ["select", str(name)]:
                self.variables.forget(name)
            case ["function", *_]:
                self.function(words[1:])
            case []:
                self.declares = declares  # `name()` with its body on the next line
            case _ if any(frame.is_off for frame in self.frames):
                pass
            case _:
                self.simple_command(words, redirects, here)

    def simple_command(
        self,
        words: list[RawWord],
        redirects: list[tuple[str, RawWord]],
        here: list[HereDocument],
    ) -> None:
        rest = list(dropwhile(assignment_of, words))
        if not rest:
            for word in words:
                self.assign(word)
            return
        prefix = words[: len(words) - len(rest)]
        own = dict(filter(None, map(self.expander.assigned, prefix)))
        self.assigned += own.items()
        self.command(rest, own, redirects, here)

    def command(
        self,
        words: list[RawWord],
        own: dict[str, Assigned],
        redirects: list[tuple[str, RawWord]],
        here: list[HereDocument],
    ) -> None:
        expanded = tuple(self.expander.expand(words))
        if self.follows_call(words, expanded):
            return
        if expanded and expanded[0].text == "env":
            own |= dict(filter(None, map(self.expander.assigned, _prefix_of_env(words))))
        for name, assigned in [each for word in words for each in self.expander.set_by(word)]:
            self.assign_variable(name, assigned)
        environment = self.variables.environment(own)
        command = Command(expanded, self.branches, environment, self.directory)
        self.commands.append(command)
        self.write(command, redirects, here)
        self.builtin(words, expanded)
        self.read_input(expanded, here)
        if script := inner_script(expanded):
            self.read_inner(script.traced, is_remote=is_remote(expanded))

    def builtin(self, words: list[RawWord], expanded: tuple[Word, ...]) -> None:
        name, arguments = words[0].plain, words[1:]
        plain = [word.plain for word in arguments]
        if name in _DECLARING:
            self.declare(name, arguments)
        elif name in ("source", "."):
            self.source_file(expanded)
        elif name == "eval":
            texts = [word.traced for word in expanded[1:]]
            blanked = (part for text in texts for part in (text, _blank(text)))
            self.evaluate(Text.join(blanked))
        elif name == "set" and plain[:2] in _ALL_EXPORTED:
            self.variables.exports_all = True
        elif name == "set" and plain[:2] in _NONE_EXPORTED:
            self.variables.exports_all = False
        elif name in _MOVING:
            self.change_directory(name, expanded)
        elif name == "shift" or (name == "set" and "--" in plain):
            self.shift(expanded)
        elif name in _READING:
            for argument in plain:
                if argument and _NAME.fullmatch(argument):
                    self.variables.forget(argument)
                    if name == "unset":
                        self.variables.hide(argument)
        elif name in self.functions and self.in_functions:
            self.variables.forget_all(in_function=True)

    # Functions

    def follows_call(self, words: list[RawWord], expanded: tuple[Word, ...]) -> bool:
        """Read the body of a function again, with the arguments of a call."""
        name = words[0].plain or ""
        function = self.functions.get(name)
        if function is None or function.end < 0 or self.in_functions:
            return False
        if self.inner >= _MAX_INNER or self.passes >= _MAX_REPEATED:
            return False
        if len(self.frames) >= _MAX_SCOPES:
            return False
        self.passes, self.inner, self.calling = self.passes + 1, self.inner + 1, self.calling + 1
        self.set_defaults()
        self.called.add(function.number)
        outer, self.altered = self.altered, set()
        self.frames.append(_Frame("subshell", "", self.branches, is_scope=True))
        self.variables.open()
        self.give(expanded[1:])
        self.read(self.tokens[function.start : function.end], is_inner=True)
        self.pop()
        for assigned in self.altered | function.assigns:
            self.variables.forget(assigned)
        self.altered |= outer | function.assigns
        self.inner, self.calling = self.inner - 1, self.calling - 1
        self.set_defaults()
        return True

    def give(self, arguments: Sequence[Word]) -> None:
        """Set the arguments `$1` … and `$@` of a function."""
        certain = certain_words(arguments)
        for number, word in enumerate(arguments, 1):
            value = Assigned(word.span, word.traced, elsewhere=word.elsewhere)
            self.variables.set(str(number), value if number <= certain else None)
        if certain == len(arguments):
            for number in range(len(arguments) + 1, _MOST_ARGUMENTS + 1):
                self.variables.set(str(number), Assigned(Span(0, 0), Text()))
        span = arguments[0].span if arguments else Span(0, 0)
        self.variables.set("@", Assigned(span, Text(), tuple(arguments), is_array=True))

    def shift(self, expanded: tuple[Word, ...]) -> None:
        """`shift`, `shift 2`; what `set --` gives is not followed."""
        arguments = self.variables["@"]
        is_shift = expanded[0].text == "shift"
        count = expanded[1].text if len(expanded) > 1 else "1"
        if arguments is not None and is_shift and count.isdecimal():
            self.give(arguments.elements[int(count) :])
            return
        if is_shift:
            self.expander.take("@")
        self.has_set |= not is_shift
        self.set_defaults()
        for name in ("@", *map(str, range(1, _MOST_ARGUMENTS + 1))):
            self.variables.forget(name)

    def assigned_from(self, start: int) -> Iterator[str]:
        """The variables that the tokens from one on may assign."""
        for token in self.reading[0][start:]:
            if isinstance(token, RawWord):
                if assignment := assignment_of(token):
                    yield assignment[1]
                elif token.plain in ("shift", "set"):
                    yield from ("@", *map(str, range(1, _MOST_ARGUMENTS + 1)))
                elif token.plain in _MOVING:
                    yield _DIRECTORY

    def read_input(self, expanded: tuple[Word, ...], here: list[HereDocument]) -> None:
        """`read -r -d '' NAME <<EOF` takes a whole here-document."""
        names = [word.text for word in expanded]
        if names[:1] != ["read"] or not here or here[-1].body is None or "" not in names:
            return
        at = names.index("")
        body, quoted = here[-1].body, here[-1].quoted
        if not names[at - 1].endswith("d") or at + 2 != len(names) or not self.expander.in_file:
            return
        text = self.expander.body(body, quoted)
        if text is not None and _NAME.fullmatch(names[-1]):
            self.assign_variable(names[-1], Assigned(body, text))

    def declare(self, name: str, arguments: list[RawWord]) -> None:
        options = "".join(word.plain or "" for word in arguments if (word.plain or "")[:1] == "-")
        is_local = name in _LOCAL and self.in_functions > 0 and "g" not in options
        exports = name == "export" or "x" in options
        for word in arguments:
            if assignment := assignment_of(word):
                self.assign(word, is_local=is_local)
                if exports:
                    self.variables.export(assignment[1])
            elif word.plain is not None:
                if exports and _NAME.fullmatch(word.plain):
                    self.variables.export(word.plain)
            elif not isinstance(word.parts[0], Literal):
                self.variables.forget_all()  # `export $(cat .env)`

    def source_file(self, expanded: tuple[Word, ...]) -> None:
        """What a sourced file assigns is assigned here, as far as it can be read."""
        word = expanded[1] if len(expanded) > 1 else None
        if word is not None and word.text.endswith(_ENVIRONMENTS):
            return
        if word is not None:
            self.sourced.append(word)
        reference = _reference(word.text) if word is not None else ""
        script = self.follow(reference) if reference else None
        if not self.expander.spend(script.places.end if script else 0):
            script = None
        if script is None or word is None or script.is_lost:
            self.variables.forget_all()
        if script is not None and word is not None:
            base = self.places.end
            taken = self.places.add(script.places, word.span)
            void = self.void_defaults(script, base)
            for name in script.changed - {_DIRECTORY}:
                assigned = script.variables.get(name)
                moved = taken(assigned) if assigned else None
                is_void = moved is not None and not void.isdisjoint(_origins(moved))
                self.assign_variable(name, None if is_void else moved)

    def void_defaults(self, script: Script, base: int) -> frozenset[int]:
        """Where the defaults of a sourced file are written that do not count here, as this script
        may set these variables; the others count as its own.
        """
        void: set[int] = set()
        for name, spans in script.assumed.items():
            moved = [Span(span.start + base, span.end + base) for span in spans]
            if self.variables.is_of_caller(name):
                self.expander.assumed.setdefault(name, []).extend(moved)
            else:
                void.update(*(range(*span) for span in moved))
        return frozenset(void)

    def evaluate(self, text: Text) -> None:
        self.read_inner(text, is_child=False)
        if UNKNOWN in text.chars:
            self.variables.forget_all()

    def read_inner(self, text: Text, *, is_child: bool = True, is_remote: bool = False) -> None:
        """Read the words of a command as a script: by this shell, or by a child of it, which may
        be on another machine.
        """
        if self.inner >= _MAX_INNER or len(self.frames) >= _MAX_SCOPES:
            return
        self.inner += 1
        self.expander.in_file = False
        if is_child:
            self.frames.append(_Frame("subshell", "", self.branches, is_scope=True))
            self.variables.open(child=True)
        if is_remote:
            self.variables.forget_all()
        self.read(Lexer(text.chars, text.origins), is_inner=True)
        if is_child:
            self.pop()
        self.inner -= 1
        self.expander.in_file = self.inner == 0

    def change_directory(self, name: str | None, expanded: tuple[Word, ...]) -> None:
        arguments = [word for word in expanded[1:] if word.text not in ("--", "-P", "-L")]
        if name == "popd" or len(arguments) != 1 or arguments[0].text[:1] in ("-", "~"):
            self.variables.forget(_DIRECTORY)
            return
        text = arguments[0].traced
        before = self.directory
        if before and not text.chars.startswith("/"):
            text = Text(f"{before}/{text.chars}", (text.origins or (0,))[:1] * (len(before) + 1))
        self.variables.set(_DIRECTORY, Assigned(arguments[0].span, text))

    @property
    def directory(self) -> str | None:
        """Where commands are executed now."""
        assigned = self.variables[_DIRECTORY]
        if assigned is not None:
            return assigned.text.chars or None
        return UNKNOWN if self.moves else None

    def write(
        self,
        command: Command,
        redirects: list[tuple[str, RawWord]],
        here: list[HereDocument],
    ) -> None:
        """Keep the here-documents that a command writes to a file, or runs."""
        here, self.piped_heredocs = [*self.piped_heredocs, *here], []
        files = [word for operator, word in redirects if operator in (">", ">>", ">|")]
        runs = language_of_input(command.words)
        appends = any(operator == ">>" for operator, _ in redirects) or any(
            word.text in ("-a", "--append") for word in command.words
        )
        target = None
        if writes_input(command.words):
            target = written_file(command.words) or (
                self.expander.whole(files[-1]) if files else None
            )
            if target is None:
                self.piped_heredocs = here
        if runs or target is not None:
            for token in here:
                if token.body is not None:
                    values = {} if token.quoted else self.values_in(token.body)
                    self.heredocs.append(
                        Heredoc(
                            command,
                            token.body,
                            token.quoted,
                            token.tabs,
                            target,
                            runs,
                            values,
                            appends,
                        )
                    )

    def values_in(self, body: Span) -> dict[str, Assigned]:
        """The variables in the body of a here-document that are known."""
        names = dict.fromkeys(_EXPANDED.findall(self.source[body]))
        found = ((name, self.variables[name]) for name in names)
        return {
            name: assigned
            for name, assigned in found
            if assigned is not None and not assigned.is_array and UNKNOWN not in assigned.text.chars
        }

    # Assignments

    def assign(self, word: RawWord, *, is_local: bool = False) -> None:
        assignment = assignment_of(word)
        assert assignment is not None
        found = self.expander.assigned(word)
        value = replace(found[1], branches=self.branches) if found else None
        self.assigned += ((found[0], value),) if found and value else ()
        self.assign_variable(assignment[1], value, is_local=is_local, grows=grows(word))

    def assign_variable(
        self,
        name: str,
        assigned: Assigned | None,
        *,
        is_local: bool = False,
        grows: bool = False,
    ) -> None:
        if self.in_functions and not is_local:
            self.volatile.add(name)
            for frame in self.frames:
                if frame.function is not None:
                    frame.function.assigns.add(name)
        is_inside = self.in_functions or self.calling
        if self.too_deep or (name in self.volatile and not is_inside):
            assigned = None
        self.variables.set(name, assigned, local=is_local, grows=grows)


def _origins(assigned: Assigned) -> Iterator[int]:
    """Where the characters of a value are written."""
    for text in (assigned.text, *(word.traced for word in assigned.elements)):
        yield from text.origins


def _blank(text: Text) -> Text:
    """A blank after a text."""
    return Text(" ", text.origins[-1:]) if text.chars else Text()


def _prefix_of_env(words: list[RawWord]) -> Iterator[RawWord]:
    """The assignments between `env` and the command that it starts."""
    for word in words[1:]:
        if assignment_of(word):
            yield word
        elif not (word.plain or "").startswith("-"):
            return
