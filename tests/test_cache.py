"""The cache of clean files: same bytes, same settings, same version, or no hit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from precision_lint.cache import CleanFiles
from precision_lint.finding import Confidence
from precision_lint.settings import Settings

CODES = ("MP101", "MP201")


def test_what_was_added_is_there_in_the_next_run(tmp_path: Path) -> None:
    cache = CleanFiles(tmp_path, Settings())
    cache.add(cache.digest(b"x = 1\n", CODES))
    assert cache.digest(b"x = 1\n", CODES) not in cache
    cache.save()
    again = CleanFiles(tmp_path, Settings())
    assert again.digest(b"x = 1\n", reversed(CODES)) in again
    assert again.digest(b"x = 2\n", CODES) not in again
    assert again.digest(b"x = 1\n", CODES[:1]) not in again


def test_settings_have_caches_of_their_own(tmp_path: Path) -> None:
    cache = CleanFiles(tmp_path, Settings())
    cache.add(cache.digest(b"", CODES))
    cache.save()
    for other in (
        replace(Settings(), min_confidence=Confidence.LOW),
        replace(Settings(), target={"torch": "2.3"}),
    ):
        strange = CleanFiles(tmp_path, other)
        assert strange.digest(b"", CODES) not in strange


def test_a_broken_or_unwritable_cache_is_no_cache(tmp_path: Path) -> None:
    cache = CleanFiles(tmp_path, Settings())
    cache.add(cache.digest(b"", CODES))
    cache.save()
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"garbage")
    assert cache.digest(b"", CODES) not in CleanFiles(tmp_path, Settings())
    blocked = CleanFiles(file / "below a file", Settings())
    blocked.add(blocked.digest(b"", CODES))
    blocked.save()
