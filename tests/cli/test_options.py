"""The command line as types: what click reads becomes one `Options`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from precision_lint.cli import check as checking
from precision_lint.engine.options import Options
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Confidence, Severity
from tests.cli.running import run


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], Options()),
        (["--select", "MP1, MP2", "--select", "MP3"], Options(select=("MP1", "MP2", "MP3"))),
        (["--ignore", ""], Options(ignore=("",))),
        (["--min-confidence", "LOW"], Options(min_confidence=Confidence.LOW)),
        (["--min-severity", "error"], Options(min_severity=Severity.ERROR)),
        (["-o", "a/b", "--config", "c"], Options(output_file=Path("a/b"), config=Path("c"))),
        (["--target", "a=1", "--target", "b=2", "-j2"], Options(target=("a=1", "b=2"), jobs=2)),
        (["--stdin-filename", "a.py", "--diff"], Options(stdin_filename="a.py", diff=True)),
    ],
    ids=str,
)
def test_options_are_typed(
    arguments: list[str], expected: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Options] = []

    def check(paths: Sequence[str], options: Options) -> int:
        seen.append(options)
        return 0

    monkeypatch.setattr(checking, "check", check)
    assert run(*arguments, cwd=tmp_path).err == ""
    assert seen == [expected]
    assert repr(seen) == repr([expected])  # `1 == Severity.INFO` says nothing about types


def test_only_what_was_given_overrides_the_configuration() -> None:
    configured = Settings(select=("MP1",), fix=True, jobs=3, target={"torch": "2.1", "peft": "0.1"})
    options = Options(select=("MP2",), output_format="json", target_torch="2.6", diff=True)
    settings = options.override(configured)
    assert (settings.select, settings.fix, settings.jobs) == (("MP2",), True, 3)
    assert settings.output_format == "json"
    assert settings.target == {"torch": "2.6", "peft": "0.1"}
