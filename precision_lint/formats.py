"""The names of the formats that findings are reported in."""

from __future__ import annotations

FORMATS = ("full", "concise", "json", "json-lines", "sarif", "github", "gitlab", "junit")
