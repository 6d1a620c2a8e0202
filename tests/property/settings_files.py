"""Random configuration files in random styles, and what is written in them."""

from __future__ import annotations

import json
from typing import Any

import yaml
from hypothesis import strategies as st

Draw = Any
Tree = dict[str, Any]

NAMES = ["fp16", "bf16", "x", "é", "a-b", "_y"]
NUMBERS = st.integers(-3, 70000) | st.floats(-10, 10, allow_nan=False).map(lambda x: round(x, 3))
TEXTS = st.sampled_from(["bf16", "no", "it's", 'say "a"', "1e-5", "a: b # c", "é😀", "x\\y", "~"])
VALUES = st.booleans() | NUMBERS | TEXTS
SCALARS = VALUES | st.just("a ${A}")
WORDS = st.sampled_from(["bf16", "no", "1.0", "a/b.c", "x=y", "fp32", "0.5"])

TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=4) | st.lists(inner, max_size=3)
    ),
    max_leaves=8,
)
MAPPINGS = st.dictionaries(st.sampled_from(NAMES), TREES, min_size=1, max_size=5)


class Writer:
    """Writes trees, with a fresh comment wherever the drawn style has one."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.comments: list[str] = []

    def chance(self) -> bool:
        return bool(self.draw(st.booleans()))

    def pick(self, *choices: str) -> str:
        return str(self.draw(st.sampled_from(choices)))

    def remark(self) -> str:
        self.comments.append(f"remark {len(self.comments)} é.")
        return self.comments[-1]


class Yaml(Writer):
    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.anchors: dict[str, str] = {}

    def scalar(self, value: object, *, flow: bool) -> str:
        """A literal, with an anchor now and then, or an alias of what had one."""
        literal = repr(value)
        if literal in self.anchors and self.chance():
            return f"*{self.anchors[literal]} "
        written = self.literal(value, flow=flow)
        if written[0] not in "|>" and self.draw(st.integers(0, 3)) == 0:
            self.anchors[literal] = f"n{len(self.anchors)}"
            return f"&{self.anchors[literal]} {written}"
        return written

    def literal(self, value: object, *, flow: bool) -> str:
        match value:
            case bool():
                return self.pick(*(("true", "True", "yes") if value else ("false", "False", "no")))
            case str():
                plain = yaml.safe_dump(value, allow_unicode=True, width=1000)
                plain = plain.removesuffix("\n").removesuffix("\n...")
                quoted = json.dumps(value, ensure_ascii=False), "'" + value.replace("'", "''") + "'"
                inside = " " * 24  # deeper than any mapping
                block = () if flow else (f"|-\n{inside}{value}", f">-\n{inside}{value}")
                return self.pick(plain, *quoted, *block)
            case _:
                return str(value)

    def flow(self, value: Any) -> str:
        gap = self.pick("", " ")
        match value:
            case dict():
                members = [f"{self.key(k)}: {self.flow(v)}" for k, v in value.items()]
                return self.between("{", members, "}")
            case list():
                return f"[{gap}" + f",{gap} ".join(map(self.flow, value)) + f"{gap}]"
            case _:
                return self.scalar(value, flow=True)

    def between(self, opening: str, members: list[str], closing: str) -> str:
        if not members or self.chance():
            trailing = "," if members and self.chance() else ""
            return opening + ", ".join(members) + trailing + closing
        ends = [f", # {self.remark()}" if self.chance() else "," for _ in members]
        lines = "".join(f"\n          {m}{end}" for m, end in zip(members, ends, strict=True))
        return f"{opening}{lines}\n          {closing}"

    def key(self, name: str) -> str:
        return self.pick(name, f'"{name}"', f"'{name}'")

    def block(self, tree: Tree, indent: str) -> str:
        lines = []
        for name, value in tree.items():
            if self.draw(st.integers(0, 5)) == 0:
                lines.append(f"{indent}# {self.remark()}\n" if self.chance() else "\n")
            match value:
                case dict() if value and self.chance():
                    inner = self.block(value, indent + self.pick("  ", "    "))
                    lines.append(f"{indent}{self.key(name)}:{self.end()}\n{inner}")
                case _:
                    end = self.end()
                    text = self.flow(value) if isinstance(value, dict | list) else ""
                    text = text or self.scalar(value, flow=False)
                    if text.startswith((">-", "|-")):
                        head, _, body = text.partition("\n")
                        text, end = f"{head}{end}\n{body}", ""
                    lines.append(f"{indent}{self.key(name)}: {text}{end}\n")
        return "".join(lines)

    def end(self) -> str:
        return self.pick("", f"  # {self.remark()}") if self.draw(st.integers(0, 2)) == 0 else ""

    def document(self, tree: Tree) -> str:
        self.anchors.clear()
        return self.block(tree, "") if self.chance() else f"{self.flow(tree)}\n"


class Json(Writer):
    def value(self, value: Any, indent: str = "") -> str:
        match value:
            case dict():
                colon = self.pick(":", ": ", " : ")
                members = [
                    f'"{name}"{colon}{self.value(each, indent + "  ")}'
                    for name, each in value.items()
                ]
                return self.between("{", members, "}", indent)
            case list():
                return self.between("[", [self.value(each, indent) for each in value], "]", indent)
            case _:
                return json.dumps(value, ensure_ascii=False)

    def between(self, opening: str, members: list[str], closing: str, indent: str) -> str:
        style = self.pick("line", "lines", "leading", "compact")
        if not members or style == "line":
            gap = f" /* {self.remark()} */ " if self.draw(st.integers(0, 4)) == 0 else ""
            return opening + gap + ", ".join(members) + closing
        if style == "compact":
            return opening + ",".join(members) + ("," if self.chance() else "") + closing
        start = f"\n{indent}  "
        if style == "leading":
            return opening + start + f"{start}, ".join(members) + f"\n{indent}{closing}"
        parts = []
        for index, member in enumerate(members):
            comma = "," if index < len(members) - 1 or self.chance() else ""
            end = f" // {self.remark()}" if self.draw(st.integers(0, 3)) == 0 else ""
            parts.append(f"{start}{member}{comma}{end}")
        return opening + "".join(parts) + f"\n{indent}{closing}"


class Toml(Writer):
    def value(self, value: Any) -> str:
        match value:
            case bool():
                return str(value).lower()
            case str():
                literal = () if "'" in value else (f"'{value}'", f"'''{value}'''")
                quoted = json.dumps(value, ensure_ascii=False)
                return self.pick(quoted, f'""{quoted}""', *literal)
            case dict():
                members = (f"{self.key(k)} = {self.value(v)}" for k, v in value.items())
                return "{" + ", ".join(members) + "}"
            case list():
                return "[" + ", ".join(map(self.value, value)) + "]"
            case _:
                return str(value)

    def key(self, name: str) -> str:
        plain = (name,) if name.isascii() else ()
        return self.pick(*plain, f'"{name}"', f"'{name}'")

    def table(self, tree: Tree, path: str = "") -> str:
        lines, tables = [], []
        for name, value in tree.items():
            key = self.key(name)
            style = self.pick("inline", "table", "dotted") if isinstance(value, dict) else ""
            if style == "table":
                tables.append((f"{path}.{key}" if path else key, value))
            elif style == "dotted" and value:
                for inner, each in value.items():
                    lines.append(f"{key}.{self.key(inner)} = {self.value(each)}{self.end()}\n")
            else:
                equals = self.pick(" = ", "=", "   = ")
                lines.append(f"{key}{equals}{self.value(value)}{self.end()}\n")
        text = "".join(lines)
        for header, value in tables:
            text += f"{self.pick('', chr(10))}[{header}]{self.end()}\n{self.table(value, header)}"
        return text

    def end(self) -> str:
        return f"  # {self.remark()}" if self.draw(st.integers(0, 3)) == 0 else ""
