"""torch as the oracle of MP801: every form of the old API does the same after its fix."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from precision_lint.engine.job import Job
from precision_lint.engine.run import lint_bytes
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Applicability
from precision_lint.project.files import Project
from tests.amp_forms import Form, forms, observe

pytest.importorskip("torch", minversion="2.4")

FORMS = forms()
LEFT_ALONE = {"autocast(*arguments)", "asks for the class"}
"""Which argument is which is not written there; `isinstance` would answer otherwise."""


def fixed(source: str, level: Applicability = Applicability.SAFE) -> str:
    path = Path("/nowhere/form.py")
    settings = Settings(select=("MP801",))
    project = Project(path.parent, target={"torch": "2.4"})
    job = Job(project, settings, level, write=False, named=frozenset([path]))
    result = lint_bytes(job, path, source.encode(), "python")
    assert result.failure is None
    return source if result.text is None else result.text.text


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_same_before_and_after(form: Form) -> None:
    before, after = observe(form.source), fixed(form.source)
    assert isinstance(before, list), before
    assert before
    assert observe(after) == before
    if form.name in LEFT_ALONE:
        assert after == form.source
    else:
        assert not names_old_api(after), after
        assert fixed(after) == after


def names_old_api(source: str) -> bool:
    words = ("cuda.amp", "cpu.amp", "_gpu_", "_cpu_")
    return any(word in ast.unparse(ast.parse(source)) for word in words)


def test_there_are_hundreds_of_forms() -> None:
    assert len(FORMS) > 500


def test_it_can_tell_a_wrong_migration() -> None:
    old = "import torch\n\nwith torch.cuda.amp.autocast({}) as region:\n    record(region)\n"
    new = old.replace("cuda.amp.autocast({})", "amp.autocast('cuda', {})")
    assert observe(old.format("True")) != observe(new.format("True"))
    swapped = "True, torch.bfloat16"
    assert observe(old.format(swapped)) != observe(new.format(swapped))
    around = "import torch\n\nwith torch.autocast('cpu', dtype=torch.float16):\n    record({})\n"
    assert observe(around.format("torch.cpu.amp.autocast()")) != observe(
        around.format("torch.amp.autocast('cpu')")
    )


def test_partial_of_autocast_is_the_same_as_long_as_it_is_called_by_name() -> None:
    old = (
        "import functools\n\nimport torch\n\n"
        "region = functools.partial(torch.cuda.amp.autocast, {})\n"
        "record(region(cache_enabled=False))\nrecord(region())\n"
    )
    for passed in ("", "True", "dtype=torch.bfloat16", "enabled=False"):
        source = old.format(passed)
        assert fixed(source) == source
        after = fixed(source, Applicability.UNSAFE)
        assert not names_old_api(after)
        assert observe(after) == observe(source)
