"""Classes that a table chooses among: `TRAINERS = {"plain": Trainer, "amp": AmpTrainer}`.

A configuration in bfloat16 that chooses another class of the table makes no scaler of this one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.facts.amp.scaling.offer import Offer
from precision_lint.facts.amp.scaling.users import Users
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.syntax.definitions import Class, module_of
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.project.discovery import kind_of
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import syntax_tree

_CONFIGURATIONS = frozenset({"yaml", "json", "toml"})


def chooses_another(offer: Offer, node: ast.Call, file: PythonFile) -> bool:
    """True if a file with an offer names no key of the class that makes a scaler by a call."""
    path = offer.related.place.path
    if kind_of(path) not in _CONFIGURATIONS:
        return False
    owner = enclosing_class(node, syntax_tree(file))
    definition = None if owner is None else module_of(file).top.get(owner.name)
    keys = set(_keys_of(definition, file)) if isinstance(definition, Class) else set()
    text = file.project.config_files.text(path)
    return bool(keys) and not any(_is_value(key, text) for key in keys)


def _keys_of(definition: Class, file: PythonFile) -> Iterator[str]:
    """The keys by which tables of the project have a class."""
    for other in Users(Program(file)).of(definition, definition.name):
        for table in other.nodes_of(ast.Dict):
            for key, value in zip(table.keys, table.values, strict=True):
                match key:
                    case ast.Constant(value=str(name)) if last_name(value) == definition.name:
                        yield name


def _is_value(key: str, text: str) -> bool:
    """True if some setting of a configuration has a value."""
    value = rf"[:=]\s*[\"']?{re.escape(key)}[\"']?\s*(?:[,}}\]#]|$)"
    return re.search(value, text, re.M) is not None
