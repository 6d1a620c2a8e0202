"""What configuration files give to the fields of records that a program fills from them.

`Sampling(**cfg["sampling"])` takes the keys of a section. `setattr(config, key, value)` in a loop
puts the keys of a file over the defaults, those of a section into the record that a field holds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace

from precision_lint.facts.dtypes.domain.values import UNKNOWN, Constant, Instance, Value
from precision_lint.facts.dtypes.interpreter import defaults
from precision_lint.facts.dtypes.interpreter.configuration import Configuration
from precision_lint.facts.dtypes.interpreter.sections import said_of, section_of
from precision_lint.facts.dtypes.syntax.definitions import Class, Module
from precision_lint.facts.origin import Setting
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex

_FILLING = regex(
    r"\bsetattr\(\s*([\w.]+),\s*(?![\s\"'])"
    r"|\bvars\(([\w.]+)\)\s*(?:\.update\(|\|=)"
    r"|([\w.]+)\.__dict__\s*(?:\.update\(|\|=)"
)
"""What assigns attributes by names that are not in the source, with the object."""
_FILLING_WORDS = ("setattr(", "vars(", "__dict__")


def of_section(
    configuration: Configuration, module: Module, node: ast.Call, name: str
) -> Setting | None:
    """What `Config(**cfg["section"])` gives to a field; None if no file has the section."""
    for keyword in node.keywords:
        if keyword.arg is None and (section := section_of(keyword.value)):
            return said_of(configuration.key(module, section, name))
    return None


def in_section(
    configuration: Configuration, module: Module, section: str, names: Iterable[str]
) -> tuple[tuple[str, Value], ...]:
    """The fields of a record that is made of a section; empty if files say nothing of any."""
    said = {name: said_of(configuration.key(module, section, name)) for name in names}
    if not any(said.values()):
        return ()
    return tuple((name, one or UNKNOWN) for name, one in said.items())


def filled(
    configuration: Configuration, definition: Class, fields: Mapping[str, Value]
) -> Mapping[str, Value]:
    """The defaults of a record, and of the records in them, under what files put over them.

    They are left as they are where nothing assigns attributes of it by computed names.
    """
    if not _is_filled(definition):
        return fields
    module = definition.module
    return {name: _filled(configuration, module, name, value) for name, value in fields.items()}


def _is_filled(definition: Class) -> bool:
    """True if a method of the class, or a function of its module, assigns by computed names.

    Methods of other classes assign attributes of their own objects.
    """
    places = _places_that_fill(definition.module)
    if not places:
        return False
    own = definition.module.file.span_of(definition.node)
    return any(not is_of_self or own.start <= place < own.end for place, is_of_self in places)


@fact
def _places_that_fill(module: Module) -> tuple[tuple[int, bool], ...]:
    """Where a module assigns attributes by computed names, and whether the object is `self`."""
    text = module.file.text.text
    if not any(word in text for word in _FILLING_WORDS):
        return ()
    return tuple((found.start(), "self" in found.groups()) for found in _FILLING.finditer(text))


def _filled(configuration: Configuration, module: Module, name: str, value: Value) -> Value:
    match value:
        case Constant() if defaults.names_dtype(value):
            said = said_of(configuration.option(module, name))
            return said if said is not None and _is_at_top(said) else value
        case Instance(fields=inner) if inner:
            return replace(
                value,
                fields=tuple(
                    (each, said_of(configuration.key(module, name, each)) or held)
                    if isinstance(held, Constant) and defaults.names_dtype(held)
                    else (each, held)
                    for each, held in inner
                ),
            )
    return value


def _is_at_top(setting: Setting) -> bool:
    """True for an option, and for a key that is in no section."""
    given = (choice.origin.witness for choice in setting.choices)
    return all(one is None or "." not in one.setting for one in given)
