"""What the options are for that programs declare themselves, and what their defaults make of that.

The program runs without a word: its parser gives every option its default. The ways of an option
lead to the places that it may decide. Where the program can be evaluated, each place says what it
gets by default and what another value of the option makes of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from itertools import islice
from pathlib import Path

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import is_left_unread
from precision_lint.facts.frameworks.runs import environment
from precision_lint.facts.frameworks.sources import Occurrence, RolesSource
from precision_lint.facts.frameworks.table import Framework, frameworks
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.becoming import Become, shown
from precision_lint.facts.runs.code.cast_types import made_at, turned_on
from precision_lint.facts.runs.code.filled_classes import class_of_framework, filled_by
from precision_lint.facts.runs.code.flows import Asked, Ends, ends_of
from precision_lint.facts.runs.code.given_fields import GivenFields
from precision_lint.facts.runs.code.made_classes import is_always_given, makes
from precision_lint.facts.runs.code.torch_sinks import TorchPlace
from precision_lint.facts.runs.code.ways import key_of_holder
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.interpreter.reachable import may_run
from precision_lint.facts.runs.options.claims import OF_TRAINING, Claim, claims_of
from precision_lint.facts.runs.options.fields_in_vain import is_field_in_vain
from precision_lint.facts.runs.options.never_read import declared_in_vain, is_read_elsewhere
from precision_lint.facts.runs.options.untaken_options import has_default
from precision_lint.facts.runs.readers.loaded_modules import module_takers
from precision_lint.facts.runs.roles.roles import distinct, of_place, with_keys
from precision_lint.facts.runs.roles.set_anyway import rivals, with_rivals
from precision_lint.facts.runs.roles.uses import Use, use_of
from precision_lint.facts.runs.roles.words_in_vain import NOT_READ
from precision_lint.facts.runs.written.domains import Value, domains
from precision_lint.facts.runs.written.entries import programs_having
from precision_lint.facts.runs.written.unread import Unread
from precision_lint.facts.settings.constants import settings_of
from precision_lint.facts.settings.given import Declaration, Kind
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_OPTIONS = 24
"""Options of one file that are followed."""
_MOST_PROGRAMS = 3
"""Programs with an option that are asked for it."""
_MOST_PASSED = 8
"""Programs that give all options which are asked for, and do not count as asked."""
_MOST_VALUES = 2
"""Values besides the default that are shown."""
_MOST_OF_A_KIND = 3
"""Places of one kind that are shown for one option."""
_MOST_MENTIONING = 25
"""Files of one program that mention an option which is followed."""
_OF_DTYPES = ("weights", "default dtype", "4-bit products")
"""Places that a dtype is given to: a switch which leads there is none."""
_PYTORCH = "pytorch"
_ALWAYS_GIVEN = "default not used: each call gives it"


@frozen
class Meant:
    """The runs that show what options are for, and the options of which nothing is known."""

    runs: tuple[EffectiveConfig, ...]
    rest: tuple[Occurrence, ...]


def meant(options: Unread, project: Recording) -> Meant:
    """What the programs of a file have the options for that it declares."""
    left = list(options.settings[:_MOST_OPTIONS])
    beyond = options.settings[_MOST_OPTIONS:]
    path = options.file.text.path
    file = project.module(path)
    assert file is not None
    declared = [*settings_of(file)]
    owners = {file.span_of(each.name): each.owner for each in declared}
    alone = frozenset(file.span_of(each.name) for each in declared if each.is_constant)
    found: list[EffectiveConfig] = []
    unread: dict[str, list[bool]] = {}
    giving: dict[str, list[str]] = {}
    count = passed = 0
    classes = {owner for one in left if (owner := owners.get(one.origin.span))}

    def order(program: Path) -> tuple[bool, bool, bool]:
        is_maker = not classes or any(makes(program, each, project) for each in classes)
        return not is_maker, program != path, "train" not in program.stem

    programs = sorted(programs_having(path, project, sorted(classes)), key=order)
    loading = {
        one.program: one for owner in sorted(classes) for one in module_takers(path, owner, project)
    }
    for program in (*programs, *loading):
        code = project.config_files.at(program)
        if code is None or count >= _MOST_PROGRAMS:
            continue
        run, taker = environment(program, code, None, project), loading.get(program)
        if taker is not None:
            run = replace(run, chosen={taker.name: str(path)})
        follower = _Follower(run, path, owners, alone, is_loaded=taker is not None)
        asked = [one for one in left if follower.has(one)]
        for one in asked:
            giving.setdefault(one.name, []).append(follower.giving(one))
        is_given = all(giving[one.name][-1] for one in asked)
        passed += bool(asked) and is_given
        if is_given and passed <= _MOST_PASSED:
            continue  # the defaults are in force in other programs, if in any
        count += 1
        given: list[tuple[str, Occurrence]] = []
        by_slug: dict[str, list[tuple[str, Occurrence]]] = {}
        others: list[Occurrence] = []
        general = [one for one in left if not follower.is_followed(one)]
        for one in left:
            if one in general:
                unread.setdefault(one.name, []).append(False)
                continue
            rows = list(follower.rows(one))
            unread.setdefault(one.name, []).append(not rows and follower.is_unread(one))
            given += rows
            if slug := follower.slug_of(one):  # whatever else reads it, the framework does
                by_slug.setdefault(slug, []).append((one.name, follower.with_reason(one)))
            elif not rows:
                others.append(follower.with_reason(one))
        word = f"`{taker.option}`" if taker is not None else ""
        found += _reading(given, frameworks()[_PYTORCH], code, options, word)
        left = [*general, *others]
        for slug, fields in by_slug.items():
            for reading in _reading(fields, frameworks()[slug], code, options):
                is_unread = is_left_unread(reading, [program], project)
                found.append(replace(reading, is_unread=is_unread))
    vain = [one for one in left if all(unread.get(one.name, (False,)))]
    vain += [
        one
        for one in left
        if one not in vain
        and (owner := owners.get(one.origin.span))
        and is_field_in_vain(owner, one.name, project)
    ]
    never = [
        one
        for one in left
        if one not in vain
        and (owner := owners.get(one.origin.span))
        and is_always_given(owner, one.name, project)
    ]
    idle = [_in_vain(one, NOT_READ) for one in vain]
    idle += [_in_vain(one, _ALWAYS_GIVEN) for one in never]
    found += _reading(idle, frameworks()[_PYTORCH], options.file, options)
    left = [
        replace(one, reason=said[0]) if all(said := giving.get(one.name, [""])) else one
        for one in left
        if one not in vain and one not in never
    ]
    rest = sorted(left, key=lambda one: one.origin.span)
    return Meant(tuple(found), (*rest, *beyond))


def _reading(
    given: Sequence[tuple[str, Occurrence]],
    table: Framework,
    code: ParsedConfig,
    options: Unread,
    taken_by: str = "",
) -> Iterator[EffectiveConfig]:
    """What a program makes of the options of a file, which it may be `taken_by` a word to load."""
    if given:
        rows = distinct(given)
        is_own = code.text.path == options.file.text.path
        file = code if is_own else options.file
        settings = tuple(one for _, one in given)
        source = RolesSource(
            file, options.span, None, rows, code, Span(0, 0), settings, is_declared=True
        )
        own = replace(with_keys(table, rows), conflicts=(), links=())
        yield EffectiveConfig(own, source, taken_by=taken_by)


def _in_vain(one: Occurrence, says: str) -> tuple[str, Occurrence]:
    place = one.file.text.place(one.origin.span)
    name = f"option in {place.path.name}, line {place.start.row}"
    at = Related(place, "the option")
    return name, replace(one, value=says, is_derived=True, used_at=at)


@frozen(slots=False)
class _Follower:
    """Follows the options that a file declares in one program, which runs without a word."""

    run: RunEnvironment
    path: Path
    owners: Mapping[Span, str]
    """The classes that have options as fields, by where the options are written."""
    constants: Set[Span] = frozenset()
    """Where the constants of modules are written."""
    is_loaded: bool = False
    """A word of the command line names the file: no value of it is followed."""
    _evaluators: dict[tuple[str, object], Evaluator] = field(default_factory=dict)
    _set_by: dict[str, Use] = field(default_factory=dict)
    """Where the program may set what an option is for without it."""

    @property
    def program(self) -> Program:
        return self.run.program

    @property
    def fields(self) -> GivenFields:
        return GivenFields(self.program)

    def rows(self, one: Occurrence) -> Iterator[tuple[str, Occurrence]]:
        """The places that an option is for, each with what it gets."""
        name = self._destination(one)
        if not has_default(one) or not self.has(one):
            return
        if one.origin.span in self.constants:
            yield from self._of_ends(
                one, name, ends_of(Asked(name, module=self.path), self.program), []
            )
            return
        owner = self._owner(one)
        if self._always_given(one, name) or (owner and self.fields.is_of_no_object(owner, name)):
            return
        if classes := self._classes_of(one, name):
            asked = Asked(name, classes=classes)
        elif self._is_clear(one, name):
            asked = Asked(name, home=self.path if self._is_general(one.name) else None)
        elif self._is_of_module(one, name):
            asked = Asked(name, home=self.path)
        else:
            return
        values = [] if asked.home else self._values(name)
        yield from self._of_ends(one, name, ends_of(asked, self.program), values)

    def _of_ends(
        self, one: Occurrence, name: str, ends: Ends, values: Sequence[Value]
    ) -> Iterator[tuple[str, Occurrence]]:
        used = [] if self.is_loaded else [*self._evaluated(one, name, ends, values)]
        kinds = {use.sink.kind for use in used}
        used += [
            use
            for use in self._claimed(one, name, ends)
            if not used or (use.sink.kind in OF_TRAINING and use.sink.kind not in kinds)
        ]
        yield from (of_place(use, self.run) for use in used)

    def is_unread(self, one: Occurrence) -> bool:
        """True if no code of the program asks for an option, nor another one that may have it."""
        is_vain = declared_in_vain(one.name, self.program) is not None
        return is_vain and not is_read_elsewhere(one.name, self.program)

    def giving(self, one: Occurrence) -> str:
        """That each call of the program gives a field of a class; empty if not."""
        owner = self._always_given(one, self._destination(one))
        if not (owner and has_default(one)):
            return ""
        return f"each call of {owner} in {self.program.path.name} gives it"

    def with_reason(self, one: Occurrence) -> Occurrence:
        """The option, with the reason why its default counts for nothing, if there is one."""
        other = self._set_by.get(self._destination(one))
        if other is None:
            return one
        place = other.sink.file.text.path.name
        return replace(one, reason=f"{place}, line {other.sink.node.lineno}, sets it, too")

    def slug_of(self, one: Occurrence) -> str:
        """The framework whose class of arguments has an option as a field of its own, if the
        program fills that class or one that extends it.
        """
        name = self._destination(one)
        owner = self._owner(one)
        if not owner or name in self.program.assigned or one.value is None:
            return ""
        if self._always_given(one, name) or self.fields.is_of_no_object(owner, name):
            return ""
        project = self.program.project
        filled, file = filled_by(self.program.path, project), project.module(self.path)
        kin = self.fields.kin(owner, name)
        is_filled = any(each in filled.names or self.program.calls(each) for each in kin)
        slugs = class_of_framework(owner, file, project) if file and is_filled else ()
        known = (slug for slug in sorted(slugs) if slug in filled.slugs)
        return next((slug for slug in known if name in frameworks()[slug].keys), "")

    def _destination(self, one: Occurrence) -> str:
        """The name of the attribute that holds an option."""
        declared = self.program.flags.get(one.name)
        return declared.path[-1] if declared is not None else one.name

    def _declared(self, name: str) -> Sequence[Declaration]:
        """What the program declares by a name: a parser that another program makes is none of its
        own, where one file has several.
        """
        found = (*self.program.options.get(name, ()), *self.program.constants.get(name, ()))
        if self.is_loaded:  # the file has its class in place of those that others have
            found = tuple(each for each in found if each.owner not in self.owners.values())
        return tuple(each for each in found if self.program.makes(each)) or found

    def _is_clear(self, one: Occurrence, name: str) -> bool:
        """True if one declaration alone gives the option its default, or those of one function the
        same, `--amp` and `--no-amp`: fields of classes that get it in each of their calls give it
        none.
        """
        return self._is_clear_among(self._declared(name), one, name)

    def _is_clear_among(self, declared: Sequence[Declaration], one: Occurrence, name: str) -> bool:
        own = [each for each in declared if self._is_of(one, each)]
        others = [each for each in declared if each not in own]
        giving = [each for each in own if each.is_default]
        defaults = {(repr(each.value), self._function_of(each)) for each in giving}
        flags = {each.option for each in own if each.option}
        if len(flags) > 1 and not flags <= {each.option for each in giving}:
            return False
        if self._is_handed_on(name):  # `config.dtype = args.dtype`: what it has before is no rival
            plain = self.program.constants.get(name, ())
            others = [each for each in others if each not in plain]
        if self._owner(one) and self._is_put_over_if_given(name):
            others = [each for each in others if each.owner or _has_value(each)]
        return len(defaults) <= 1 and all(self.fields.is_given(each.owner, name) for each in others)

    def _is_handed_on(self, name: str) -> bool:
        """True if the program gives a member of an object what another one has under its name."""
        stores = self.program.assigned.get(name, ())
        parents = (syntax_tree(file).parent(node) for file, node in stores)
        return any(
            isinstance(each, ast.Assign) and key_of_holder(each.value) == name for each in parents
        )

    def _is_put_over_if_given(self, name: str) -> bool:
        """True if the program puts an option over a field only where a run gives it: `if args.dtype
        is not None: config.dtype = args.dtype`.
        """
        stores = self.program.assigned.get(name, ())
        return bool(stores) and all(_is_put_over(node, name, file) for file, node in stores)

    def _is_of_module(self, one: Occurrence, name: str) -> bool:
        """True for an option of a parser that other modules of the program have as well, each for
        its own subcommand: what this one reads is its own, if no other of them mentions it.
        """
        declared = self._declared(name)
        here = [each for each in declared if each.origin.source.path == self.path]
        others = {each.origin.source.path for each in declared} - {self.path}
        if any(each.owner for each in declared) or not self.program.calls("add_subparsers"):
            return False
        if not self._is_clear_among(here, one, name):
            return False
        text = self.program.project.config_files.text
        mentions = re.compile(rf"\b{re.escape(self.path.stem)}\b")
        return bool(others) and not any(mentions.search(text(path)) for path in others)

    def _classes_of(self, one: Occurrence, name: str) -> frozenset[str]:
        """The classes whose objects have a field, its own and those that extend it without a field
        of this name, where several classes have one, and no parser: the object that is read tells
        them apart. None if the program makes no such object.
        """
        owner = self._owner(one)
        others = {each.owner for each in self._declared(name)} - {owner}
        if not owner or not others or "" in others:
            return frozenset()
        classes = self.fields.kin(owner, name)
        calls = (row for each in classes for row in self.program.calls(each))
        is_made = any(may_run(call, file, self.program) for file, call in calls)
        return classes if is_made else frozenset()

    def _function_of(self, declared: Declaration) -> Span | None:
        """The function of the file that declares an option; None at its top level."""
        file = self.program.project.module(self.path)
        assert file is not None
        at = declared.origin.span.start
        around = (
            span
            for node in file.nodes
            if isinstance(node, FunctionDefinition)
            if (span := file.span_of(node)).start <= at < span.end
        )
        return max(around, default=None, key=lambda span: span.start)

    def is_followed(self, one: Occurrence) -> bool:
        """False for a name that much of the program mentions, which says little of the option: but
        for what the program that declares it reads itself.
        """
        is_own = self.path == self.program.path and not self._owner(one)
        return is_own or not self._is_general(one.name)

    def _is_general(self, name: str) -> bool:
        return self.program.fact(("general", name), lambda: self._is_mentioned_often(name))

    def _is_mentioned_often(self, name: str) -> bool:
        texts = map(self.program.project.config_files.text, self.program.paths)
        word = re.compile(rf"\b{re.escape(name)}\b")
        mentioning = (text for text in texts if name in text and word.search(text))
        return next(islice(mentioning, _MOST_MENTIONING, None), None) is not None

    def _is_of(self, one: Occurrence, declared: Declaration) -> bool:
        is_here = declared.origin.source.path == self.path
        return is_here and declared.owner == self._owner(one)

    def has(self, one: Occurrence) -> bool:
        """False for an option of a parser that only other programs make."""
        return self.program.calls_around(self.path, one.origin.span)

    def _always_given(self, one: Occurrence, name: str) -> str:
        """The class of a field that each call of the class gives: no run has its default."""
        owner = self._owner(one)
        is_given = bool(owner and self.fields.running(owner, name)) and self.fields.is_given(
            owner, name
        )
        return owner if is_given else ""

    def _owner(self, one: Occurrence) -> str:
        """The class that has an option as a field; empty for an option of a parser."""
        return self.owners.get(one.origin.span, "")

    # What can be evaluated

    def _evaluated(
        self, one: Occurrence, name: str, ends: Ends, values: Sequence[Value]
    ) -> Iterator[Use]:
        """The places that are evaluated, and that the option is seen to decide."""
        counts: dict[str, int] = {}
        seen: set[TorchPlace] = set()
        for place in ends.places:
            is_torch = place.kind not in ("argument", "cast")
            if not is_torch or place in seen or not self._runs(place):
                continue
            seen.add(place)
            plain = use_of(place, self._evaluator(name, None))
            others = [(value, use_of(place, self._evaluator(name, value))) for value in values]
            become = ends.become(place, self._default_of(one, name), self._holds)
            use = self._of_values(one, name, plain, others, become)
            given = (plain, *(other for _, other in others))
            use = self._against_rivals(use, given, name, ends) if use is not None else None
            if use is not None and counts.get(place.kind, 0) < _MOST_OF_A_KIND:
                counts[place.kind] = counts.get(place.kind, 0) + 1
                yield use

    def _against_rivals(
        self, use: Use, given: Iterable[Use | None], name: str, ends: Ends
    ) -> Use | None:
        """What is left of a use where the program sets the same without the option."""
        others = self._rivals(use.sink, name, ends)
        found = with_rivals(use, given, others, self.program.path) if others else use
        if found is None:
            self._set_by[name] = others[0]
        return found

    def _rivals(self, place: TorchPlace, name: str, ends: Ends) -> tuple[Use, ...]:
        return tuple(rivals(place, ends.places, self._evaluator(name, None)))

    def _of_values(
        self,
        one: Occurrence,
        name: str,
        plain: Use | None,
        others: Iterable[tuple[Value, Use | None]],
        become: Become | None,
    ) -> Use | None:
        first = plain.value if plain is not None else None
        known = [(value, use) for value, use in others if use is not None and use.value is not None]
        differing = [(value, use) for value, use in known if use.value != first]
        is_read = plain is not None and any(each.name == name for each in plain.settings)
        if not differing and (first is None or not is_read):
            return None
        if first is None and not any(self._is_read(name, use) for _, use in differing):
            return None
        reached = [use for use in (plain, *(use for _, use in differing)) if use is not None]
        best = next((use for use in reached if use.value not in (None, "off")), reached[0])
        default = first
        if first is None and best.sink.kind not in _OF_DTYPES:
            default = _in_step(become, self._default(one, name))
        parts = [f"{default} by default"] if default else []
        parts += [
            f"{use.value} {self._given(one, name, value)}"
            for value, use in differing[:_MOST_VALUES]
        ]
        return Use(best.sink, "; ".join(parts), False, (one,), one, only_if=best.only_if)

    def _is_read(self, name: str, use: Use) -> bool:
        return any(each.name == name for each in use.settings)

    def _given(self, one: Occurrence, name: str, value: Value) -> str:
        """How an option gets a value: `with --use_amp`, `if false`, `with bf16`."""
        if not isinstance(value, bool):
            return f"with {value}"
        own = (each for each in self._declared(name) if self._is_of(one, each))
        flags = [each for each in own if each.kind is Kind.ARGUMENT and value is each.switches_to]
        if not flags:
            return f"if {shown(value)}"
        written = one.file.text[one.origin.span].strip("\"'")
        options = [each.option for each in flags]
        return f"with {written if written in options or not options[0] else options[0]}"

    def _made(self, one: Occurrence, name: str, claim: Claim, become: Become | None) -> str:
        """What a place gets by default, or how that is made of the default."""
        default, is_only = self._default(one, name), claim.alike == 1
        if become is None and self._default_of(one, name) is True and is_only:
            default = turned_on(claim.place) or default
        if become is None or not default:
            return f"{default} by default" if default else "its default"
        made = made_at(claim.place, become, is_only)
        if not become.by:
            return f"{made} by default"
        return f"{made}; {_in_step(become, default)} by default"

    def _default_of(self, one: Occurrence, name: str) -> object:
        """The default itself."""
        declared = [each for each in self._declared(name) if self._is_of(one, each)]
        return next((each.value for each in declared if each.is_default), one.value)

    def _default(self, one: Occurrence, name: str) -> str:
        """The default as people write it; empty if it is worked out."""
        declared = [each for each in self._declared(name) if self._is_of(one, each)]
        defaults = [each.value for each in declared if each.is_default]
        if defaults:
            return shown(defaults[0])
        return shown(one.value) if one.value is not None or "`None`" in one.reason else ""

    def _values(self, name: str) -> list[Value]:
        """The values of an option besides its default."""
        domain = next((each for each in domains(self.program) if each.name == name), None)
        if domain is None:
            return [*self._offered(name)]
        return [each for each in domain.values if each is not domain.default][: _MOST_VALUES + 1]

    def _offered(self, name: str) -> Iterator[Value]:
        """The choices of an option that names widths of weights, and no dtypes: `4bit`."""
        for each in self._declared(name):
            if isinstance(each.value, str) and not each.is_default:
                yield each.value

    def _evaluator(self, name: str, value: Value | None) -> Evaluator:
        """The evaluator of the run without a word, or of that with one value of one option."""
        key = ("", None) if value is None else (name, value)
        if key not in self._evaluators:
            run = self.run if value is None else self._supposing(name, value)
            self._evaluators[key] = Evaluator(run)
        return self._evaluators[key]

    def _supposing(self, name: str, value: Value) -> RunEnvironment:
        run = self.run
        return RunEnvironment(run.program, run.file, None, run.read, {name: value})

    def _runs(self, place: TorchPlace) -> bool:
        return not place.is_hidden and may_run(place.node, place.file, self.program)

    # What is not

    def _claimed(self, one: Occurrence, name: str, ends: Ends) -> Iterator[Use]:
        """The places that the ways of the option lead to, with the default as it is written."""
        places = [
            place
            for place in ends.places
            if self._runs(place) and not _is_of_another_switch(place, name)
            if not self._rivals(place, name, ends)
        ]
        for claim in claims_of(ends, places, name, one, self._evaluator(name, None)):
            if claim.kept_by is None:
                become = ends.become(claim.place, self._default_of(one, name), self._holds)
                text = self._made(one, name, claim, become)
                only_if = claim.only_if or (become.only_if if become is not None else "")
                yield Use(claim.place, text, False, (one,), one, alike=claim.alike, only_if=only_if)

    def _holds(self, test: ast.expr, file: ParsedPython) -> bool | None:
        """Whether a condition holds in the run without a word, or by the only default of what it
        asks for.
        """
        holds = self._evaluator("", None).truth(test, file)
        if holds is None and isinstance(test, ast.Attribute | ast.Subscript):
            name = key_of_holder(test)
            defaults = [each.value for each in self._declared(name) if each.is_default]
            is_set = name in self.program.assigned
            if not is_set and len(defaults) == 1 and isinstance(defaults[0], bool):
                return defaults[0]
        return holds


def _in_step(become: Become | None, default: str) -> str:
    """What a default is in an expression that decides with something else: `--no-amp` is false by
    default, and `not args.no_amp` in `not args.no_amp and is_cuda` is true.
    """
    is_known = become is not None and become.by and become.value is not None
    return shown(become.value) if become is not None and is_known else default


def _is_of_another_switch(place: TorchPlace, name: str) -> bool:
    """True for a place that a branch for another switch has: `elif args.load_in_4bit` after
    `if args.load_in_8bit`.
    """
    inner: ast.AST = place.node
    tests: list[ast.expr] = []
    for parent in syntax_tree(place.file).within_function(place.node):
        if isinstance(parent, ast.If) and inner in parent.body:
            tests.append(parent.test)
        elif isinstance(parent, ast.If) and inner in parent.orelse and _reads(parent.test, name):
            return bool(tests) and not any(_reads(test, name) for test in tests)
        inner = parent
    return False


def _has_value(declared: Declaration) -> bool:
    """True for what has a default of its own, and for what chooses between values without one."""
    return declared.is_default and declared.value is not None


def _is_put_over(target: ast.AST, name: str, file: ParsedPython) -> bool:
    """True for `config.dtype = args.dtype` under a condition that asks for `args.dtype`."""
    syntax = syntax_tree(file)
    statement = syntax.parent(target)
    if not isinstance(statement, ast.Assign) or key_of_holder(statement.value) != name:
        return False
    match syntax.parent(statement):
        case (
            ast.If(test=ast.Compare(left=asked, ops=[ast.IsNot()]), body=body)
            | ast.If(test=asked, body=body)
        ):
            return statement in body and ast.dump(asked) == ast.dump(statement.value)
    return False


def _reads(test: ast.expr, name: str) -> bool:
    return any(
        isinstance(each, ast.Name | ast.Attribute | ast.Subscript) and key_of_holder(each) == name
        for each in walk(test)
    )
