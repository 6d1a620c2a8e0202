"""The places that show that tensors can have dtypes which hurt: the witnesses of a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.values import Tensor
from precision_lint.facts.origin import Origin
from precision_lint.facts.settings.choosing import options_choosing
from precision_lint.facts.settings.unchosen import is_never_chosen
from precision_lint.model.dtypes import BFLOAT16
from precision_lint.model.finding import Related, Span
from precision_lint.source.text.notebook import NotebookText


def witnesses(
    tensors: Iterable[Tensor],
    dtypes: frozenset[str],
    file: PythonFile,
    span: Span,
    *,
    is_packed: bool = False,
) -> Iterator[Related]:
    """The places that give one of the tensors at `span` one of some dtypes.

    That a caller may choose the dtype is no witness. Weights and data that are loaded have the
    dtype of the checkpoint: code on the way that makes tensors bfloat16 may have saved it so. Of
    what may come from elsewhere as well, only weights count: data can be anything, and data that is
    used as integers or as bytes (`is_packed`) is integers: labels, an image as it was encoded. A
    guess is none, nor is a dtype that the settings of the project never choose. A notebook is a
    program of its own, which gets no setting of another one.
    """
    origins = {one.origin: one for one in tensors if one.origin and not one.origin.is_guess}
    for origin, tensor in origins.items():
        if _is_of_other_program(origin, file):
            continue
        sites = [site.related for site in origin.route]
        match origin.kind:
            case "dtype" | "autocast" | "test" if tensor.dtypes & dtypes:
                if is_never_chosen(origin, file, file.project):
                    continue
                options = options_choosing(origin, file, span, file.project)
                yield from (origin.related, *options, *sites)
            case "loader" | "weights" | "auto" | "load" | "checkpoint" if (
                BFLOAT16 in dtypes
                and (origin.kind != "checkpoint" or not (tensor.may_be_other or is_packed))
                and (enabled := file.bfloat16(origin)) is not None
            ):
                yield from (*sites, enabled)


def _is_of_other_program(origin: Origin, file: PythonFile) -> bool:
    """True for a setting of a program, in a notebook that is no part of it."""
    if not isinstance(file.text, NotebookText) or origin.witness is None:
        return False
    return not file.project.concerns(origin.source.path, file.text.path)
