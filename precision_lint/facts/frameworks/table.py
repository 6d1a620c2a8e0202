"""A framework: which settings it reads, from where, and how it interprets them.

Each framework has one TOML file under `precision_lint/facts/frameworks/tables`, which states facts
of its source and no code; docs/frameworks.md explains the format. `_generated/frameworks.json` is
what is loaded: the same tables, written by scripts/generate.py, because reading TOML takes a
hundred times as long.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from precision_lint.model.finding import Applicability, Confidence, Severity
from precision_lint.model.frozen import frozen

Form: TypeAlias = Literal["mapping", "call", "command", "launcher", "environment"]
Kind: TypeAlias = Literal["boolean", "text", "number", "path", "any"]
Role: TypeAlias = Literal[
    "compute", "weights", "gradients", "reduce", "save", "eval", "cache", "quant", "scaling",
    "matmul", "optimizer", "other",
]  # fmt: skip
Verdict: TypeAlias = Literal["error", "ignored", "harmful"]


_COMPILED = Path(__file__).parent / "_generated" / "frameworks.json"


class TableError(ValueError):
    """A table contains something that the format does not allow. The message names file and key."""


@frozen
class Recognizer:
    """One way in which settings reach the framework, and how it is recognized.

    A mapping or a command belongs to the framework if it has one of `own` at least, `enough` of
    `own` and `shared` together, and none of `foreign`; names are dotted from the root.
    """

    form: Form
    own: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    enough: int = 1
    foreign: tuple[str, ...] = ()
    anywhere: bool = False
    """The mapping may lie at any depth of a file; else it is a whole document."""
    in_python: bool = False
    """Dicts in Python files may also be such mappings."""
    callees: tuple[str, ...] = ()
    """Of calls in Python: the last part of the name, or the whole of it."""
    takes: tuple[str, ...] = ()
    """Of calls in Python: the arguments that hold the settings; none if they are settings."""
    programs: tuple[str, ...] = ()
    """Of commands: patterns for the file, the module or the first two words of what is started."""
    mentions: tuple[str, ...] = ()
    """For commands: words of which the program must contain one; its file is in the project."""
    parses: tuple[str, ...] = ()
    """For commands: classes of which the program's HfArgumentParser makes one of its options, `*`
    for a part of a name; its file is in the project.
    """
    files: tuple[str, ...] = ()
    """Patterns for the name of the file; any if there are none."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Of environments: which key a variable sets."""
    arguments: str = ""
    """Of environments: the variable that holds further command-line words."""


@frozen
class Key:
    """A setting. Its name is the dotted path from the root of what the framework reads."""

    name: str
    role: Role = "other"
    kind: Kind = "text"
    default: object = None
    """What an absent key means; None if that is unknown."""
    aliases: tuple[str, ...] = ()
    """Other names of the same setting; the first that is written counts."""
    means: Mapping[str, object] = field(default_factory=dict)
    """Other spellings of a value, in lower case: `bfloat16 = "bf16"`."""
    instead: str = ""
    """The setting that is read instead of this one, its old name."""


@frozen
class Link:
    """Another configuration that takes part in the run, as `name:key` in conditions."""

    name: str
    to: str
    """The framework that reads it; "self" for a further file of the same settings."""
    key: str = ""
    """The setting that holds its path, or the configuration itself."""
    positional: str = ""
    """A pattern for the word of the command that is its path."""
    suffix: str = ""
    """The ending of the file's name, if the setting leaves it out."""
    launcher: bool = False
    """The options before the program of a command."""
    environment: bool = False
    """It is the environment that the command gets."""
    program: bool = False
    """It is the program that the command starts: see `facts/frameworks/programs.py`."""
    merges: bool = False
    """What is not said here is taken from there."""
    fills: tuple[str, ...] = ()
    """Settings that are set there if they are absent: no default, no `aliases` count for them."""
    needs: Mapping[str, object] = field(default_factory=dict)
    """Settings of which one has its value, if any of them is said: else nobody reads it."""


@frozen
class Test:
    """What must certainly hold for a setting; unknown never does."""

    one_of: tuple[object, ...] = ()
    none_of: tuple[object, ...] = ()
    present: bool | None = None
    """Whether it is written at all, with any value."""
    differs_from: str = ""
    """The key of another setting whose value is known to be another."""
    equals: str = ""
    """The key of another setting whose value is known to be the same."""
    beside: str = ""
    """The key of another setting that is written in the same file."""
    type: Literal["", "string", "text", "boolean", "integer", "float", "mapping"] = ""
    """The type that the format's loader gives the value; `text` is a string, and no dtype of torch
    that code names.
    """
    above: float | None = None
    below: float | None = None
    matches: str = ""
    """A regular expression for the whole of a text."""


