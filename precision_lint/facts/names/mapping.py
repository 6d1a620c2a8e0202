"""Where code turns the name of a precision into a dtype, and takes another dtype than it names.

A table (`{"bf16": torch.float16, "fp32": torch.float32}`) or a chain of comparisons (`if name ==
"bf16": dtype = torch.float16`) names dtypes if another entry of it is right, or if two entries are
exchanged. A name of 16 bits that stands for float32 is no mistake: some devices and operators need
that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.model.dtypes import ALIASES, BFLOAT16, FLOAT16, FLOAT32
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_NAMED: Mapping[str, str] = {
    "bf16": BFLOAT16, "bfloat16": BFLOAT16, "torch.bfloat16": BFLOAT16,
    "fp16": FLOAT16, "float16": FLOAT16, "half": FLOAT16, "torch.float16": FLOAT16,
    "fp32": FLOAT32, "float32": FLOAT32, "float": FLOAT32, "torch.float32": FLOAT32,
}  # fmt: skip
_HALF = frozenset({BFLOAT16, FLOAT16})


@frozen
class Entry:
    """A name, where it is written, the dtype that it names, and the one that it stands for."""

    name: str
    key: ast.expr
    named: str
    dtype: str
    value: ast.expr

    @property
    def is_right(self) -> bool:
        return self.named == self.dtype

    @property
    def is_wrong(self) -> bool:
        """True for another dtype of 16 bits than the named one, or for 16 bits instead of 32."""
        return not self.is_right and self.dtype in _HALF


@frozen
class WrongEntry:
    """An entry with another dtype than its name says, and a right one beside it, if any."""

    entry: Entry
    right: Entry | None


@fact
def wrong_entries(file: ParsedPython) -> tuple[WrongEntry, ...]:
    """The entries of tables and chains that give another dtype than they name."""
    return tuple(_wrong(file))


def _wrong(file: ParsedPython) -> Iterator[WrongEntry]:
    for entries in _mappings(file):
        right = next((entry for entry in entries if entry.is_right), None)
        wrong = [entry for entry in entries if entry.is_wrong]
        is_exchange = len({entry.dtype for entry in wrong}) > 1
        if right is not None or is_exchange:
            yield from (WrongEntry(entry, right) for entry in wrong)


def _mappings(file: ParsedPython) -> Iterator[list[Entry]]:
    """The tables, and the chains from their first `if` on."""
    continuing: set[ast.stmt] = set()
    read: dict[ast.Dict, str] = {}
    for node in file.nodes:  # an `if` comes before its `elif`, a subscript before its table
        match node:
            case ast.Subscript(value=ast.Dict() as table, slice=ast.Constant(value=str(name))):
                read[table] = name
            case ast.Dict():
                yield [*_table(node, read.get(node), file)]
            case ast.If(orelse=orelse):
                if node not in continuing:
                    yield [*_chain(node, file)]
                if len(orelse) == 1:
                    continuing.update(orelse)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                yield [*_choice(test, body, orelse, file)]


def _table(table: ast.Dict, read: str | None, file: ParsedPython) -> Iterator[Entry]:
    """The entries of a table.

    Of a table that is only read with a literal name, other wrong entries reach no run:
    `{"bf16": torch.bfloat16, "fp16": torch.bfloat16}["bf16"]`.
    """
    for key, value in zip(table.keys, table.values, strict=True):
        entry = None if key is None else _entry(key, value, file)
        if entry is not None and (read in (None, entry.name) or entry.is_right):
            yield entry


def _entry(key: ast.expr, value: ast.expr, file: ParsedPython) -> Entry | None:
    """A name of a dtype and a dtype of torch; None for anything else."""
    dtype = _dtype(value, file)
    match key:
        case ast.Constant(value=str(name)) if dtype is not None:
            named = _NAMED.get(name.lower())
            return None if named is None else Entry(name, key, named, dtype, value)
    return None


def _dtype(node: ast.expr, file: ParsedPython) -> str | None:
    if not isinstance(node, ast.Attribute | ast.Name):
        return None
    module, _, name = qualified(node, syntax_tree(file).names).rpartition(".")
    return ALIASES.get(name) if module == "torch" else None


def _chain(node: ast.If, file: ParsedPython) -> Iterator[Entry]:
    """The entries of `if … elif …` with nothing in a branch but the dtype that it chooses."""
    subject = ""
    while True:
        match node.body:
            case [ast.Assign(value=value)] | [ast.Return(value=ast.expr() as value)]:
                compared, entries = _compared(node.test, value, file)
                if subject in ("", compared):
                    subject = compared
                    yield from entries
        match node.orelse:
            case [ast.If() as following]:
                node = following
            case _:
                return


def _choice(
    test: ast.expr, body: ast.expr, orelse: ast.expr, file: ParsedPython
) -> Iterator[Entry]:
    """`torch.float16 if dtype == "bf16" else torch.bfloat16`: an exchange, if the rest is the named
    dtype itself."""
    _, entries = _compared(test, body, file)
    for entry in entries:
        yield entry
        if entry.is_wrong and _dtype(orelse, file) == entry.named:
            other = next(iter(_HALF - {entry.named}), FLOAT16)
            yield Entry(other, orelse, other, entry.named, orelse)
        return


def _compared(test: ast.expr, value: ast.expr, file: ParsedPython) -> tuple[str, list[Entry]]:
    """What a condition compares with names of one dtype, and the entry that it makes."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant() as name]):
            names: list[ast.expr] = [name]
        case ast.Compare(
            left=left, ops=[ast.In()], comparators=[ast.List() | ast.Tuple() | ast.Set() as held]
        ):
            names = held.elts
        case _:
            return "", []
    found = [_entry(name, value, file) for name in names]
    entries = [entry for entry in found if entry is not None]
    is_one_dtype = len({entry.named for entry in entries}) == 1 and len(entries) == len(names)
    return ast.unparse(left), entries[:1] if is_one_dtype else []
