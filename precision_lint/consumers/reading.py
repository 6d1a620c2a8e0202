"""What a consumer makes of a configuration file: its effective settings by canonical key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from precision_lint.finding import Span
from precision_lint.source.options import Option
from precision_lint.source.settings_tree import Member
from precision_lint.source.shell import Assigned

Origin: TypeAlias = Member | Option | Assigned


@dataclass(frozen=True, slots=True)
class Setting:
    """A value as the consumer reads it, and what is written for it.

    The value is None if it is unknown: null, `auto`, a placeholder, anything chosen at run time.
    """

    value: str | bool | None
    origin: Origin

    @property
    def span(self) -> Span:
        return self.origin.span


@dataclass(frozen=True, slots=True)
class Reading:
    """One configuration of one consumer. Its precedence is already applied."""

    consumer: str
    settings: Mapping[str, Setting]

    def value(self, key: str) -> str | bool | None:
        """The value of a setting; None if it is unknown or absent."""
        setting = self.settings.get(key)
        return setting.value if setting else None