@frozen
class Repair:
    """What a fix writes: which settings go, which get another value, which are added."""

    remove: tuple[str, ...] = ()
    set: Mapping[str, object] = field(default_factory=dict)
    floats: tuple[str, ...] = ()
    """Settings that are written as integers, and shall be floats."""
    join: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Options with one of these values after a blank: `--name= value`."""
    message: str = ""
    safety: Applicability = Applicability.SAFE


@frozen
class Conflict:
    """A combination of settings, and what the framework does with it."""

    rule: str
    """The name of the rule that reports it."""
    verdict: Verdict
    message: str
    """What is wrong; `{key}` is replaced by its value."""
    says: str
    """The framework's own message, word for word, or what really happens."""
    source: str
    """Where its source says so."""
    when: Mapping[str, Test] = field(default_factory=dict)
    unless: Mapping[str, Test] = field(default_factory=dict)
    """Each of these alone prevents the conflict."""
    unknown_in: str = ""
    """A section in which only the keys in `known` are allowed."""
    known: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    """Of the unknown keys of the section, report these alone."""
    by_trainer: bool = False
    """One of the `trainers` does it: a program that makes the settings alone never gets there."""
    at: tuple[str, ...] = ()
    """Where it is reported, the best place first; by default the keys of `when`, in order."""
    since: str = ""
    before: str = ""
    """The releases of the library that do this: from `since` on, before `before`."""
    severity: Severity = Severity.ERROR
    confidence: Confidence = Confidence.HIGH
    repair: Repair | None = None

    def allows(self, name: str) -> bool:
        """True for a key that the section `unknown_in` may have."""
        return name in self.known or bool(self.only and name not in self.only)


@frozen
class Framework:
    """All that is known of one framework."""

    slug: str
    name: str
    library: str
    source: str
    """The snapshot that the facts were read from."""
    ways: tuple[Recognizer, ...]
    keys: Mapping[str, Key]
    links: tuple[Link, ...]
    conflicts: tuple[Conflict, ...]
    aliases: tuple[str, ...] = ()
    """Other names that the library is installed under."""
    extends: str = ""
    """The framework whose keys, links and conflicts this one also has."""
    flat: bool = False
    """Sections of a file only sort its keys: what they are called means nothing."""
    negation: str = ""
    """What an option starts with that switches another off: `no_` in `--no_bf16`."""
    switches: Mapping[str, bool] = field(default_factory=dict)
    """How the words of a command line are read as booleans, in lower case."""
    assignments: bool = False
    """Words of a command line such as `bf16=true` are also settings."""
    pairs: bool = False
    """Two words of a command line such as `SOLVER.AMP.ENABLED True` are also settings."""
    reach: tuple[str, ...] = ()
    """Names of which a program must reach one that has a parser of its own; `*` stands for a part.

    Where the program is in the project, its options alone do not show who reads them.
    """
    makes: tuple[str, ...] = ()
    """Names of which a file that reaches it must hold one as well, to read settings: it may only
    take a helper of the library.
    """
    program_keys: tuple[str, ...] = ()
    """Keys that none of its classes has, in files with fields of these: the program that gets them
    decides what they do. A framework that extends this one does not inherit them.
    """
    own_sections: tuple[str, ...] = ()
    """Sections of its files from which it reads keys of its own alone, whatever else is there."""
    trainers: tuple[str, ...] = ()
    """Names of classes and functions that do what the settings say."""
    readers: tuple[str, ...] = ()
    """Names of what may read the settings of its classes: a program with none of them makes objects
    of the classes, and nothing that reads these.
    """

    def filled(self, names: Collection[str]) -> Framework:
        """The framework where something else sets some settings, unless they are written."""
        if not names:
            return self
        keys = dict(self.keys)
        for key in (self.keys[name] for name in names):
            keys[key.name] = replace(key, default=None, aliases=())
            for other in key.aliases:
                keys[other] = replace(keys.get(other, Key(other)), instead=key.name)
        return replace(self, keys=keys)


@lru_cache(maxsize=1)
def frameworks() -> Mapping[str, Framework]:
    """Every framework by its slug, inherited facts included."""
    tables = json.loads(_COMPILED.read_text("utf-8"))
    found = {slug: framework(slug, table) for slug, table in tables.items()}
    return {slug: _inherited(one, found) for slug, one in found.items()}


def _inherited(one: Framework, all_of_them: Mapping[str, Framework]) -> Framework:
    if not one.extends:
        return one
    if one.extends not in all_of_them:
        raise TableError(f"{one.slug}: extends {one.extends!r}, which is no framework")
    base = _inherited(all_of_them[one.extends], all_of_them)
    names = {link.name for link in one.links}
    return replace(
        one,
        keys={**base.keys, **one.keys},
        links=(*one.links, *(link for link in base.links if link.name not in names)),
        conflicts=(*one.conflicts, *base.conflicts),
        negation=one.negation or base.negation,
        switches=one.switches or base.switches,
        reach=one.reach or base.reach,
        makes=one.makes or (() if one.reach else base.makes),
        trainers=one.trainers or base.trainers,
        readers=one.readers or base.readers,
    )


