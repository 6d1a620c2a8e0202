"""Write what is generated: `rules/_generated/index.py` and `docs/rules/` from the rule modules,
`rule_api.pyi` from the names that `rule_api.py` lists, `frameworks.json`, its schema and
`docs/frameworks.md` from the framework tables, `docs/pitfalls.md` and `messages.json` from
`docs/pitfalls.toml` and the rules, the totals of `docs/accuracy.md` and a figure of the README
from `docs/accuracy/readings.toml`.

python scripts/generate.py          write them
python scripts/generate.py --check  exit 1 if they are stale
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import types
from collections.abc import Mapping
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from readings import headline, totals

import precision_lint.rules
from precision_lint import rule_api
from precision_lint.engine.hooks import HOOKS, RuleModule
from precision_lint.facts.frameworks.table import (
    Conflict,
    Framework,
    Key,
    Link,
    Recognizer,
    Repair,
    Test,
    framework,
)
from precision_lint.model.rule import Rule

ROOT = Path(__file__).resolve().parent.parent
FRAMEWORKS = ROOT / "precision_lint" / "facts" / "frameworks"
READINGS = ROOT / "docs" / "accuracy" / "readings.toml"


def modules() -> list[RuleModule]:
    """Every rule module, in code order."""
    names = [info.name for info in pkgutil.iter_modules(precision_lint.rules.__path__)]
    found = [
        import_module(f"precision_lint.rules.{name}") for name in names if not name.startswith("_")
    ]
    return sorted(found, key=lambda module: module.RULE.code)  # type: ignore[return-value]


def with_hooks(module: RuleModule) -> Rule:
    hooks = frozenset(hook for hook in HOOKS if hasattr(module, hook))
    return dataclasses.replace(module.RULE, hooks=hooks)


def index() -> str:
    """The source of `rules/_generated/index.py`."""
    lines = [
        '"""Every rule, without its module. Written by scripts/generate.py: do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        "from precision_lint.rule_api import Rule, Severity",
        "",
        "RULES: tuple[Rule, ...] = (",
    ]
    for module in modules():
        rule = with_hooks(module)
        lines.append("    Rule(")
        for field in dataclasses.fields(rule):
            value = getattr(rule, field.name)
            lines.append(f"        {field.name}={_literal(value)},")
        lines.append("    ),")
    return _formatted("\n".join([*lines, ")", ""]))


def _literal(value: object) -> str:
    if isinstance(value, frozenset):
        return f"frozenset({{{', '.join(map(repr, sorted(value)))}}})" if value else "frozenset()"
    if type(value).__name__ == "Severity":
        return f"Severity.{value.name}"  # type: ignore[attr-defined]
    return repr(value)


def interface() -> str:
    """`rule_api.pyi`: the names that rules may import, for type checkers."""
    lines = [
        '"""The names of `rule_api`, for type checkers. Written by scripts/generate.py."""',
        "",
    ]
    for home, names in rule_api.NAMES.items():
        lines += [f"from {home} import {name} as {name}" for name in names.split()]
    source = "\n".join([*lines, "", "NAMES: dict[str, str]", ""])
    return _formatted(_ruff(source, "check", "--quiet", "--select", "I", "--fix"))


def _formatted(source: str) -> str:
    return _ruff(source, "format")


def _ruff(source: str, *command: str) -> str:
    """What a command of ruff makes of the source of a generated module."""
    return subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--stdin-filename", "generated.py", "-"],
        input=source,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout


def page(module: RuleModule) -> str:
    """The docs page of a rule: its docstring under a head with its facts."""
    rule = module.RULE
    assert module.__doc__ is not None
    title, _, body = module.__doc__.partition("\n")
    facts = f"Severity {rule.severity} · fix {rule.fix} · since {rule.since}"
    if rule.preview:
        facts += " · [preview](README.md#preview-rules)"
    if rule.pitfalls:
        links = (f"[{name}](../pitfalls.md#{name.lower()})" for name in rule.pitfalls)
        facts += f" · pitfalls {', '.join(links)}"
    return f"# {rule.code} `{rule.name}`\n\n{title}\n\n{facts}\n{body.rstrip()}\n"


