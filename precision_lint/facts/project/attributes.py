"""Attributes of `self` that nothing in the project gives to an object."""

from __future__ import annotations

import ast
import re

from precision_lint.facts.project.callees import has_class_below, lineage, method_of_self
from precision_lint.facts.project.facts import Recording
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Definition
from precision_lint.source.python.syntax import innermost_name

_WITHOUT_ATTRIBUTES = frozenset({"ABC", "object", "Protocol", "Generic"})
"""Bases that give their objects no attributes that code reads."""

_OF_CLASSES = frozenset({*dir(type), "register"})
"""What `type` and `ABCMeta` give to classes."""

_GIVING_ATTRIBUTES = regex(
    r"__getattr|setattr(?:__)?\(|__dict__|\bvars\((?:self)?\)|__slots__|\blocals\(\)"
)
_WORD = regex(r"\w+")

_MOST = 60
"""Files that are looked at."""


def has_no_such_attribute(node: ast.Attribute, file: ParsedPython, project: Recording) -> bool:
    """True for `self.name` that no class around, and nothing else in the project, has."""
    if not (isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load)):
        return False
    found = method_of_self(node.value, file)
    if found is None or project.is_alone or node.attr.startswith("__") or node.attr in _OF_CLASSES:
        return False
    if node.attr in _given_names(file):
        return False
    owner, method = found
    every = [*lineage(owner, file, project)]
    if not all(_shows_attributes(kind, home) for kind, home in every):
        return False
    last, _ = every[-1]
    if not {*map(innermost_name, last.bases)} <= _WITHOUT_ATTRIBUTES:
        return False
    return not (
        has_class_below(owner, project, mixed=True)
        or _is_for_others(owner, method, project)
        or _may_be_given(node.attr, project)
    )


def _shows_attributes(owner: ast.ClassDef, home: ParsedPython) -> bool:
    """False for a class whose objects may get attributes that no statement names."""
    text = home.text[home.span_of(owner)]
    return not (owner.decorator_list or owner.keywords or _GIVING_ATTRIBUTES.search(text))


def _is_for_others(owner: ast.ClassDef, method: Definition, project: Recording) -> bool:
    """True for `Other.forward = Owner.forward`, and `other.__class__ = Owner`."""
    names = re.escape(owner.name).encode(), re.escape(method.name).encode()
    taken = rb"\b%b\.%b\b" % names
    given = rb"\.__class__[ \t]*=[^=\n]*\b%b\b" % names[0]
    return project.python_source_matches(taken) or project.python_source_matches(given)


def _may_be_given(name: str, project: Recording) -> bool:
    """True if a file has a name that may become one of an attribute, and not only reads it."""
    word = rb"\b%b\b" % re.escape(name).encode()
    paths = project.python_sources_matching(word)
    for path in paths[:_MOST]:
        module = project.module(path)
        if module is None or name in _given_names(module):
            return True
    return len(paths) > _MOST or project.other_file_matches(word)


@fact
def _given_names(file: ParsedPython) -> frozenset[str]:
    """All names in a file but those of attributes that are read."""
    found: set[str] = set()
    for node in file.nodes:
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.keyword(arg=str() as name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.update((name, other or name))
            case ast.Constant(value=str() as text):
                found.update(_WORD.findall(text.strip("-").replace("-", "_")))
    return frozenset(found)
