"""Loading a state where the state beside it in the checkpoint is loaded."""

from __future__ import annotations

import ast

from precision_lint.fixers.lines import before_on_line
from precision_lint.fixers.statements import insert_after
from precision_lint.model.finding import Edit
from precision_lint.source.python.parse import ParsedPython


def load_beside(
    file: ParsedPython,
    scope: ast.AST,
    key: str,
    saved: ast.expr,
    name: str,
    owner: str,
    *,
    asking: str = "",
) -> list[Edit]:
    """`owner.load_state_dict(state["name"])` after each `saved.load_state_dict(state["key"])`.

    Under a condition, as older checkpoints lack the name, and a scaler that is off saves an empty
    state, which one that is on refuses (torch 2.13). Only below the line where the scope assigns
    `owner`; where there may be none, the condition is also `asking` for it.
    """
    first = _assigned_in(scope, owner)
    edits: list[Edit] = []
    for node in ast.walk(scope):
        match node:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=loaded, attr="load_state_dict"),
                    args=[
                        ast.Subscript(
                            value=ast.Name() | ast.Attribute() as state,
                            slice=ast.Constant(value=str(read)) as written,
                        )
                    ],
                    keywords=[],
                )
            ) if read == key and ast.dump(loaded) == ast.dump(saved) and node.lineno > first:
                quote = file.text[file.span_of(written)][0]
                checkpoint = file.text[file.span_of(state)]
                indent = before_on_line(file.text, file.span_of(node).start)
                step = "\t" if indent.startswith("\t") else "    "
                key_text = f"{quote}{name}{quote}"
                is_asked = f"{asking} and " if asking else ""
                lines = (
                    f"if {is_asked}{checkpoint}.get({key_text}):",
                    f"{indent}{step}{owner}.load_state_dict({checkpoint}[{key_text}])",
                )
                edit = insert_after(file, node, file.text.newline.join(lines))
                if edit is not None:
                    edits.append(edit)
    return edits


def _assigned_in(scope: ast.AST, owner: str) -> int:
    """The last line of a scope that assigns a variable or an attribute; 0 for none."""
    return max(
        (
            node.lineno
            for node in ast.walk(scope)
            if isinstance(node, ast.Name | ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and ast.unparse(node) == owner
        ),
        default=0,
    )
