"""What tests of the dtype flow count."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from precision_lint.facts.dtypes.whole_program.activations import Activations


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each function is interpreted."""
    run, found = Activations.run, Counter[str]()

    def counted(self: Activations, definition: Any, *arguments: Any, **options: Any) -> Any:
        found[definition.name] += 1
        return run(self, definition, *arguments, **options)

    monkeypatch.setattr(Activations, "run", counted)
    return found
