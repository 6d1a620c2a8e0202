"""A session: the paths to check, the settings in force for them, and their project.

The command line, the language server and `explain-config` all start here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from precision_lint.engine.job import Job
from precision_lint.engine.options import Options
from precision_lint.engine.parallel import available_cores
from precision_lint.engine.settings import Settings, check_selectors
from precision_lint.engine.settings_file import find_config, load
from precision_lint.model.finding import Applicability
from precision_lint.model.frozen import frozen
from precision_lint.project import discovery
from precision_lint.project.files import Project
from precision_lint.project.roots import project_root


@frozen(slots=False)
class Session:
    """Everything that is known before the first file is read."""

    paths: tuple[Path, ...]
    options: Options
    settings: Settings
    project: Project

    @classmethod
    def open(cls, paths: Sequence[Path], options: Options, working: Path | None = None) -> Session:
        """The session for some absolute paths, which need not exist.

        `working` is the working folder where that of the process says nothing, as in an editor.

        Raises:
            ConfigError: the configuration file or an option cannot be used.
        """
        start = _common_folder(paths)
        config = options.config or (None if options.isolated else find_config(start))
        settings = options.override(load(config) if config else Settings())
        check_selectors(settings, "command line")
        exclude = (*settings.exclude, *settings.extend_exclude)
        root = project_root(start, working or Path.cwd())
        project = Project(
            root,
            exclude,
            settings.target,
            settings.target_gpu,
            settings.helper_module,
            settings.min_confidence,
        )
        return cls(tuple(paths), options, settings, project)

    def files(self, note: Callable[[str], None]) -> list[Path]:
        """The files to check; `note` is called for each folder that cannot be listed."""
        force_exclude, markdown = self.settings.force_exclude, self.settings.markdown
        found = discovery.files(
            self.paths,
            self.project.root,
            self.project.exclude,
            force_exclude=force_exclude,
            markdown=markdown,
            note=note,
        )
        if self.paths == (self.project.root,) and not (force_exclude or markdown):
            root, exclude = self.project.root, self.project.exclude
            self.project.has(discovery.with_tracked(found, root, exclude))
        return found

    def project_files(self, note: Callable[[str], None]) -> list[Path]:
        """The same with what git tracks below the folders although a pattern ignores it, and with
        configurations in formats that nothing can check.
        """
        found = self.files(note)
        folders = [path for path in self.paths if path.is_dir()]
        inside = (
            path
            for path in (self.project.files if folders else ())
            if any(folder in path.parents for folder in folders)
        )
        root, exclude = self.project.root, self.project.exclude
        others = discovery.unparsed(folders, root, exclude)
        return sorted({*found, *inside, *others}, key=str)

    def job(self) -> Job:
        """What to do with each file."""
        fix = None
        if self.settings.unsafe_fixes:
            fix = Applicability.UNSAFE
        elif self.settings.fix or self.options.diff:
            fix = Applicability.SAFE
        ignore = self.options.add_ignore
        if ignore is not None:
            from precision_lint.engine.ignoring import check_reason

            check_reason(ignore)
            fix = Applicability.SAFE
        named = frozenset(self.paths)
        write = not self.options.diff
        return Job(self.project, self.settings, fix, write=write, ignore=ignore, named=named)

    @property
    def jobs(self) -> int:
        """How many processes to use."""
        return self.settings.jobs or available_cores()

    @property
    def cache_folder(self) -> Path | None:
        """The folder of the cache; None for no cache."""
        if self.settings.no_cache:
            return None
        if self.settings.cache_dir is not None:
            return self.settings.cache_dir
        from platformdirs import user_cache_path

        try:
            folder = user_cache_path("precision-lint")
        except RuntimeError:  # a user without a home; older releases return a relative path
            return None
        return folder if folder.is_absolute() else None


def _common_folder(paths: Sequence[Path]) -> Path:
    """The deepest folder that contains every path."""
    folders = [path if os.path.isdir(path) else path.parent for path in paths]
    return Path(os.path.commonpath(folders))
