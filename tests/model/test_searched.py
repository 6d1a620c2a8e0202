"""Literals are found in the words of a text first: with the same answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from precision_lint.model.searched import Searched

_PARTS = ("half", "torch", "to", "(", ".", '"', " ", "\n", "_", "1", "é", "= ", "**", "\\")
literals = st.lists(st.sampled_from(_PARTS), min_size=1, max_size=4).map("".join)
texts = st.lists(st.sampled_from(_PARTS), max_size=30).map("".join)


@given(text=texts, asked=st.lists(literals, max_size=4))
def test_a_literal_is_found_where_the_bytes_hold_it(text: str, asked: list[str]) -> None:
    searched = Searched(text.encode())
    for literal in asked:
        assert searched.holds(literal.encode()) is (literal.encode() in text.encode())