def overview() -> str:
    """`docs/rules/README.md`: the catalogue."""
    rows = [
        f"| [{m.RULE.code}]({m.RULE.name}.md) | `{m.RULE.name}` | {m.RULE.summary} "
        f"| {m.RULE.severity} | {m.RULE.fix} | {'preview' if m.RULE.preview else ''} |"
        for m in modules()
    ]
    head = [
        "# Rules",
        "",
        "| code | name | finds | severity | fix | |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows, "", _PREVIEW])


_PREVIEW = """\
## Preview rules

A new rule is a *preview* rule: it runs only with `--preview`, or with `preview = true` in the
configuration. To select it by its code is not enough. Its message, its name and what it finds may
change in any release.

It becomes a normal rule when all of these hold:

- its cases and its demonstration, which executes the mistake and the repair, pass;
- it was run on at least 20 public repositories that were chosen before anyone looked at them, every
  finding was read, and at least 85 % were right;
- [docs/accuracy.md](../accuracy.md) says so, with the date and the wrong findings.

Some rules are on although public code does not show that much of them. MP101 and MP309 find what
the tool exists for. In the newest ten sets MP309 is right in 51 of 85 findings and MP101 in 24 of
55, and in none of 15 in the newest four. MP410 reports what stops a program at its start, and a
program that was published has mostly run: in 1,806 public repositories it had five findings, of
which one was right. In programs that are being written such mistakes are common: it alone finds 22
of the 80 known pitfalls that are found at default settings.
"""


def read_tables() -> dict[str, dict[str, object]]:
    """The framework tables as they are written, each checked."""
    folder = FRAMEWORKS / "tables"
    read = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in folder.glob("*.toml")}
    for slug, table in read.items():
        framework(slug, table)
    return read


def compiled() -> str:
    """`frameworks.json`: the framework tables as they are loaded."""
    return (
        json.dumps(read_tables(), sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"
    )


def marks() -> str:
    """`marks.py`: the words without which no framework reads a file."""
    python: set[str] = set()
    keys: set[str] = set()
    for slug, table in read_tables().items():
        for way in framework(slug, table).ways:
            python |= {callee if way.takes else callee.rpartition(".")[2] for callee in way.callees}
            if way.form == "mapping":
                words = {name.rpartition(".")[2] for name in way.own}
                keys |= words
                if way.in_python:
                    python |= {word for word in words if "_" in word}
    lines = [
        '"""Words without which no framework reads a file. Written by scripts/generate.py."""',
        "",
        "from __future__ import annotations",
        "",
        f"PYTHON: tuple[bytes, ...] = {_words(python)}",
        f"JSON: tuple[bytes, ...] = {_words(keys)}",
        "",
    ]
    return _formatted("\n".join(lines))


def schema() -> str:
    """`schema.json`: the format of the tables, for editors."""
    parts = {
        kind.__name__.lower(): _of_class(kind)
        for kind in (Recognizer, Key, Link, Test, Repair, Conflict)
    }
    del parts["key"]["properties"]["name"]
    parts["key"]["required"].remove("name")
    parts["test"]["properties"]["not"] = {}
    literal = {"type": ["string", "boolean", "number", "array"]}
    tests = {"additionalProperties": {"anyOf": [literal, {"$ref": "#/$defs/test"}]}}
    conflict = parts["conflict"]["properties"]
    for name in ("when", "unless"):
        conflict[name] = {**conflict[name], "type": "object", **tests}
    conflict["severity"]["enum"] += ["ignored", "harmful"]
    whole = _of_class(Framework)
    properties = whole["properties"]
    for name in ("slug", "ways", "keys", "links", "conflicts"):
        del properties[name]
    of_keys = {"type": "object", "additionalProperties": {"$ref": "#/$defs/key"}}
    properties["keys"] = of_keys
    for name, part in (("read", "recognizer"), ("link", "link"), ("conflict", "conflict")):
        properties[name] = {"type": "array", "items": {"$ref": f"#/$defs/{part}"}}
    whole["required"] = [name for name in whole["required"] if name in properties]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**head, **whole, "$defs": parts}, indent=1, ensure_ascii=False) + "\n"


def _of_class(kind: type) -> dict[str, Any]:
    """The schema of a table that one dataclass holds."""
    hints, notes = get_type_hints(kind), _notes(kind)
    fields = {field.name.replace("_", "-"): field for field in dataclasses.fields(kind)}
    missing = dataclasses.MISSING
    return {
        "type": "object",
        "description": inspect.getdoc(kind),
        "properties": {
            name: {**_of_type(hints[field.name]), **notes.get(field.name, {})}
            for name, field in fields.items()
        },
        "required": [
            name
            for name, field in fields.items()
            if field.default is missing and field.default_factory is missing
        ],
        "additionalProperties": False,
    }


