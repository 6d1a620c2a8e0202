"""Repairing Triton kernels: computing in float32, casting back, compile-time flags."""

from __future__ import annotations

from precision_lint.facts.triton.notes.remedies import Pin
from precision_lint.facts.triton.remedies import Annotation, Conversion, Remedy, Replacement
from precision_lint.model.finding import Applicability, Edit, Fix, Span


def fix(remedy: Remedy | Pin | None) -> Fix | None:
    """The edits of a remedy."""
    match remedy:
        case Pin(at=at, statement=statement, is_safe=is_safe):
            level = Applicability.SAFE if is_safe else Applicability.UNSAFE
            return Fix(level, f"Start with `{statement.strip()}`", (Edit(Span(at, at), statement),))
        case Conversion(expression=span, dtype=dtype):
            verb = "Load as" if remedy.is_load else "Convert to"
            return Fix(_applicability(remedy), f"{verb} {dtype}", convert(remedy, span))
        case Replacement(expression=span, text=text):
            return Fix(_applicability(remedy), f"Use {text}", (Edit(span, text),))
        case Annotation(at=at, constexpr=constexpr):
            edit = Edit(Span(at, at), f": {constexpr}")
            return Fix(_applicability(remedy), f"Make the flag a {constexpr}", (edit,))
    return None


def convert(remedy: Conversion, span: Span) -> tuple[Edit, ...]:
    """`tl.load(p)` to `tl.load(p).to(tl.float32)`, `s * x` to `(s * x).to(x.dtype)`.

    Not `tl.cast`: some Triton releases in use support only `.to` there.
    """
    end = Edit(Span(span.end, span.end), f".to({remedy.dtype})")
    if not remedy.needs_parentheses:
        return (end,)
    return (
        Edit(Span(span.start, span.start), "("),
        Edit(Span(span.end, span.end), f").to({remedy.dtype})"),
    )


def with_argument(text: str, call: Span, argument: str) -> Fix:
    """`tl.dot(a, b)` to `tl.dot(a, b, argument)`, to be looked at."""
    given = text[call.start : call.end - 1].rstrip()
    separator = " " if given.endswith(",") else ", "
    at = call.start + len(given)
    edit = Edit(Span(at, at), f"{separator}{argument}")
    return Fix(Applicability.DISPLAY, f"Pass {argument}", (edit,))


def _applicability(remedy: Remedy) -> Applicability:
    return Applicability.SAFE if remedy.is_safe else Applicability.UNSAFE
