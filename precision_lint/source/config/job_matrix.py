"""The combinations of a job's matrix in a workflow, and the scripts that are read under each.

`${{ matrix.precision }}` is a variable of the same length where a shell reads the script, so that
each word stands where it is written, and its value where the matrix lists it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product

from precision_lint.model.regex import regex
from precision_lint.source.config.settings_tree import Mapping as Tree
from precision_lint.source.config.settings_tree import Scalar, Sequence, Value
from precision_lint.source.shell.variables import Assigned
from precision_lint.source.shell.words import Text

Combination = Mapping[str, Assigned]

_MOST = 16
"""Combinations of one job that are followed."""
_ASKED = regex(r"\$\{\{\s*matrix\.([A-Za-z_][\w-]*)\s*\}\}")
_SPECIAL = ("include", "exclude")


def combinations(job: Tree, text: str) -> tuple[Combination, ...]:
    """What the matrix of a job gives in each of its runs; nothing where it is not known."""
    strategy = job.get("strategy")
    if strategy is None or not isinstance(strategy.entry.value, Tree):
        return ()
    matrix = strategy.entry.value.get("matrix")
    if matrix is None or not isinstance(matrix.entry.value, Tree):
        return ()
    tree = matrix.entry.value
    lists = {
        entry.name: entry.value
        for entry in tree.entries
        if entry.name is not None and entry.name not in _SPECIAL
    }
    if any(not isinstance(each, Sequence) for each in lists.values()):
        return ()  # `${{ fromJSON(…) }}`: any number of them
    axes = [
        [(name, _assigned(item, text)) for item in items.items]
        for name, items in lists.items()
        if isinstance(items, Sequence)
    ]
    whole = islice(product(*axes), _MOST) if axes else ()
    excluded = list(_rows(tree, "exclude", text))
    found = [dict(row) for row in whole]
    found = [one for one in found if not any(_agrees(one, row, row) for row in excluded)]
    return tuple(_extended(found, lists, list(_rows(tree, "include", text))))


def _extended(
    found: list[dict[str, Assigned | None]],
    axes: Iterable[str],
    rows: list[dict[str, Assigned | None]],
) -> Iterator[Combination]:
    """The combinations with the rows of `include`: one that overwrites no value of the matrix is
    added to what it fits; any other is a combination of its own.
    """
    own = [dict(each) for each in found]
    more = []
    for row in rows:
        fits = [whole for one, whole in zip(found, own, strict=True) if _agrees(one, row, axes)]
        for whole in fits:
            whole |= row
        more += [] if fits else [row]
    for one in [*own, *more][:_MOST]:
        yield {name: value for name, value in one.items() if value is not None}


def _agrees(
    one: Mapping[str, Assigned | None], row: Mapping[str, Assigned | None], names: Iterable[str]
) -> bool:
    """True if a combination has the values of a row, as far as both have some of these names."""
    both = [name for name in names if name in row and name in one]
    return all(_text(one[name]) == _text(row[name]) for name in both)


def _text(value: Assigned | None) -> str | None:
    return value.text.chars if value is not None else None


def _rows(tree: Tree, name: str, text: str) -> Iterator[dict[str, Assigned | None]]:
    listed = tree.get(name)
    value = listed.entry.value if listed is not None else None
    for item in value.items if isinstance(value, Sequence) else ():
        if isinstance(item, Tree):
            yield {
                entry.name: _assigned(entry.value, text)
                for entry in item.entries
                if entry.name is not None
            }


def _assigned(value: Value, text: str) -> Assigned | None:
    """A plain value at its place; None for an expression or a list."""
    if not isinstance(value, Scalar) or value.value is None:
        return None
    written = value.value if isinstance(value.value, str) else text[slice(*value.span)].strip()
    start = text.find(written, *value.span)
    if start < 0 or "${{" in written:
        return None
    return Assigned(value.span, Text(written, tuple(range(start, start + len(written)))))


def of_value(written: str, combination: Combination) -> Assigned | None:
    """What `env: {PRECISION: "${{ matrix.precision }}"}` gives, as it is written."""
    match = _ASKED.fullmatch(written.strip("\"' \n"))
    return combination.get(match[1]) if match is not None else None


def with_variables(content: str, combination: Combination) -> tuple[str, Mapping[str, Assigned]]:
    """A script with variables for what a combination gives, and their values.

    A shell does not look into single quotes, and `${{ … }}` is replaced before it: that is left.
    """
    given: dict[str, Assigned] = {}

    def variable(match: re.Match[str]) -> str:
        value = combination.get(match[1])
        line = content.rfind("\n", 0, match.start()) + 1
        if value is None or content.count("'", line, match.start()) % 2:
            return match[0]
        name = match[1].replace("-", "_").ljust(len(match[0]) - 3, "_")
        given[name] = value
        return f"${{{name}}}"

    return _ASKED.sub(variable, content), given
