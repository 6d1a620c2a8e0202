"""Pages of rules and pitfalls: by code, name or family, or by a pasted error message."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO

from precision_lint.engine import messages, registry
from precision_lint.engine.messages import Answer
from precision_lint.engine.pitfalls import Pitfall, pitfalls, rules_of
from precision_lint.model.frozen import frozen
from precision_lint.model.rule import Rule


class NoPage(Exception):
    """Nothing is called like that, and no page has such a message."""


@frozen(slots=False)
class Explained:
    """What was found: pages that were asked for by name, or answers to a message."""

    named: tuple[Rule | Pitfall, ...] = ()
    answers: tuple[Answer, ...] = ()


def explained(words: Sequence[str], text: str | None = None) -> Explained:
    """The pages for the arguments of the command: names, or a message in several words.

    Raises:
        NoPage: there is none; the message suggests a name.
    """
    if text is None:
        if named := _named(words):
            return Explained(named=named)
        text = " ".join(words)
    if found := messages.answers(text):
        return Explained(answers=tuple(found))
    about = _about(words)
    if about:
        return Explained(named=about)
    if other := messages.something_else(text):
        raise NoPage(f"this message seems to be about {other}, not about precision")
    name = _unknown(words) or " ".join(words)
    like = _resembling(name) if " " not in name else None
    hint = f"; did you mean `{like}`?" if like else ""
    if not name:
        raise NoPage("nothing in this text is like a known error message")
    raise NoPage(f"no rule or pitfall is called `{name}`, and no known error is like it{hint}")


def render(found: Explained) -> str:
    """The pages as Markdown."""
    if found.answers:
        return _answered(found.answers)
    if len(found.named) == 1:
        return _page(found.named[0])
    if len(found.named) > _MOST_PAGES:
        return "".join(f"- {_title(one)}\n" for one in found.named)
    return "\n".join(map(_page, found.named))


def render_json(found: Explained) -> str:
    """The answers as a JSON object; a page that was asked for by name is certain."""
    answers = found.answers or [_as_answer(one) for one in found.named]
    rows = [
        {
            "code": answer.rule.code if answer.rule else None,
            "name": answer.rule.name if answer.rule else None,
            "pitfalls": [pitfall.name for pitfall in answer.pitfalls],
            "title": answer.rule.summary if answer.rule else answer.pitfalls[0].title,
            "cure": _cure(answer),
            "message": answer.message,
            "score": round(answer.score, 2),
            "certainty": answer.certainty,
            "url": answer.rule.url if answer.rule else None,
        }
        for answer in answers
    ]
    return json.dumps({"answers": rows}, indent=2) + "\n"


def print_page(text: str, out: IO[str]) -> None:
    """Print Markdown: rendered on a terminal, as plain text otherwise."""
    if not out.isatty():
        out.write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(file=out).print(Markdown(text))


def print_catalogue(output_format: str, out: IO[str]) -> None:
    """Print every rule, one per line or as a JSON array."""
    if output_format == "json":
        rows = [
            {
                "code": rule.code,
                "name": rule.name,
                "summary": rule.summary,
                "severity": str(rule.severity),
                "fix": rule.fix,
                "since": rule.since,
                "preview": rule.preview,
                "url": rule.url,
            }
            for rule in registry.rules()
        ]
        out.write(json.dumps(rows, indent=2) + "\n")
        return
    width = max(len(rule.name) for rule in registry.rules())
    for rule in registry.rules():
        mark = " (preview)" if rule.preview else ""
        out.write(f"{rule.code}  {rule.name:{width}}  {rule.summary}{mark}\n")


_MOST_PAGES = 3
"""How many pages are printed in full; of more there is a list."""


def _named(words: Sequence[str]) -> tuple[Rule | Pitfall, ...]:
    """The pages that the words name, if each of them names one or a family of rules."""
    found: dict[str, Rule | Pitfall] = {}
    for word in words:
        pages = _called(word)
        if not pages:
            return ()
        found.update({_title(page): page for page in pages})
    return tuple(found.values())


def _unknown(words: Sequence[str]) -> str | None:
    """The one word that names nothing, beside others that do."""
    unknown = [word for word in words if not _called(word)]
    return unknown[0] if len(unknown) == 1 < len(words) else None


def _called(word: str) -> list[Rule | Pitfall]:
    """The rules with a code, name or prefix of codes; or the pitfalls with an id or its letter."""
    if (pitfall := pitfalls().get(word.upper())) is not None:
        return [pitfall]
    if len(word) == 1 and word.isalpha():
        return [one for name, one in pitfalls().items() if name.startswith(word.upper())]
    codes = registry.select(word)
    return [rule for rule in registry.rules() if rule.code in codes or rule.name == word.lower()]


def _about(words: Sequence[str]) -> tuple[Rule | Pitfall, ...]:
    """The rules whose names or summaries contain some keywords, and the other pitfalls."""
    asked = {part.lower() for word in words for part in word.split()}
    if not asked or len(asked) > _MOST_PAGES:
        return ()

    def is_about(text: str) -> bool:
        return all(part in text.lower() for part in asked)

    rules = [rule for rule in registry.rules() if is_about(f"{rule.name} {rule.summary}")]
    named = {name for rule in rules for name in rule.pitfalls}
    others = [
        pitfall
        for pitfall in pitfalls().values()
        if pitfall.name not in named and is_about(f"{pitfall.title} {pitfall.what}")
    ]
    return (*rules, *others)


def _resembling(name: str) -> str | None:
    """The code, name or id that is closest to an unknown one."""
    from difflib import get_close_matches

    close = get_close_matches(name.upper(), pitfalls(), 1, 0.6)
    return registry.resembling(name) or (close[0] if close else None)


def _answered(answers: Sequence[Answer]) -> str:
    """The page of the best answer below how sure it is; of unsure ones only the titles."""
    first, *others = answers
    if first.certainty == "unsure":
        listed = "".join(f"- {_line(answer)}\n" for answer in answers)
        names = [first.rule.code] if first.rule else []
        names += [pitfall.name for pitfall in first.pitfalls]
        return (
            "This is not a known error message. By its words, it may be about:\n\n"
            f"{listed}\n`precision-lint explain {' '.join(names)}` says more about the first.\n"
        )
    if first.certainty == "likely":
        head = f"This looks like an error that {_names(first)} explains."
    else:
        head = f"This is an error that {_names(first)} explains."
    page = _page(first.rule or first.pitfalls[0])
    if first.rule and (cure := _cure(first)):  # before the page, which is about code
        head += f"\n\n{_subject(first)}. {cure}"
    listed = "".join(f"- {_line(answer)}\n" for answer in others)
    return f"{head}\n\n{page}" + (f"\n## Less likely\n{listed}" if others else "")


def _names(answer: Answer) -> str:
    """What an answer is called: `MP101 numpy-on-bfloat16 (A01)`, `D01`."""
    ids = ", ".join(pitfall.name for pitfall in answer.pitfalls)
    named = f"pitfall{'s' * (len(answer.pitfalls) > 1)} {ids}"
    if answer.rule is None:
        return named
    return f"{answer.rule.code} `{answer.rule.name}`" + (f" ({named})" if ids else "")


def _line(answer: Answer) -> str:
    cure = _cure(answer)
    return f"{_names(answer)}: {_subject(answer)}" + (f". {cure}" if cure else "")


def _subject(answer: Answer) -> str:
    """What a message is about: one of the subjects of a page, if the page has several."""
    if answer.rule is None or _cure(answer):
        return next((one.title for one in answer.pitfalls if one.cure), answer.pitfalls[0].title)
    return answer.rule.summary


def _cure(answer: Answer) -> str:
    """The cure of the first pitfall that has one: they are in order."""
    return next((one.cure for one in answer.pitfalls if one.cure), "")


def _title(page: Rule | Pitfall) -> str:
    if isinstance(page, Rule):
        return f"{page.code} `{page.name}`: {page.summary}"
    return f"{page.name}: {page.title}"


def _page(page: Rule | Pitfall) -> str:
    """The page of a rule or of a pitfall, in Markdown."""
    if isinstance(page, Pitfall):
        return _page_of_pitfall(page)
    document = registry.module(page).__doc__ or ""
    tier = "In preview: this rule runs only with `--preview`.\n\n" if page.preview else ""
    return f"# {page.code} `{page.name}`\n\n{tier}{document.strip()}\n"


def _page_of_pitfall(pitfall: Pitfall) -> str:
    rules = rules_of(pitfall)
    lines = [f"# {pitfall.name} {pitfall.title}", "", pitfall.what]
    if rules:
        lines += ["", "Found by " + ", ".join(f"{one.code} `{one.name}`" for one in rules) + "."]
    else:
        lines += ["", "No rule finds this: it happens at run time."]
    if pitfall.cure:
        lines += ["", "## Cure", pitfall.cure]
    if pitfall.messages:
        lines += ["", "## Messages", *(f"- `` {message} ``" for message in pitfall.messages)]
    lines += ["", f"Versions: {pitfall.versions}.", "", "## References"]
    return "\n".join([*lines, *(f"- {one}" for one in pitfall.references), ""])


def _as_answer(page: Rule | Pitfall) -> Answer:
    if isinstance(page, Pitfall):
        rules = rules_of(page)
        return Answer(rules[0] if rules else None, (page,), "", 1.0, certainty="certain")
    own = tuple(pitfalls()[name] for name in page.pitfalls)
    return Answer(page, own, "", 1.0, certainty="certain")
