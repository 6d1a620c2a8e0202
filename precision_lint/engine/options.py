"""The options of the command line, as types."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

from precision_lint.engine.settings import (
    ConfigError,
    Settings,
    check_gpu,
    check_library,
    check_version,
)
from precision_lint.engine.shard import Shard
from precision_lint.model.finding import Confidence, Severity
from precision_lint.model.frozen import frozen


@frozen(slots=False)
class Options:
    """The options of `precision-lint check`, under their own names.

    An option with the name of a setting overrides the configuration file where it is given.
    """

    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    add_ignore: str | None = None
    """The reason of the suppressions to write."""
    all: bool = False
    show_fixes: bool = False
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    preview: bool = False
    min_confidence: Confidence | None = None
    min_severity: Severity | None = None
    output_format: str | None = None
    output_file: Path | None = None
    statistics: bool = False
    group_by: str | None = None
    """What `statistics` counts by: "rule", "folder" or "owner"."""
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    config: Path | None = None
    isolated: bool = False
    force_exclude: bool = False
    markdown: bool = False
    baseline: Path | None = None
    write_baseline: Path | None = None
    prune_baseline: bool = False
    color: str = "auto"
    stdin_filename: str | None = None
    since: str | None = None
    """A revision: only findings on lines that changed since then are reported."""
    shard: Shard | None = None
    """The share of the files that this run checks."""
    target: tuple[str, ...] = ()
    """Library versions, each as NAME=VERSION."""
    target_torch: str | None = None
    target_triton: str | None = None
    target_gpu: str | None = None
    jobs: int | None = None
    no_cache: bool = False
    cache_dir: Path | None = None
    watch: bool = False
    show_files: bool = False
    show_settings: bool = False

    def override(self, settings: Settings) -> Settings:
        """The settings, with the options that were given in place of their values.

        Raises:
            ConfigError: a target is not a version of a library, or not a GPU.
        """
        if self.target_gpu is not None:
            check_gpu(self.target_gpu, "--target-gpu")
        given = {name: value for name, value in vars(self).items() if value and name in _SETTINGS}
        target = {**settings.target, **self._versions()}
        return replace(settings, **{**given, "target": target})

    def _versions(self) -> dict[str, str]:
        """The library versions by name."""
        versions = {}
        for target in self.target:
            name, equals, version = target.partition("=")
            if not (name and equals):
                raise ConfigError(f"--target: `{target}` is not NAME=VERSION")
            check_library(name, "--target")
            versions[name] = check_version(name, version, "--target")
        if self.target_torch is not None:
            versions["torch"] = check_version("torch", self.target_torch, "--target-torch")
        if self.target_triton is not None:
            versions["triton"] = check_version("triton", self.target_triton, "--target-triton")
        return versions


_SETTINGS = {item.name for item in fields(Options)} & {item.name for item in fields(Settings)}
