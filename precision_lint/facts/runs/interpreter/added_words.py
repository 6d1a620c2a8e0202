"""Which options branches of a script may add to a command: `if …; then ARGS+=(--resume); fi`.

After such a branch, nobody knows whether the command gets them; it gets no others.
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import options
from precision_lint.source.shell.variables import Assigned, Word
from precision_lint.source.shell.words import UNKNOWN


def added_options(word: Word, file: ParsedConfig) -> frozenset[str] | None:
    """The names of the options that a word stands for which branches may add to a variable; None if
    it is another word, or if they are not all known.
    """
    script = file.script
    name = next((name for name, one in _assigned(file) if _is_more(word, one)), None)
    if script is None or name is None or word.elsewhere is not None:
        return None
    found = set[str]()
    own = [one for other, one in _assigned(file) if other == name]
    for one in own:
        words = one.elements if one.is_array else tuple(script.places.split(one.text))
        written = [each for each in words if not any(_is_more(each, other) for other in own)]
        given = [*options(written)]
        taken = {id(each) for option in given for each in option.words}
        if one.elsewhere is not None or any(
            id(each) not in taken or not (each.is_one or "=" in each.text) for each in written
        ):
            return None
        found |= {option.name.replace("-", "_") for option in given}
    return frozenset(found)


def _is_more(word: Word, of: Assigned) -> bool:
    """True for the word that stands for what may follow an assignment."""
    return word.text == f"--{UNKNOWN}" and {*word.traced.origins} == {of.span.start}


def _assigned(file: ParsedConfig) -> Iterator[tuple[str, Assigned]]:
    yield from file.script.assigned if file.script is not None else ()
