"""The names of the report formats: the settings offer them, `report` writes them."""

from __future__ import annotations

FORMATS = ("full", "concise", "json", "json-lines", "sarif", "github", "gitlab", "junit")
