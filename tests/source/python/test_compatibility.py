"""Code that names an old API on purpose."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from precision_lint.source.python.compatibility import is_for_another_version
from precision_lint.source.python.scopes import scopes_of
from precision_lint.source.text.text import SourceText


def is_deliberate(source: str) -> bool:
    """What is said of the only reading of `old` in a source."""
    source = dedent(source)
    scopes = scopes_of(ast.parse(source))
    (old,) = [one for one in scopes.references if one.names == ("old",)]
    return is_for_another_version(old.node, old.at, SourceText(Path("case.py"), source))


@pytest.mark.parametrize(
    "source",
    [
        "if torch.__version__ < '2.4': old()",
        "if version.parse(torch.__version__) >= V: new()\nelse: old()",
        "old() if is_torch_version('<', '2.4') else new()",
        "if not TORCH_2_4:\n    for x in y: old()",
        "if hasattr(torch.amp, 'GradScaler'): new()\nelse: old()",
        "if 'device' in inspect.signature(torch.amp.GradScaler).parameters: new()\nelse: old()",
        "NEW = hasattr(torch.amp, 'custom_fwd')\nif NEW: new()\nelse: old()",
        "def f():\n    if torch.__version__ > '2.4':\n        return new()\n    return old()",
        "try: new()\nexcept AttributeError: old()",
        "try: new()\nexcept (TypeError, ValueError): old()",
        "try: new()\nexcept: old()",
        "try: x = old\nexcept ImportError: pass",
        "with pytest.warns(FutureWarning): old()",
        "def test(self):\n    with self.assertWarns(FutureWarning): old()",
    ],
)
def test_deliberate(source: str) -> None:
    assert is_deliberate(source)


@pytest.mark.parametrize(
    "source",
    [
        "old()",
        "if use_amp: old()",
        "if torch.cuda.is_available(): old()",
        "if torch.version.cuda is not None: old()",
        "if dtype == torch.float16: old()",
        "if hasattr(self, 'scaler'): old()",
        "if args.version == 2: old()",
        "if old(): x = torch.__version__",
        "def f():\n    if torch.__version__ > '2.4':\n        x = 1\n    return old()",
        "try: old()\nexcept RuntimeError: pass",
        "try: old()\nexcept Exception: pass",
        "try: new()\nexcept ValueError: old()",
        "with warnings.catch_warnings(): old()",
    ],
)
def test_as_it_comes(source: str) -> None:
    assert not is_deliberate(source)