def framework(slug: str, table: Mapping[str, Any]) -> Framework:
    """The framework that a table describes.

    Raises:
        TableError: the table has a key, a type or a value that the format does not know.
    """
    reader = _Reader(slug)
    if unknown := _MADE & table.keys():
        raise reader.error("the table", f"unknown key {min(unknown)!r}")
    rest = {key: value for key, value in table.items() if key not in _PARTS}
    keys = {name: reader.key(name, row) for name, row in table.get("keys", {}).items()}
    conflicts = tuple(reader.conflict(row) for row in table.get("conflict", ()))
    made: Framework = reader.make(
        Framework,
        {
            **rest,
            "slug": slug,
            "ways": tuple(reader.make(Recognizer, row, "read") for row in table.get("read", ())),
            "keys": {**keys, **_of_sections(keys, conflicts)},
            "links": tuple(reader.make(Link, row, "link") for row in table.get("link", ())),
            "conflicts": conflicts,
        },
        "the table",
    )
    return made


def _of_sections(keys: Mapping[str, Key], conflicts: Sequence[Conflict]) -> Mapping[str, Key]:
    """Keys for what a section is known to have, where no row says more of it."""
    known = {*keys, *(alias for key in keys.values() for alias in key.aliases)}
    names = (f"{one.unknown_in}.{name}" for one in conflicts for name in one.known)
    return {name: Key(name, kind="any") for name in names if name not in known}


_PARTS = frozenset({"read", "keys", "link", "conflict"})
_MADE = frozenset({"slug", "ways", "links", "conflicts"})
_SEVERITIES = {"error": Severity.ERROR, "ignored": Severity.WARNING, "harmful": Severity.WARNING}


class _Reader:
    """Creates the parts of one table; errors name the place."""

    def __init__(self, slug: str) -> None:
        self.slug = slug

    def error(self, where: str, problem: str) -> TableError:
        return TableError(f"{self.slug}.toml: {where}: {problem}")

    def make(self, of: Any, row: Mapping[str, Any], where: str) -> Any:
        known = {each.name for each in fields(of)}
        named = {name.replace("-", "_"): value for name, value in row.items()}
        if unknown := named.keys() - known:
            raise self.error(where, f"unknown key {min(unknown)!r}")
        try:
            made = of(**{name: _frozen(value) for name, value in named.items()})
        except TypeError as error:
            raise self.error(where, str(error)) from None
        for name, allowed in _CHOICES.items():
            value = getattr(made, name, None)
            if name in known and value is not None and value not in allowed:
                raise self.error(where, f"{name} = {value!r} is none of {', '.join(allowed)}")
        return made

    def key(self, name: str, row: Mapping[str, Any]) -> Key:
        where = f"keys.{name!r}"
        if "name" in row:
            raise self.error(where, "unknown key 'name'")
        made: Key = self.make(Key, {"name": name, **row}, where)
        return made

    def conflict(self, row: Mapping[str, Any]) -> Conflict:
        where = f"conflict {row.get('message', '')!r}"
        row = dict(row)
        for part in ("when", "unless"):
            row[part] = {key: self.test(value, where) for key, value in row.get(part, {}).items()}
        row.setdefault("severity", row.get("verdict", "error"))
        row["severity"] = _SEVERITIES.get(row["severity"]) or self.enum(
            Severity, row["severity"], where
        )
        row["confidence"] = self.enum(Confidence, row.get("confidence", "high"), where)
        if "repair" in row:
            repair = dict(row["repair"])
            repair["safety"] = self.enum(Applicability, repair.get("safety", "safe"), where)
            row["repair"] = self.make(Repair, repair, where)
        made: Conflict = self.make(Conflict, row, where)
        return made

    def enum(self, of: Any, name: str, where: str) -> Any:
        try:
            return of[name.upper()]
        except KeyError:
            raise self.error(where, f"{name!r} is no {of.__name__.lower()}") from None

    def test(self, value: Any, where: str) -> Test:
        """A literal matches itself, a list any of its items."""
        match value:
            case {"not": unwanted}:
                rest = {key: each for key, each in value.items() if key != "not"}
                items = unwanted if isinstance(unwanted, list) else [unwanted]
                made: Test = self.make(Test, {**rest, "none_of": items}, where)
            case dict():
                made = self.make(Test, value, where)
            case list():
                made = Test(one_of=tuple(value))
            case _:
                made = Test(one_of=(value,))
        return made


_CHOICES: dict[str, tuple[str, ...]] = {
    "form": get_args(Form),
    "kind": get_args(Kind),
    "role": get_args(Role),
    "verdict": get_args(Verdict),
}


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
