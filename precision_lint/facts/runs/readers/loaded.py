"""Where code loads a configuration, and which of its keys that code may read.

What it does with it is seen to the end, or to where it may read all (`section_flow.py`). So what is
left is certainly read by none of this code.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.section_flow import SectionFlow
from precision_lint.facts.runs.written.key_paths import At, Keys, is_start
from precision_lint.facts.runs.written.loads import composed_in, loads_in, may_mean, names_said
from precision_lint.model.finding import Place
from precision_lint.model.frozen import frozen
from precision_lint.source.python.syntax import positional_parameters

_YAML = (".yaml", ".yml")


@frozen(slots=False)
class Loaded:
    """What code does with the files of one kind that it loads.

    `places` are the calls that load the file: those that name it, if there are any. `reads` are the
    settings that it reads, and `ends` the sections that it hands on to where it is not seen. What
    is saved may be loaded again, in other formats.
    """

    places: tuple[Place, ...]
    is_named: bool
    reads: frozenset[Keys]
    ends: frozenset[Keys]
    is_saved: bool

    def may_read(self, keys: Keys) -> bool:
        """True if code may read the setting at a path of keys."""
        return any(is_start(end, keys) for end in self.ends) or any(
            len(read) == len(keys) and is_start(read, keys) for read in self.reads
        )


def loaded(
    path: Path, wanted: frozenset[Keys], paths: Sequence[Path], project: Recording
) -> Loaded:
    """What the code of some files does with a configuration, as far as some keys go."""
    flow = SectionFlow(path, wanted, tuple(paths), project)
    places: list[Place] = []
    for each in paths:
        for load in loads_in(each, path.suffix, project):
            said = names_said(load.source, load.file) if load.source is not None else ()
            if said and not any(may_mean(text, path) for text in said):
                continue
            place = load.file.text.place(load.file.span_of(load.call))
            places.append(place)
            if said:
                flow.named.append(place)
            flow.hold(load.call, load.file, At())
        for function, file in composed_in(each, project) if path.suffix in _YAML else ():
            places.append(file.text.place(file.span_of(function.decorator_list[0])))
            for given in positional_parameters(function.args)[:1]:
                flow.read(given.arg, function, file, At())
    flow.follow()
    found = tuple(dict.fromkeys(flow.named or places))
    return Loaded(
        found,
        bool(flow.named),
        frozenset(flow.reads),
        frozenset(flow.ends),
        bool(flow.saved),
    )
