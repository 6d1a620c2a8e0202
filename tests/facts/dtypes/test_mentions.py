"""Which rows name, call or assign something, by plain search."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from precision_lint.facts.dtypes.syntax.mentions import rows_calling, variables_with_weights
from precision_lint.source.text.text import SourceText

NAMES = frozenset({"to", "sum", "numpy", "plt.*"})
IMPORTS = {"plt": "plt.pyplot", "np": "numpy"}

words = st.sampled_from(["to", "tokens", "sum", "_sum", "numpy", "plt", "plts", "x", "é", "0"])
marks = st.sampled_from(["(", ")", ".", " ", "\n", "\t", ",", " (", "\n(", "#"])
texts = st.lists(st.one_of(words, marks), max_size=40).map("".join)


@given(text=texts)
def test_rows_calling_are_those_of_a_search_for_each_word(text: str) -> None:
    patterns = [rf"(?<!\w){name}\s*\(" for name in ("to", "sum", "numpy")]
    patterns.append(r"(?<!\w)plt(?:\.\w+)*\s*\(")
    starts = [found.start() for each in patterns for found in re.finditer(each, text)]
    file = SourceText(Path("a.py"), text)
    assert rows_calling(file, NAMES, IMPORTS) == sorted({file.row(start) for start in starts})


owners = st.sampled_from(["self", "a", "a1", "1", "é", "weight", "bias", "weights"])
chains = st.lists(
    st.one_of(owners, st.sampled_from([".", "self.", ".weight", ".bias", " ", "(", "\n"])),
    max_size=12,
).map("".join)


@given(text=chains)
def test_variables_with_weights_are_those_of_a_search_for_each_name(text: str) -> None:
    pattern = r"(?<![\w.])(?=((?:self\.)?[^\W\d]\w*)\.(?:weight|bias)\b)"
    found = set(re.findall(pattern, text))
    assert found <= {*variables_with_weights(text)} <= found | {"self"}
