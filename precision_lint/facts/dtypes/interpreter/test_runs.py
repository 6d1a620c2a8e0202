"""The runs of a test: what `pytest.mark.parametrize` gives to its parameters.

Of several dtypes, a test is judged in the run with the one that hurts most: bfloat16 or float8.
That run happens, so it decides conditions, too. Only dtypes are taken from there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from precision_lint.facts.dtypes.domain.lattice import join_all
from precision_lint.facts.dtypes.domain.values import Dtype, Tensor, Value
from precision_lint.facts.dtypes.syntax.definitions import Function
from precision_lint.model.dtypes import BFLOAT16, FLOAT8
from precision_lint.source.python.syntax import callee_name

_PARAMETRIZE = "parametrize"
"""The decorator of pytest, and that of torch's own tests, which reads the same."""

_OF_ONE_RUN = "param"
"""`pytest.param(value, marks=…)`: marks may skip the run, or say that it fails."""

_NARROW = (BFLOAT16, *sorted(FLOAT8))


def is_parametrized(definition: Function) -> bool:
    """True for a test with a table of values for its parameters."""
    return any(_tables(definition))


def given_by_runner(definition: Function, name: str) -> list[ast.expr]:
    """The values that the runs of a test give to a parameter, as far as they are written out."""
    for names, rows in _tables(definition):
        if name in names:
            position = names.index(name) if len(names) > 1 else None
            values = (_value(row, position) for row in rows)
            return [value for value in values if value is not None]
    return []


def in_a_run(name: str, values: list[Value]) -> Dtype | None:
    """The dtype that a parameter has in the run that is judged: one of several if none is narrow.

    None if the parameter is no dtype.
    """
    dtypes = [_named(name, value) for value in values if isinstance(value, Dtype)]
    for narrow in _NARROW:
        for dtype in dtypes:
            if dtype.must_be(frozenset({narrow})):
                return dtype
    joined = join_all(dtypes)
    return joined if isinstance(joined, Dtype) and len(dtypes) == len(values) else None


def is_of_run(value: Value) -> bool:
    """True for a dtype, or a tensor of a dtype, that the run of a test decides."""
    return (
        isinstance(value, Dtype | Tensor)
        and value.origin is not None
        and value.origin.kind == "test"
        and not value.is_open
    )


def decided_by_run(definition: Function | None, env: Mapping[str, Value]) -> Mapping[str, Value]:
    """The variables of a test that have what its runner gave it."""
    if definition is None or not is_parametrized(definition):
        return {}
    return {name: value for name, value in env.items() if is_of_run(value)}


def _named(name: str, dtype: Dtype) -> Dtype:
    """A dtype as what a run of the test has under a name."""
    if dtype.origin is None:
        return dtype
    text = f"`{name}` is {' or '.join(sorted(dtype.dtypes))} in a run of this test"
    return replace(dtype, origin=replace(dtype.origin, text=text, kind="test"))


def _tables(definition: Function) -> Iterator[tuple[list[str], list[ast.expr]]]:
    """The names and the rows of values of each decorator of a test, and of its class."""
    of_class = [] if definition.owner is None else definition.owner.node.decorator_list
    for decorator in (*definition.decorators, *of_class):
        match decorator:
            case ast.Call(args=[names, ast.List(elts=rows) | ast.Tuple(elts=rows), *_]) if (
                callee_name(decorator) == _PARAMETRIZE
            ):
                yield _names(names), rows


def _names(names: ast.expr) -> list[str]:
    """`"dtype, size"`, `("dtype", "size")`."""
    match names:
        case ast.Constant(value=str(text)):
            return [each.strip() for each in text.split(",")]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [str(item.value) if isinstance(item, ast.Constant) else "" for item in items]
    return []


def _value(row: ast.expr, position: int | None) -> ast.expr | None:
    """What a row gives to one name; None if the run may be left out, or the value is not seen."""
    items = [row]
    if isinstance(row, ast.Call) and callee_name(row) == _OF_ONE_RUN:
        if any(each.arg != "id" for each in row.keywords):
            return None
        items = row.args
    elif position is not None:
        items = row.elts if isinstance(row, ast.Tuple | ast.List) else []
    index = position or 0
    return items[index] if index < len(items) else None
