"""Write what is generated from the rule modules: `rules/index.py` and `docs/rules/`.

python scripts/generate.py          write them
python scripts/generate.py --check  exit 1 if they are stale
"""

from __future__ import annotations

import dataclasses
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args

import precision_lint.rules
from precision_lint.rule import Hook, Rule, RuleModule

ROOT = Path(__file__).resolve().parent.parent
HOOKS: tuple[Hook, ...] = get_args(Hook)


def modules() -> list[RuleModule]:
    """Every rule module, in code order."""
    names = [info.name for info in pkgutil.iter_modules(precision_lint.rules.__path__)]
    found = [import_module(f"precision_lint.rules.{name}") for name in names if name != "index"]
    return sorted(found, key=lambda module: module.RULE.code)  # type: ignore[return-value]


def with_hooks(module: RuleModule) -> Rule:
    hooks = frozenset(hook for hook in HOOKS if hasattr(module, hook))
    return dataclasses.replace(module.RULE, hooks=hooks)


def index() -> str:
    """The source of `rules/index.py`."""
    lines = [
        '"""Every rule, without its module. Written by scripts/generate.py: do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        "from precision_lint.finding import Severity",
        "from precision_lint.rule import Rule",
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


def _formatted(source: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "rules/index.py", "-"]
    return subprocess.run(
        command, input=source, capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout


def page(module: RuleModule) -> str:
    """The docs page of a rule: its docstring under a head with its facts."""
    rule = module.RULE
    assert module.__doc__ is not None
    title, _, body = module.__doc__.partition("\n")
    facts = f"Severity {rule.severity} · fix {rule.fix} · since {rule.since}"
    return f"# {rule.code} `{rule.name}`\n\n{title}\n\n{facts}\n{body.rstrip()}\n"


def overview() -> str:
    """`docs/rules/README.md`: the catalogue."""
    rows = [
        f"| [{m.RULE.code}]({m.RULE.name}.md) | `{m.RULE.name}` | {m.RULE.summary} "
        f"| {m.RULE.severity} | {m.RULE.fix} |"
        for m in modules()
    ]
    head = ["# Rules", "", "| code | name | finds | severity | fix |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def outputs() -> dict[Path, str]:
    docs = ROOT / "docs" / "rules"
    pages = {docs / f"{module.RULE.name}.md": page(module) for module in modules()}
    return {ROOT / "rules" / "index.py": index(), docs / "README.md": overview(), **pages}


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
