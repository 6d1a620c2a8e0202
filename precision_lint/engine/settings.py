"""The settings of a run: what to report, where, for which library versions, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path

from precision_lint.engine import registry
from precision_lint.model.finding import Confidence, Finding, Severity
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.project.discovery import DEFAULT_EXCLUDE, Excludes


class ConfigError(Exception):
    """A configuration that cannot be used; the message names the file and the key."""


@frozen(slots=False)
class Settings:
    """What to report, where, for which versions, and how. Field names are the option names."""

    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    preview: bool = False
    """Also run the rules whose accuracy on unseen code is not known yet."""
    min_confidence: Confidence = Confidence.MEDIUM
    min_severity: Severity = Severity.INFO
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    markdown: bool = False
    """Read the code fences of Markdown files."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    target: Mapping[str, str] = field(default_factory=dict)
    """Library versions by name (`torch`, `triton`, …); they override the project's own pins."""
    target_gpu: str = ""
    """The GPU that the runs use; it overrides what the files name."""
    fix: bool = False
    unsafe_fixes: bool = False
    helper_module: str = ""
    """The module that fixes import helpers from, in place of `precision_lint.runtime`."""
    output_format: str = "full"
    baseline: Path | None = None
    statistics: bool = False
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    jobs: int | None = None
    no_cache: bool = False
    cache_dir: Path | None = None
    config_file: Path | None = None

    def selected(self) -> frozenset[str]:
        """The codes of the enabled rules."""
        return self._selected

    @cached_property
    def _selected(self) -> frozenset[str]:
        # The most specific selector wins, and `ignore` on a tie.
        chosen = dict.fromkeys(ALWAYS_ON, (0, True))
        for selectors, on in (
            (self.select, True),
            (self.extend_select, True),
            (self.ignore, False),
        ):
            for selector in selectors:
                weight = _specificity(selector)
                for code in registry.select(selector):
                    if weight >= chosen.get(code, (0, True))[0]:
                        chosen[code] = (weight, on)
        unavailable = frozenset() if self.preview else registry.previews()
        return frozenset(code for code, (_, on) in chosen.items() if on) - unavailable

    def without_preview(self) -> tuple[str, ...]:
        """The selectors that choose nothing but preview rules, which are not enabled."""
        if self.preview:
            return ()
        chosen = (*self.select, *self.extend_select)
        return tuple(one for one in chosen if registry.select(one) <= registry.previews())

    def reports(self, finding: Finding) -> bool:
        """True if a finding is certain and severe enough to show."""
        return finding.confidence >= self.min_confidence and finding.severity >= self.min_severity

    def codes_for(self, path: Path, root: Path) -> frozenset[str]:
        """The codes of the rules that are enabled for a file: `per-file-ignores` disable some."""
        return self._selected - {
            code
            for pattern, selectors in self.per_file_ignores.items()
            if Excludes(root, [pattern]).match(path)
            for selector in selectors
            for code in registry.select(selector)
        }


def _specificity(selector: str) -> int:
    """How narrow a selector is: ALL, then prefixes by their length, then a code or a name."""
    if selector in registry.by_selector():
        return len("MP1234")
    return 0 if selector.upper() == "ALL" else len(selector)


ALWAYS_ON = ("MP903", "MP904")
"""Rules for files that cannot be checked: enabled unless they are ignored explicitly."""


def check_selectors(settings: Settings, origin: str) -> None:
    """Raise ConfigError if a selector names no rule."""
    per_file = [selector for row in settings.per_file_ignores.values() for selector in row]
    for selector in (*settings.select, *settings.extend_select, *settings.ignore, *per_file):
        if not registry.select(selector):
            like = registry.resembling(selector)
            hint = f" Did you mean `{like}`?" if like else ""
            raise ConfigError(f"{origin}: no rule is called `{selector}`.{hint}")


_LIBRARIES = frozenset({"hydra-core", "peft", "torch", "triton"})
"""Libraries that rules ask about and that have no table."""


def check_library(name: str, origin: str) -> None:
    """Raise ConfigError for the name of a library that no rule asks about."""
    from precision_lint.facts.frameworks.table import frameworks

    tables = frameworks().values()
    asked = {one.library for one in tables} | {name for one in tables for name in one.aliases}
    libraries = sorted({*_LIBRARIES, *asked} - {""})
    if name in libraries:
        return
    from difflib import get_close_matches

    like = get_close_matches(name.lower(), libraries, 1)
    hint = f" Did you mean `{like[0]}`?" if like else f" Known ones: {', '.join(libraries)}."
    raise ConfigError(f"{origin}: no rule depends on the version of `{name}`.{hint}")


def check_version(library: str, version: object, origin: str) -> str:
    """The version as a string.

    Raises:
        ConfigError: it is not a version.
    """
    if not isinstance(version, str):
        raise ConfigError(f'{origin}: the version of {library} must be a string, such as "2.6"')
    if _VERSION.match(version):
        return version
    raise ConfigError(f"{origin}: `{version}` is not a version of {library}, such as 2.6")


def check_gpu(name: str, origin: str) -> str:
    """The name, if it is that of a known GPU.

    Raises:
        ConfigError: it is not.
    """
    from precision_lint.facts.hardware.gpus import gpu, known_gpus

    if gpu(name) is not None:
        return name
    from difflib import get_close_matches

    like = get_close_matches(name.upper(), known_gpus(), 1)
    hint = f" Did you mean `{like[0]}`?" if like else f" Known GPUs: {', '.join(known_gpus())}."
    raise ConfigError(f"{origin}: no GPU is called `{name}`.{hint}")


_VERSION = regex(r"\d+(?:\.\d+)*")
