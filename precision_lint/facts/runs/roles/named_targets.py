"""Settings that are arguments of a class which their section names: `_target_: package.Class`."""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.runs.code.torch_sinks import TorchPlace
from precision_lint.facts.runs.code.ways import key_of_holder
from precision_lint.facts.runs.formats.hydra import configuration
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.program import Program, calls_in
from precision_lint.facts.runs.options.claims import Claim
from precision_lint.model.finding import Related
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Mapping, Member, Opaque, Scalar, mappings

_TARGET = "_target_"


def of_target(written: Occurrence, program: Program) -> Claim | None:
    """The argument of the class that a section names, `_target_: package.Class`: Hydra calls it
    where the program instantiates the section, or one that it is in.
    """
    match written.origin:
        case Member(mapping=section) if (target := section.get(_TARGET)) is not None:
            value = target.entry.value
            if isinstance(value, Scalar) and isinstance(value.value, str):
                subject = f"{value.value.rpartition('.')[2]}({written.name}=)"
                calls = [*calls_in(program.mentioning("instantiate"), "instantiate")]
                own = written.file.text.path.parent.name  # `trainer/half.yaml` is `cfg.trainer`
                above = {own, *_names_above(section, written.file)}
                named = [row for row in calls if above & {*map(key_of_holder, row[1].args)}]
                for file, call in named or calls:
                    place = TorchPlace("argument", call, file, subject=subject)
                    at = written.file.text.place(target.entry.span)
                    return Claim(place, at=None if named else Related(at, "what is called"))
    return None


def of_reference(written: Occurrence, run: RunEnvironment) -> Claim | None:
    """The argument of a class that another setting hands it on to: `bf16: ${use_bf16}`."""
    path = run.opened or configuration(run)
    whole = run.read(path) if path is not None else None
    match written.origin:
        case Member(mapping=section):
            above = reversed([*_names_above(section, written.file)])
            name = ".".join((*above, written.name))
        case _:
            name = written.name
    if whole is None:
        return None
    for mapping in mappings(whole.documents):
        for entry in mapping.entries:
            match entry.value:
                case Opaque(content=Scalar(value=str(text))) if text == f"${{{name}}}":
                    member = Member(mapping, entry)
                    there = Occurrence(entry.name or "", None, member, whole.home(mapping))
                    claim = of_target(there, run.program)
                    if claim is not None:
                        return claim
    return None


def _names_above(section: Mapping, file: ParsedConfig) -> Iterator[str]:
    """The names of a section and of those around it."""
    inner = section
    for each in reversed([*mappings(file.documents)]):  # outer ones come first
        for entry in each.entries:
            if entry.value is inner:
                yield entry.name or ""
                inner = each
