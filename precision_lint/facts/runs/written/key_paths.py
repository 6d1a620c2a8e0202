"""Paths of keys in a configuration, and what holds the section at the end of one."""

from __future__ import annotations

from typing import TypeAlias

from precision_lint.model.frozen import frozen

Keys: TypeAlias = "tuple[str | None, ...]"
"""The keys on the way to a section or a setting; None stands for any, and for an item of a list."""

MOST_LEAD = 3
"""Tables around a section that are followed."""


def is_start(start: Keys, keys: Keys) -> bool:
    """True if a path may lead to the section that another one begins with."""
    pairs = zip(start, keys, strict=False)
    return len(start) <= len(keys) and all(
        one is None or other is None or one == other for one, other in pairs
    )


@frozen
class At:
    """What something stands for: the section at a path of keys; `lead` are keys before that, of a
    table that has the section as an entry: `{"config": config}`.
    """

    keys: Keys = ()
    lead: Keys = ()

    def into(self, key: str | None) -> At | None:
        """What an entry stands for; None if it is another one."""
        if not self.lead:
            return At((*self.keys, key))
        is_it = key is None or self.lead[0] in (None, key)
        return At(self.keys, self.lead[1:]) if is_it else None

    def within(self, key: str | None) -> At:
        """What a table stands for that has this as an entry."""
        return At(self.keys, (key, *self.lead))
