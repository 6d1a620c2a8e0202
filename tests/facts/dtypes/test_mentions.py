"""Which rows name, call or assign something, by plain search."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from precision_lint.facts.dtypes.syntax.mentions import rows_calling
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
