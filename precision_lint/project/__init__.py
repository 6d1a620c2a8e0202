"""The files of a project: discovery, `.gitignore`, pinned versions."""
