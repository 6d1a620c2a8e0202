"""Where a setting goes in a program, by its name: from where it is read to a place that it is for.

What a setting comes to needs the object that holds it, and every step that is taken with it. Which
place it is for needs less: `config.bit` is read, a method looks it up in a table, the result is
kept in `self.dtype`, and that is the `dtype` of a call. The shortest such way counts.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from precision_lint.facts.frameworks.recognition import calls_pattern
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.around_reads import (
    after_exit,
    is_chosen,
    is_of_one_object,
    is_of_state,
    is_of_tensors,
    is_parsed,
    is_within,
    made_by,
    makes_object,
    nested,
    says_nothing,
    scope_of,
)
from precision_lint.facts.runs.code.asked_scalers import asked_for, makes_scaler
from precision_lint.facts.runs.code.becoming import Asking, Become, Step, Way, become, ways_back
from precision_lint.facts.runs.code.built_tables import keys_built
from precision_lint.facts.runs.code.classes_by_text import named_beside
from precision_lint.facts.runs.code.entered import assigns_one_of, computed_in_both, entered
from precision_lint.facts.runs.code.holders import Holders, classes_of_sections
from precision_lint.facts.runs.code.kept_scalers import without_kept, without_uses
from precision_lint.facts.runs.code.other_names import filled_names, gets_settings
from precision_lint.facts.runs.code.plain_records import is_plain_field
from precision_lint.facts.runs.code.read_constants import reads_of_constant
from precision_lint.facts.runs.code.replaced import put_in_place
from precision_lint.facts.runs.code.sections_read import section_of
from precision_lint.facts.runs.code.tables_given import Tables
from precision_lint.facts.runs.code.taking_calls import (
    holds_them,
    is_display,
    is_of_apex,
    is_of_library,
    is_precise_key,
    is_telling,
    kept_for_loading,
    takes_by_position,
    takes_object,
    takes_settings,
    unpacked,
)
from precision_lint.facts.runs.code.torch_sinks import LOADERS, TorchPlace, torch_places
from precision_lint.facts.runs.code.unpacked_later import unpacked_later
from precision_lint.facts.runs.code.ways import (
    commands,
    decided,
    definitions,
    functions_meant,
    key_of_holder,
    members,
    option_before,
    places_within,
    spread,
)
from precision_lint.facts.runs.formats.configurators import execution
from precision_lint.facts.runs.interpreter.classes import record
from precision_lint.facts.runs.interpreter.inherited import (
    initializers,
    initializers_above,
    initializers_of,
)
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.settings import holds_settings
from precision_lint.facts.settings.vocabulary import may_choose_precision
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import enclosing_class, given_by_position
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import (
    callee_name,
    compared_with_texts,
    dotted,
    last_name,
    named_parameters,
    qualified,
)
from precision_lint.source.python.syntax_tree import Scope, syntax_tree

_MOST_STEPS = 1_500
_MOST_DEFINITIONS = 3
"""Functions of one name that are followed."""
_MOST_CALLS = 24
_MOST_PLACES = 24
"""Places of one setting that are looked at."""
_SAME = frozenset({"lower", "upper", "strip", "casefold", "replace", "split", "removeprefix"})
"""Methods that leave a name nearly as it is."""
_HANDING_ON = frozenset({"str", "bool", "int", "getattr", "eval", "instantiate"})
"""Functions whose result says what they are given."""
_CASTING = frozenset({"to", "astype", "set_dtype"})
"""Methods of torch, JAX and MLX that cast something."""
_OF_DTYPE = regex(r"dtype|precision", re.IGNORECASE)
_Read: TypeAlias = "tuple[ast.expr, ParsedPython]"


@frozen(slots=False)
class Asked:
    """A setting by its name in the program.

    `others` are the sections of other settings with this name: what holds it tells them apart.
    `names` are those by which a program may call the whole file, if it is one of several.
    `modules` are the texts beside it, which may name the module that reads it, and `words` those of
    its command, which may name the function. `owner` is the class or function that gets it as an
    argument, if that is known. `passed` are the functions and classes that do not run. A field of
    `classes` is read of what is seen to be an object of theirs only, and an option of a parser that
    other modules have as well in its `home` only. A constant is read where its `module` is
    imported. `is_onward` says that the value was given to a call or assigned under this name.
    """

    name: str
    section: str = ""
    others: frozenset[str] = frozenset()
    names: frozenset[str] | None = None
    modules: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    owner: str = ""
    passed: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    home: Path | None = None
    module: Path | None = None
    is_onward: bool = False


@frozen(slots=False)
class Ends:
    """Where the ways of a setting end: at places that it may be for, the nearest first, and at
    reads of which it is `unknown` what they are for. `ways` are those that change its value.
    """

    places: tuple[TorchPlace, ...]
    unknown: tuple[_Read, ...]
    ways: Mapping[object, tuple[Way, ...]] = field(default_factory=dict)

    def become(self, place: TorchPlace, value: object, asking: Asking) -> Become | None:
        """What a value comes to at a place; None if nothing is seen to change it."""
        return become(self.ways.get(_key(place), ()), value, asking)


def ends_of(asked: Asked, program: Program) -> Ends:
    """Where the ways of a setting end in a program."""
    flow = _Flow(program, is_precise=may_choose_precision(asked.name))
    places = without_kept([*islice(flow.of(asked), _MOST_PLACES)], program)
    places = without_uses(places)
    keys = dict.fromkeys(map(_key, places))
    ways = {key: ways_back(key, flow.back, flow.starts) for key in keys}
    known = {key: found for key, found in ways.items() if found is not None and any(found)}
    return Ends(places, tuple(flow.unknown), known)


def _key(place: TorchPlace) -> object:
    """What tells places apart: one that is made for each way is the same."""
    return place.kind, id(place.node), place.subject


def first_read(asked: Asked, program: Program) -> tuple[ast.expr, ParsedPython] | None:
    """Where a program reads a setting, first of what is called settings; None if it is not seen
    to.
    """
    reads = [*_Flow(program)._starts(asked)]
    named = (read for read in reads if holds_settings(last_name(_holder_of(read[0]))))
    return next(named, None) or next(iter(reads), None)


def _holder_of(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Attribute | ast.Subscript) else node


@frozen(slots=False)
class _Flow:
    program: Program
    is_precise: bool = False
    """The name of the setting says that it is about precision."""
    _seen: set[int] = field(default_factory=set)
    _entered: dict[FunctionDefinition, list[_Read]] = field(default_factory=dict)
    """The functions that get the value, with the calls that give it: what they return of it is
    there, and in no other call.
    """
    _climbed: set[tuple[str, FunctionDefinition]] = field(default_factory=set)
    unknown: list[_Read] = field(default_factory=list)
    starts: set[object] = field(default_factory=set)
    back: dict[object, list[tuple[object, Step | None]]] = field(default_factory=dict)
    """What leads to a read or a place, each with what it makes of the value."""

    @property
    def _tables(self) -> Tables:
        return Tables(self._results, self._of_self, self._given_to)

    def _given_to(self, name: str, call: ast.Call, file: ParsedPython) -> Iterator[_Read]:
        """Where the functions that a call means read one of their parameters."""
        for home, function in self._functions(callee_name(call), call, file):
            if any(each.arg == name for each in named_parameters(function.args)):
                yield from self._reads(function, name, home)

    def of(self, asked: Asked) -> Iterator[TorchPlace]:
        if put_in_place(asked.name, self.program) is not None:
            return
        pending = deque(self._starts(asked))
        is_apart = bool(asked.classes or asked.home or asked.module)
        whole = () if is_apart else (*self._handed_on(asked), *self._given_whole(asked))
        for found in whole:
            if isinstance(found, TorchPlace):
                self.starts.add(_key(found))
                yield found
            else:
                pending.append(found)
        self.starts.update(id(node) for node, _ in pending)
        for _ in range(_MOST_STEPS):
            if not pending:
                return
            node, file = pending.popleft()
            if id(node) in self._seen:
                continue
            self._seen.add(id(node))
            onward = [*self._onward(node, file)]
            is_end = onward or says_nothing(node, file) or self._is_entered(node, file)
            if not is_end:
                self.unknown.append((node, file))
            for found, step in onward:
                key = _key(found) if isinstance(found, TorchPlace) else id(found[0])
                self.back.setdefault(key, []).append((id(node), step))
                if isinstance(found, TorchPlace):
                    yield found
                else:
                    pending.append(found)

    def _defining(self, name: str) -> Iterator[tuple[ParsedPython, FunctionDefinition]]:
        """The functions of the program with a name; of classes, their `__init__`."""
        project = self.program.project
        for path in self.program.paths if name else ():
            text = project.config_files.text(path)
            is_defined = f"def {name}(" in text or f"class {name}" in text
            if is_defined and (file := project.module(path)) is not None:
                yield from ((file, function) for function in definitions(file).get(name, ()))

    def _spreading(self, section: str) -> Iterator[ParsedPython]:
        """The files of the program that may hand on a section, or a whole file to a framework."""
        project = self.program.project
        for path in self.program.paths:
            text = project.config_files.text(path)
            if "**" in text and (section in text if section else _takes(path, project)):
                file = project.module(path)
                if file is not None:
                    yield file

    def _starts(self, asked: Asked) -> Iterator[_Read]:
        """Where the program reads the setting from what holds its settings, or declares it as a
        parameter of a function that the command line calls.
        """
        if asked.module is not None:
            yield from reads_of_constant(asked.name, asked.module, self.program)
            return
        if asked.owner:
            home = self.program.project.module(self.program.path)
            own = definitions(home).get(asked.owner, ()) if home is not None else ()
            made = [(home, function) for function in own if home is not None]
            for file, function in made or initializers_of(asked.owner, self.program):
                yield from self._parameter(asked.name, function, file)
            return
        found = [
            (node, file)
            for file in self.program.mentioning(asked.name)
            for node, holder in members(file).get(asked.name, ())
            if asked.home in (None, file.text.path) and self._may_hold(node, holder, asked, file)
            if not is_within(node, file, asked.passed)
        ]
        named = [read for read in found if self._is_named(read[1], asked.modules)]
        yield from named or found
        if asked.classes or asked.home:
            return
        yield from self._globals(asked)
        for file in self.program.mentioning(asked.name) if not asked.others and not named else ():
            taking = [
                (name, function)
                for name, function in commands(file)
                if function.args.kwarg is not None
                or any(each.arg == asked.name for each in named_parameters(function.args))
            ]
            for _, function in [row for row in taking if row[0] in asked.words] or taking:
                yield from self._parameter(asked.name, function, file)

    def _globals(self, asked: Asked) -> Iterator[_Read]:
        """The reads of a global variable that the words of the command line override."""
        file = self.program.project.module(self.program.path)
        if file is not None and execution(file, self.program.project) is not None:
            yield from self._reads(syntax_tree(file).tree, asked.name, file)

    def _handed_on(self, asked: Asked) -> Iterator[TorchPlace | _Read]:
        """What gets the section of a setting as a whole: `Trainer(**config["trainer"])`.

        A whole file is handed on to a framework, `TrainingArguments(**config)`, or to many things.
        """
        for file in self._spreading(asked.section):
            for call, holder in spread(file):
                key = key_of_holder(holder)
                is_section = bool(asked.section) and key == asked.section
                is_section = is_section and (bool(callee_name(call)) or self._is_alone(call, key))
                is_whole = not asked.section and not asked.others and holds_settings(key)
                is_whole = is_whole and not section_of(holder, file)
                built = keys_built(holder, file) if is_whole else None
                is_whole = is_whole and (built is None or asked.name in built)
                if not is_section and not (is_whole and takes_settings(call, file)):
                    continue
                functions = self._functions(callee_name(call), call, file)
                for home, function in functions:
                    yield from self._parameter(asked.name, function, home)
                if not functions and not self._lacks(asked.name, callee_name(call)):
                    yield from unpacked(call, asked.name, holder, file)

    def _is_alone(self, call: ast.Call, section: str) -> bool:
        """True if no other call of something that a section names gets the entries of one of that
        name: `load(config["target"])(**config["params"])`.
        """
        return not any(
            each is not call and not callee_name(each) and key_of_holder(holder) == section
            for file in self._spreading(section)
            for each, holder in spread(file)
        )

    def _given_whole(self, asked: Asked) -> Iterator[TorchPlace]:
        """The functions of libraries that get an object of settings, and read this one of it."""
        for file in self.program.mentioning("get_quantization_config") if not asked.owner else ():
            for call in syntax_tree(file).calls("get_quantization_config"):
                place = takes_object(call, asked.name, file)
                if place is not None:
                    yield place

    def _lacks(self, name: str, owner: str) -> bool:
        """True for a class of settings without such a field: what it gets is chosen before."""
        kind = record(owner, self.program)
        return kind is not None and all(each.name != name for each in kind.fields)

    def _is_named(self, file: ParsedPython, modules: frozenset[str]) -> bool:
        """True for a file whose folder or name is a text among the settings: `app: vjepa_droid`."""
        path = file.text.path.relative_to(self.program.project.root)
        return not modules.isdisjoint((*path.parent.parts, path.stem))

    def _may_hold(self, node: ast.expr, holder: ast.expr, asked: Asked, file: ParsedPython) -> bool:
        """True for an object that may hold the setting: `x.dtype` is that of a tensor."""
        name = key_of_holder(holder)
        if is_of_tensors(node, holder) or is_of_state(holder):
            return False
        if self._is_of_another_section(node, holder, asked, file):
            return False
        if asked.classes:
            known = Holders(self.program.mentioning, declared=True).of(holder, file).classes
            return bool(known) and known <= asked.classes
        if asked.others and asked.section:
            is_section = name == asked.section or is_chosen(holder)
            return is_section or self._is_section(asked.section, holder, file)
        if name in asked.others:
            return False
        if not isinstance(node, ast.Attribute):
            return True
        if name != "self":
            is_other_name = isinstance(holder, ast.Name) and self._names_settings(holder, file)
            is_holder = holds_settings(name.removesuffix("s")) or holds_settings(name)
            is_holder = is_holder or name == asked.section or is_other_name
            is_holder = is_holder or name in filled_names(self.program)
            return is_holder or self._is_of_class(asked, holder, file)
        syntax = syntax_tree(file)
        owner = next((one for one in syntax.around(holder) if isinstance(one, ast.ClassDef)), None)
        if owner is None or record(owner.name, self.program) is None:
            return False
        return asked.is_onward or not is_plain_field(owner.name, asked.name, self.program)

    def _is_of_another_section(
        self, node: ast.expr, holder: ast.expr, asked: Asked, file: ParsedPython
    ) -> bool:
        """True for a read of a section that the setting is not in. An option of a command line may
        be a field of any object, and is no key of a table.
        """
        if asked.names is None and isinstance(node, ast.Attribute):
            return False
        section = section_of(holder, file)
        known = (asked.section, *asked.others, *(asked.names or ()))
        return bool(section) and section not in known

    def _is_section(self, section: str, holder: ast.expr, file: ParsedPython) -> bool:
        """True for what stands for a section of the settings, or is of the class of one."""
        found = Holders(self.program.mentioning).of(holder, file)
        if section in found.sections:
            return True
        return bool(found.classes) and any(
            not found.classes.isdisjoint(classes_of_sections(other).get(section, ()))
            for other in self.program.mentioning(section)
        )

    def _is_of_class(self, asked: Asked, holder: ast.expr, file: ParsedPython) -> bool:
        """True for an object of a class of settings with such a field, or a section of that class:
        `config.training` of `training: TrainingConfig`.
        """
        found = Holders(self.program.mentioning).of(holder, file)
        sections = {
            owner
            for section in found.sections
            for other in self.program.mentioning(section)
            for owner in classes_of_sections(other).get(section, ())
        }
        return any(
            self._is_field(asked.name, each)
            and (asked.is_onward or not is_plain_field(each, asked.name, self.program))
            for each in found.classes | sections
        )

    def _names_settings(self, holder: ast.Name, file: ParsedPython) -> bool:
        """True for another name of settings: `short = self.training_settings`."""
        syntax = syntax_tree(file)
        if gets_settings(holder, file, self.program):
            return True
        stores = syntax.stores(syntax.function(holder) or syntax.tree, holder.id)
        if any(is_parsed(store, syntax) for store in stores):
            return True
        values = [
            statement.value
            for store in stores
            if isinstance(statement := syntax.parent(store), ast.Assign)
        ]
        return len(values) == 1 and (
            isinstance(values[0], ast.Attribute | ast.Name) and holds_settings(last_name(values[0]))
        )

    def _onward(
        self, node: ast.expr, file: ParsedPython
    ) -> Iterator[tuple[TorchPlace | _Read, Step | None]]:
        """The places that a value decides at an expression, and where it goes from there, each with
        what changes the value.
        """
        match syntax_tree(file).parent(node):
            case ast.If(test=test, body=body, orelse=orelse) as parent if test is node:
                computed = computed_in_both(parent, file)
                for statement in (*body, *nested(body), *orelse):
                    is_computed = assigns_one_of(statement, computed)
                    chosen = places_within if is_computed else self._chosen
                    for found in chosen(statement, file):
                        is_place = isinstance(found, TorchPlace) and _is_in(found, statement)
                        if is_place and self._is_asked_again(node, found, statement, file):
                            continue
                        is_place = is_place or makes_scaler(statement, file)
                        yield found, Step(node, parent, file, statement, has_place=is_place)
                for statement in after_exit(parent, file):
                    for place in places_within(statement, file):
                        if place.part:
                            yield place, Step(node, parent, file, statement, has_place=True)
                return
            case ast.IfExp(test=test, body=body, orelse=orelse) as parent if test is node:
                for branch in (body, orelse):
                    inside = {id(each) for each in walk(branch)}  # and not around it in its line
                    for place in places_within(branch, file):
                        if id(place.node) in inside:
                            yield place, Step(node, parent, file, branch, has_place=True)
        for found in self._next(node, file):
            yield found, None if isinstance(found, TorchPlace) else made_by(node, found[0], file)

    def _is_asked_again(
        self, test: ast.expr, found: TorchPlace | _Read, statement: ast.stmt, file: ParsedPython
    ) -> bool:
        """True for a place in a statement that asks for the value again: what decides is there, in
        `if a and b: raise …` with `elif b:`.
        """
        reads = {ast.dump(each) for each in walk(test) if id(each) in self._seen}
        at = found.node if isinstance(found, TorchPlace) else found[0]
        tests = (
            parent.test
            for parent in syntax_tree(file).within_function(at)
            if isinstance(parent, ast.If) and _is_within(parent, statement)
        )
        return any(ast.dump(each) in reads for test in tests for each in walk(test))

    def _next(self, node: ast.expr, file: ParsedPython) -> Iterator[TorchPlace | _Read]:
        """The same, but for what a condition decides."""
        if (place := decided(file).get(node)) is not None:
            yield place
            return
        syntax = syntax_tree(file)
        parent = syntax.parent(node)
        match parent:
            case ast.keyword(arg=name):
                call = syntax.parent(parent)
                if isinstance(call, ast.Call) and name is not None and is_display(call):
                    yield from self._entry(call, name, file)
                elif isinstance(call, ast.Call) and name is not None:
                    yield from self._given(node, call, name, file)
                elif isinstance(call, ast.Call) and takes_settings(call, file):
                    subject = f"{callee_name(call)}(**)"
                    yield TorchPlace("argument", call, file, node, subject=subject)
            case ast.Call(func=function) if function is not node:
                yield from self._given(node, parent, parent.args.index(node), file)
            case ast.Call(func=function, args=[], keywords=[]) if function is node:
                yield parent, file  # `args.kind()`, a member of an enumeration
            case ast.Attribute(attr="value" | "name"):
                yield parent, file
            case ast.Attribute(attr=method) if method in _SAME:
                call = syntax.parent(parent)
                if isinstance(call, ast.Call):
                    yield call, file
            case ast.Subscript(slice=key) if key is node:
                yield parent, file
            case ast.BoolOp() | ast.Compare() | ast.UnaryOp() | ast.IfExp():
                if not (isinstance(parent, ast.IfExp) and is_of_one_object(node, parent, file)):
                    yield parent, file
            case ast.Match(cases=cases):
                for case in cases:
                    for statement in case.body:
                        yield from self._chosen(statement, file)
            case ast.Assign() | ast.AnnAssign() | ast.NamedExpr() | ast.Return():
                yield from self._kept(parent, file)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                yield from option_before(node, items, file)
                if isinstance(parent, ast.Tuple):
                    yield from self._of_several(parent, items.index(node), file)
            case ast.Dict(keys=keys, values=values) if node in values:
                match keys[values.index(node)]:
                    case ast.Constant(value=str(name)):
                        yield from self._entry(parent, name, file)

    def _chosen(self, statement: ast.stmt, file: ParsedPython) -> Iterator[TorchPlace | _Read]:
        """What a condition decides: the places in a statement, and what it assigns or returns."""
        yield from places_within(statement, file)
        match statement:
            case ast.Assign() if makes_scaler(statement, file):
                yield from asked_for(statement, file, self._functions)
            case ast.Assign(value=ast.Call() as call) if makes_object(call):
                pass  # `scaler = Scaler()`: what gets it gets no setting
            case ast.Assign(targets=[ast.Name()], value=ast.Call() as call) if not _OF_DTYPE.search(
                callee_name(call)
            ):
                pass  # `count = quantize(model)`
            case ast.Assign(value=ast.Constant(value=int() | float() as number)) if not isinstance(
                number, bool
            ):
                pass  # `replaced = 0` counts something
            case ast.Assign(value=ast.Constant(value=str(text))):
                for read in self._kept(statement, file):
                    yield from self._with_text(text, read)
            case ast.Assign() | ast.AnnAssign() | ast.Return():
                yield from self._kept(statement, file)

    def _with_text(self, text: str, read: TorchPlace | _Read) -> Iterator[TorchPlace | _Read]:
        """Where a text goes that is chosen: to the branch for it, if it is compared with texts."""
        if isinstance(read, TorchPlace):
            yield read
            return
        node, file = read
        syntax = syntax_tree(file)
        test = syntax.parent(node)
        compared = compared_with_texts(test) if isinstance(test, ast.Compare) else None
        if test is None or compared is None:
            yield read
            return
        _, texts, is_positive = compared
        around = syntax.parent(test)
        if isinstance(around, ast.BoolOp) and isinstance(around.op, ast.And):
            around = syntax.parent(around)
        if not isinstance(around, ast.If):
            yield read
        elif (text in texts) is is_positive:
            for statement in around.body:
                yield from self._chosen(statement, file)

    def _given(
        self, node: ast.expr, call: ast.Call, argument: str | int, file: ParsedPython
    ) -> Iterator[TorchPlace | _Read]:
        """What a call does with an argument."""
        name = callee_name(call)
        is_named = isinstance(argument, str) and (
            may_choose_precision(argument) or is_precise_key(argument, call, file)
        )
        if name == "partial" and call.args and is_named:
            name = last_name(call.args[0])
            if not self._functions(name, call, file):
                yield TorchPlace("argument", call, file, node, subject=f"{name}({argument}=)")
                return
        elif isinstance(argument, str) and (
            is_of_apex(call, file) or (is_named and takes_settings(call, file))
        ):
            yield TorchPlace("argument", call, file, node, subject=f"{name}({argument}=)")
            return
        if takes_by_position(node, call, file):
            path = qualified(call.func, syntax_tree(file).names)
            yield TorchPlace("argument", call, file, node, subject=f"{path}()")
            return
        if name in _CASTING and isinstance(call.func, ast.Attribute):
            subject = dotted(call.func.value) or "a tensor"
            yield TorchPlace("cast", call, file, node, subject=subject)
            return
        functions = self._functions(name, call, file)
        is_of_names = name in _HANDING_ON or _OF_DTYPE.search(name)
        if not functions and (is_of_names or (name == "get" and argument == 0)):
            yield call, file
            return
        for home, function in functions:
            yield from self._taken(
                argument, function, home, None if makes_object(call) else (call, file)
            )
        if not functions and isinstance(argument, str) and self._is_field(argument, name):
            yield from self._starts(Asked(argument, is_onward=True))
        if not functions and isinstance(argument, int):
            argument = self._name_of_parameter(argument, name, call)
        if is_telling(call, file) or not isinstance(argument, str):
            return
        # What the switches of its own functions do is seen inside of them.
        is_own = functions or self.program.classes(name)
        is_choice = may_choose_precision(argument) or (
            self.is_precise and is_of_library(call, file)
        )
        if _OF_DTYPE.search(argument) or (is_choice and not is_own):
            yield TorchPlace("argument", call, file, node, subject=f"{name}({argument}=)")

    def _is_field(self, name: str, owner: str) -> bool:
        kind = record(owner, self.program)
        return kind is not None and any(each.name == name for each in kind.fields)

    def _functions(
        self, name: str, call: ast.Call, file: ParsedPython
    ) -> list[tuple[ParsedPython, FunctionDefinition]]:
        """The functions of the program that a call may mean; of a class, its `__init__`."""
        match call.func:
            case ast.Attribute(value=ast.Name(id="self")) if own := definitions(file).get(name):
                return [(file, function) for function in own]
        if found := functions_meant(call, file, self.program.project):
            return found
        found = [*islice(self._defining(name), _MOST_DEFINITIONS + 1)]
        found = found or initializers(call, file, self.program)
        return found if len(found) <= _MOST_DEFINITIONS else []

    def _name_of_parameter(self, at: int, name: str, call: ast.Call) -> str | int:
        """What all functions that a call may mean call an argument, if they are too many to follow:
        `family.create(config, dtype)`.
        """
        names = set()
        for file, function in self._defining(name):
            parameters = given_by_position(function, syntax_tree(file))
            names.add(parameters[at] if at < len(parameters) else "")
        is_clear = len(names) == 1 and not any(isinstance(each, ast.Starred) for each in call.args)
        return names.pop() or at if is_clear else at

    def _taken(
        self,
        argument: str | int,
        function: FunctionDefinition,
        file: ParsedPython,
        call: _Read | None,
    ) -> Iterator[_Read]:
        if isinstance(argument, str):
            yield from self._parameter(argument, function, file, call)
            return
        names = given_by_position(function, syntax_tree(file))
        if argument < len(names):
            yield from self._parameter(names[argument], function, file, call)

    def _parameter(
        self,
        name: str,
        function: FunctionDefinition,
        file: ParsedPython,
        call: _Read | None = None,
    ) -> Iterator[_Read]:
        if any(each.arg == name for each in named_parameters(function.args)):
            self._entered.setdefault(function, []).extend([call] if call is not None else [])
            yield from self._reads(function, name, file)
        elif (rest := function.args.kwarg) is not None:  # `kwargs.get("scaler")`
            within = {id(each) for each, _ in self._reads(function, rest.arg, file)}
            for node, holder in members(file).get(name, ()):
                if id(holder) in within:
                    yield node, file
            yield from self._above(name, rest.arg, function, file)

    def _above(
        self, name: str, rest: str, function: FunctionDefinition, file: ParsedPython
    ) -> Iterator[_Read]:
        """The parameter of the class above, to which a class hands on what it does not take itself:
        `super().__init__(*args, **kwargs)`.
        """
        if (name, function) in self._climbed or _changes(rest, name, function, file):
            return
        self._climbed.add((name, function))
        for call, holder in spread(file):
            is_handed_on = isinstance(holder, ast.Name) and holder.id == rest
            if is_handed_on and syntax_tree(file).function(call) is function:
                for home, above in initializers_above(call, file, self.program):
                    yield from self._parameter(name, above, home)

    def _reads(self, scope: Scope, name: str, file: ParsedPython) -> Iterator[_Read]:
        for each in syntax_tree(file).reads(scope, name):
            if isinstance(each, ast.Name):
                yield each, file

    def _kept(self, statement: ast.AST, file: ParsedPython) -> Iterator[TorchPlace | _Read]:
        """Where a value is read again that a statement assigns or returns."""
        syntax = syntax_tree(file)
        match statement:
            case ast.Return():
                function = syntax.function(statement)
                if isinstance(function, FunctionDefinition):
                    entered = self._entered.get(function)
                    yield from self._results(function) if entered is None else entered
                return
            case ast.Assign(targets=targets):
                pass
            case ast.AnnAssign(target=single) | ast.NamedExpr(target=single):
                targets = [single]
            case _:
                return
        for target in targets:
            match target:
                case ast.Name(id=name):
                    yield from self._reads(scope_of(target, file), name, file)
                case ast.Attribute(value=ast.Name(id="self"), attr=name):
                    yield from self._of_self(name, target, file)
                    if self._is_of_settings(target, file):
                        yield from self._starts(Asked(name, is_onward=True))
                case ast.Attribute(value=holder, attr=name):
                    yield from self._starts(Asked(name, last_name(holder), is_onward=True))
                case ast.Subscript(value=ast.Name(id=table), slice=ast.Constant(value=str(key))):
                    yield from self._spread(table, key, target, file)
                    if holds_settings(table):
                        yield from self._starts(Asked(key, table, is_onward=True))
            if isinstance(target, ast.Subscript) and isinstance(statement, ast.Assign):
                yield from self._tables.put(target, "", statement, file)

    def _of_several(self, values: ast.Tuple, at: int, file: ParsedPython) -> Iterator[_Read]:
        """Where one of several values is read that a statement assigns or returns together:
        `return dtype, device`.
        """
        statement = syntax_tree(file).parent(values)
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=targets)]):
                yield from self._bound_at(targets, at, len(values.elts), file)
            case ast.Return():
                for found in self._kept(statement, file):
                    if isinstance(found, tuple):
                        match syntax_tree(found[1]).parent(found[0]):
                            case ast.Assign(targets=[ast.Tuple(elts=targets)]):
                                yield from self._bound_at(targets, at, len(values.elts), found[1])

    def _bound_at(
        self, targets: Sequence[ast.expr], at: int, count: int, file: ParsedPython
    ) -> Iterator[_Read]:
        target = targets[at] if len(targets) == count else None
        if isinstance(target, ast.Name):
            yield from self._reads(scope_of(target, file), target.id, file)

    def _of_self(self, name: str, target: ast.expr, file: ParsedPython) -> Iterator[_Read]:
        """The reads of a member of `self`: in its file, and in the classes that its class extends,
        or that extend it.
        """
        owner = enclosing_class(target, syntax_tree(file))
        above = {last_name(base) for base in owner.bases} if owner is not None else set()
        for other in self.program.mentioning(name):
            syntax = syntax_tree(other)
            for node, holder in members(other).get(name, ()):
                if not isinstance(holder, ast.Name) or holder.id != "self":
                    continue
                kin = enclosing_class(node, syntax) if other is not file else None
                is_kin = (
                    kin is not None
                    and owner is not None
                    and (kin.name in above or owner.name in map(last_name, kin.bases))
                )
                if other is file or is_kin:
                    yield node, other

    def _is_entered(self, node: ast.expr, file: ParsedPython) -> bool:
        """True for a region of autocast that a function of the program makes, where it is entered:
        `with autocast_of(args.amp):`. The place is in the function.
        """
        return any(
            isinstance(made, ast.Call) and self._makes_region(made, file)
            for made in entered(node, file)
        )

    def _makes_region(self, call: ast.Call, file: ParsedPython) -> bool:
        """True for the call of a function of the program that has a region."""
        return any(
            place.kind == "autocast"
            and function.lineno <= place.node.lineno <= (function.end_lineno or 0)
            for home, function in self._functions(callee_name(call), call, file)
            for place in torch_places(home)
        )

    def _is_of_settings(self, member: ast.expr, file: ParsedPython) -> bool:
        """True for a member of a class that holds settings, which others read from its objects."""
        owner = enclosing_class(member, syntax_tree(file))
        return owner is not None and holds_them(owner.name)

    def _results(self, function: FunctionDefinition) -> Iterator[_Read]:
        """Where what a function returns is used: its calls, or the reads of a property."""
        is_property = any(
            last_name(each) in ("property", "cached_property") for each in function.decorator_list
        )
        count = 0
        for file in self.program.mentioning(function.name):
            calls = syntax_tree(file).calls(function.name)
            reads = [node for node, _ in members(file).get(function.name, ())]
            for node in reads if is_property else calls:
                if is_property and self._is_of_another_class(node, function, file):
                    continue
                count += 1
                if count > _MOST_CALLS:
                    return
                yield node, file

    def _is_of_another_class(
        self, read: ast.expr, function: FunctionDefinition, file: ParsedPython
    ) -> bool:
        """True for `self.kind` in a class with a property of its own of this name, which the class
        of the function does not extend.
        """
        match read:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                owner = enclosing_class(read, syntax_tree(file))
            case _:
                return False
        if owner is None or function in owner.body:
            return False
        own = (each.name for each in owner.body if isinstance(each, FunctionDefinition))
        if name not in own:
            return False
        of_function = (
            each
            for home in self.program.mentioning(function.name)
            for each in home.nodes
            if isinstance(each, ast.ClassDef) and function in each.body
        )
        return not any(last_name(base) == owner.name for each in of_function for base in each.bases)

    def _entry(self, table: ast.expr, key: str, file: ParsedPython) -> Iterator[TorchPlace | _Read]:
        """The entry of a display: it is an argument where the display is unpacked."""
        syntax = syntax_tree(file)
        named = [*named_beside(table, file, self.program)]
        for home, function in named:
            yield from self._parameter(key, function, home)
        if named:
            return
        yield from self._tables.of(table, key, None, file)
        match syntax.parent(table):
            case ast.keyword(arg=None) as spread:
                yield from unpacked(syntax.parent(spread), key, table, file)
            case ast.keyword() | ast.Assign(targets=[ast.Attribute()]):
                yield from kept_for_loading(table, key, file)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield from self._spread(name, key, table, file)

    def _spread(
        self, table: str, key: str, near: ast.expr, file: ParsedPython
    ) -> Iterator[TorchPlace | _Read]:
        """`load(name, **table)`, after an entry was put into the table."""
        syntax = syntax_tree(file)
        for read, _ in self._reads(syntax.function(near) or syntax.tree, table, file):
            match syntax.parent(read):
                case ast.keyword(arg=None) as spread:
                    call = syntax.parent(spread)
                    yield from unpacked(call, key, read, file)
                    if isinstance(call, ast.Call) and self._is_field(key, callee_name(call)):
                        yield from self._starts(Asked(key, is_onward=True))
                case ast.keyword() as given:
                    functions = unpacked_later(near, given, file, self.program)
                    for home, function in functions:
                        yield from self._parameter(key, function, home)
                    yield from () if functions else kept_for_loading(read, key, file)
                case ast.Assign():
                    yield from kept_for_loading(read, key, file)


def _changes(table: str, key: str, function: FunctionDefinition, file: ParsedPython) -> bool:
    """True for a function that takes an entry out of a table, or puts another one there."""
    syntax = syntax_tree(file)
    for each in syntax.reads(function, table):
        parent = syntax.parent(each)
        match parent:
            case ast.Subscript(slice=ast.Constant(value=str(given)), ctx=ast.Store() | ast.Del()):
                if given == key:
                    return True
            case ast.Attribute(attr="pop" | "update" | "setdefault" as method):
                call = syntax.parent(parent)
                first = call.args[0] if isinstance(call, ast.Call) and call.args else None
                if method == "update" or not isinstance(first, ast.Constant) or first.value == key:
                    return True
    return bool(syntax.stores(function, table))


def _is_within(inner: ast.stmt, statement: ast.stmt) -> bool:
    first, last = statement.lineno, statement.end_lineno or 0
    return first <= inner.lineno and (inner.end_lineno or 0) <= last


def _is_in(place: TorchPlace, statement: ast.stmt) -> bool:
    """True for a place in a statement itself, and not where what it assigns goes."""
    return statement.lineno <= place.node.lineno <= (statement.end_lineno or 0)


def _takes(path: Path, project: Recording) -> bool:
    """True for a file that mentions a framework's call, or one that loads a network."""

    def compute() -> bool:
        text = project.config_files.text(path)
        return any(map(text.__contains__, LOADERS)) or re.search(calls_pattern(), text) is not None

    return project.config_files.once(("mentions a taker", path), compute)
