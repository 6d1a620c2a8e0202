"""The oldest release of torch that a file has to run with."""

from __future__ import annotations

from precision_lint.facts.context import PythonFile
from precision_lint.project.pins import lowest_version

_REQUIREMENTS = ("requirements.txt", "pyproject.toml")


def oldest_torch(file: PythonFile) -> tuple[int, int] | None:
    """What the closest requirements say; None if they do not name torch.

    A folder with requirements of its own, such as a demo or a server, has its own environment.
    """
    path, root = file.text.path, file.project.root
    found = (file.project.config_files.find(name, path) for name in _REQUIREMENTS)
    folders = {one.parent for one in found if one is not None and one.parent != root}
    if not folders:
        return file.project.lowest_version_of("torch")
    closest = max(folders, key=lambda folder: len(folder.parts))
    version = lowest_version(closest, "torch")
    if version is None:
        return None
    major, minor = version.split(".")[:2]
    return int(major), int(minor)
