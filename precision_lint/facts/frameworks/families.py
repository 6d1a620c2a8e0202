"""Which framework of a family reads a file that only its keys identify.

`SFTConfig` of TRL extends `TrainingArguments` of transformers, and a file for the one looks like a
file for the other. What the programs at hand call decides. Where it may be either of them, they are
named together, and what they do not agree on is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from precision_lint.facts.frameworks.recognition import ancestors, any_of
from precision_lint.facts.frameworks.table import Framework, frameworks
from precision_lint.facts.project.facts import Recording


def family(framework: Framework) -> tuple[Framework, ...]:
    """A framework, and those that extend it and have classes of their own for its settings."""
    return (framework, *(frameworks()[slug] for slug in _extending(framework.slug)))


def above(framework: Framework) -> tuple[Framework, ...]:
    """Those that a framework with classes for its settings extends, if they have some as well."""
    if not is_of_classes(framework):
        return ()
    return tuple(frameworks()[slug] for slug in ancestors(framework) if _classes(slug))


def is_of_classes(framework: Framework) -> bool:
    """True if a framework is that of classes which programs fill, and no program itself."""
    return bool(_classes(framework.slug))


def named_by(
    kin: Iterable[Framework], programs: Sequence[Path], project: Recording
) -> Iterator[Framework]:
    """Those of some frameworks whose classes are named by one of some programs, or, if there are
    none, anywhere in the project.
    """
    for one in kin:
        names = any_of(_classes(one.slug))
        if programs:
            is_named = any(project.reaches(path, names) for path in programs)
        else:
            is_named = bool(project.python_sources_matching(names.encode()))
        if is_named:
            yield one


def any_of_family(framework: Framework, found: Iterable[Framework]) -> Framework:
    """What reads a file with the keys of a framework, if some of its family may."""
    first, *others = [*found] or [framework]
    if not others:
        return first
    keys = dict(first.keys)
    for other in others:
        for name, key in other.keys.items():
            if name in keys and keys[name].default != key.default:
                keys[name] = replace(key, default=None)
    return replace(first, name=" or ".join((first.name, *(one.name for one in others))), keys=keys)


@lru_cache(maxsize=64)
def _extending(slug: str) -> tuple[str, ...]:
    """The frameworks that extend one and have classes of their own that a program calls."""
    return tuple(
        other for other, one in frameworks().items() if slug in ancestors(one) and _classes(other)
    )


@lru_cache(maxsize=64)
def _classes(slug: str) -> tuple[str, ...]:
    """The names of what takes the settings of a framework in a call."""
    ways = (way for way in frameworks()[slug].ways if way.form == "call" and not way.takes)
    return tuple(sorted({name.rpartition(".")[2] for way in ways for name in way.callees}))