def _notes(kind: type) -> dict[str, dict[str, str]]:
    """What stands as a text behind the fields of a class."""
    (definition,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(definition, ast.ClassDef)
    return {
        field.target.id: {"description": str(note.value.value)}
        for field, note in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(note, ast.Expr) and isinstance(note.value, ast.Constant)
    }


def _of_type(hint: Any) -> dict[str, Any]:
    """The schema of a value of an annotated type."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    if hint is Repair:
        return {"$ref": "#/$defs/repair"}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [str(member) for member in hint]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is tuple:
        return {"type": "array", "items": _of_type(inner[0])}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _of_type(inner[1])}
    if origin is types.UnionType or origin is Union:
        return _of_type(next(each for each in inner if each is not type(None)))
    return {}  # any value


_SIMPLE = {str: "string", bool: "boolean", int: "integer", float: "number"}


def frameworks_page() -> str:
    """`docs/frameworks.md`: its own text, and what the tables say of each framework."""
    text = (ROOT / "docs" / "frameworks.md").read_text("utf-8")
    head = text.partition(_GENERATED)[0]
    known = [framework(slug, table) for slug, table in read_tables().items()]
    known.sort(key=lambda one: one.name.casefold())
    rules = {module.RULE.name: module.RULE for module in modules()}
    names = {one.slug: one.name for one in known}
    sections = (_section(one, names.get(one.extends, ""), rules) for one in known)
    return head + _GENERATED + "\n" + "\n".join(sections)


_GENERATED = "<!-- what follows is written by scripts/generate.py -->\n"


def _section(one: Framework, base: str, rules: dict[str, Rule]) -> str:
    further = f" Has all of {base}, too." if base else ""
    lines = [f"### {one.name}", "", f"Library `{one.library}`, read at {one.source}.{further}", ""]
    roles: dict[str, list[str]] = {}
    for key in one.keys.values():
        if key.role != "other":
            roles.setdefault(key.role, []).append(f"`{key.name}`")
    lines += [f"- {role}: {', '.join(names)}" for role, names in sorted(roles.items())]
    if one.conflicts:
        lines += ["", "| what is wrong | what it does | rule |", "|---|---|---|"]
    rows = []
    for conflict in one.conflicts:
        says = _PLACEHOLDER.sub("…", conflict.says).replace("|", "\\|")
        gates = (("since", conflict.since), ("before", conflict.before))
        when = "".join(f", {word} {release}" for word, release in gates if release)
        message = _PLACEHOLDER.sub("…", conflict.message).replace("|", "\\|")
        rule = f"[{rules[conflict.rule].code}](rules/{conflict.rule}.md)"
        rows.append(f"| {message} | {conflict.verdict}{when}: `` {says} `` | {rule} |")
    return "\n".join([*lines, *dict.fromkeys(rows), ""])


_PLACEHOLDER = re.compile(r"\{[\w.:]+\}")


def pitfalls_page() -> str:
    """`docs/pitfalls.md`: the catalogue, with the rules that name each pitfall."""
    known = tomllib.loads((ROOT / "docs" / "pitfalls.toml").read_text("utf-8"))
    families: dict[str, str] = known.pop("families")
    rules: dict[str, list[str]] = {name: [] for name in known}
    for module in modules():
        rule = module.RULE
        for name in rule.pitfalls:
            rules[name].append(f"[{rule.code}](rules/{rule.name}.md) `{rule.name}`")
    found = tomllib.loads((ROOT / "tests" / "pitfalls" / "found.toml").read_text("utf-8"))
    levels = {
        **dict.fromkeys(found["preview"], "found with `--preview`"),
        **dict.fromkeys(found["default"], "found by default"),
    }
    lines = [_PITFALLS_HEAD]
    for family, subject in families.items():
        lines += [f"## {family}: {subject}", ""]
        for name, pitfall in sorted(known.items()):
            if name[0] == family:
                level = levels.get(name, "not found")
                lines += _pitfall(name, pitfall, rules[name], level)
    return "\n".join(lines)


_PITFALLS_HEAD = """\
<!-- written by scripts/generate.py from docs/pitfalls.toml and the rules -->

# Pitfalls of mixed precision

What goes wrong in mixed-precision code, whether a rule finds it or not. A rule may find only some
forms of a pitfall: its page says which. "Example" links to a bad program and its good twin, and
says whether the bad one is found; both are executed where a CPU is enough. Messages were reproduced
with torch 2.13 on the CPU and with Triton up to 3.9, or are quoted from the references where that
takes a GPU or an older release. "Versions" says what is known: "all" means every release that was
looked at.
"""


def _pitfall(name: str, pitfall: dict[str, Any], rules: list[str], level: str) -> list[str]:
    """The section of one pitfall."""
    messages = [f"`` {message} ``" for message in pitfall.get("messages", ())]
    rows = {
        "Message": " · ".join(messages) or "none",
        **({"Cure": pitfall["cure"]} if "cure" in pitfall else {}),
        "Versions": pitfall["versions"],
        "Found by": ", ".join(rules) or "no rule yet",
        "Example": f"[{name[0]}.md](../tests/pitfalls/{name[0]}.md), {level}",
        "References": ", ".join(map(_reference, pitfall["references"])),
    }
    head = [f"### {name}", "", f"**{pitfall['title']}.** {pitfall['what']}", ""]
    return [*head, *(f"- {label}: {row}" for label, row in rows.items()), ""]


def _reference(reference: str) -> str:
    """A link to a page, or to an issue or a pull request of GitHub."""
    if reference.startswith("https://"):
        return f"<{reference}>"
    repository, _, number = reference.partition("#")
    return f"[{reference}](https://github.com/{repository}/issues/{number})"


def _words(words: set[str]) -> str:
    return repr(tuple(word.encode() for word in sorted(words)))


def messages() -> str:
    """`messages.json`: the pitfalls, and the messages that the pages of the rules quote."""
    known = tomllib.loads((ROOT / "docs" / "pitfalls.toml").read_text("utf-8"))
    known.pop("families")
    for name, more in unlisted_messages().items():
        listed = known[name].get("messages", ())
        known[name]["unlisted"] = [message for message in more if message not in listed]
    quoted = {module.RULE.code: quoted_messages(module) for module in modules()}
    signs = tomllib.loads((ROOT / "docs" / "signs.toml").read_text("utf-8"))
    rules = {code: rows for code, rows in quoted.items() if rows}
    found = {"rules": rules, "pitfalls": known, **signs}
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def unlisted_messages() -> dict[str, list[str]]:
    """Messages of pitfalls that `explain` knows and no page lists: collected ones and measured."""
    docs = ROOT / "docs"
    collected = tomllib.loads((docs / "messages.toml").read_text("utf-8"))
    measured = json.loads((docs / "measured_messages.json").read_text("utf-8"))
    names = sorted({*collected, *measured})
    return {
        name: list(dict.fromkeys([*collected.get(name, ()), *measured.get(name, ())]))
        for name in names
    }


def quoted_messages(module: RuleModule) -> list[str]:
    """The messages that a page quotes where it says why the mistake hurts."""
    assert module.__doc__ is not None
    _, _, why = module.__doc__.partition("\n## Why it hurts\n")
    paragraphs = (" ".join(one.split()) for one in why.partition("\n## ")[0].split("\n\n"))
    spans = (match[2].strip() for one in paragraphs for match in _CODE_SPAN.finditer(one))
    return list(dict.fromkeys(span for span in spans if _is_message(span)))


_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def _is_message(span: str) -> bool:
    """True for a sentence; expressions have few words, or operators between blanks."""
    chunks = [chunk.strip(".,:;!") for chunk in span.split()]
    plain = [chunk for chunk in chunks if chunk.isalpha()]
    return len(chunks) >= 3 and len(plain) >= 2 and not re.search(r" [<=] ", span)


def accuracy_page() -> str:
    """`docs/accuracy.md`: its own text, and the totals of the first readings."""
    page = ROOT / "docs" / "accuracy.md"
    head = page.read_text("utf-8").partition(_GENERATED)[0]
    rules = [module.RULE for module in modules()]
    return head + _GENERATED + "\n" + totals(READINGS, rules)


_HEADLINE = re.compile(r"\| \d+ of \d+ \| findings in the newest \d+ public repositories")


def readme() -> str:
    """The README, with the share of right findings in the newest sets."""
    share, repositories = headline(READINGS)
    row = f"| {share} | findings in the newest {repositories} public repositories"
    text, found = _HEADLINE.subn(row, (ROOT / "README.md").read_text("utf-8"))
    assert found == 1, "the README has no row for the findings in the newest repositories"
    return text


def outputs() -> dict[Path, str]:
    docs = ROOT / "docs" / "rules"
    pages = {docs / f"{module.RULE.name}.md": page(module) for module in modules()}
    return {
        ROOT / "rules" / "_generated" / "index.py": index(),
        ROOT / "precision_lint" / "rule_api.pyi": interface(),
        FRAMEWORKS / "_generated" / "frameworks.json": compiled(),
        FRAMEWORKS / "tables" / "schema.json": schema(),
        FRAMEWORKS / "_generated" / "marks.py": marks(),
        ROOT / "README.md": readme(),
        ROOT / "docs" / "accuracy.md": accuracy_page(),
        ROOT / "docs" / "frameworks.md": frameworks_page(),
        ROOT / "docs" / "pitfalls.md": pitfalls_page(),
        ROOT / "precision_lint" / "engine" / "messages.json": messages(),
        docs / "README.md": overview(),
        **pages,
    }


def main() -> int:
    stale = [
        path
        for path, content in outputs().items()
        if not path.exists() or path.read_text("utf-8") != content
    ]
    if "--check" in sys.argv:
        for path in stale:
            print(f"stale: {path.relative_to(ROOT)}")
        return bool(stale)
    for path, content in outputs().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
