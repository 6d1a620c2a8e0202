"""Random Python programs in the manner of training code."""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = st.sampled_from(["x", "logits", "loss", "model.weight", "self.scores", "batch['y']"])
DTYPES = st.sampled_from(
    [
        "torch.bfloat16",
        "torch.float16",
        "torch.float32",
        "torch.int64",
        "x.dtype",
        "dtype",
        "'bf16'",
    ]
)
COMMENTS = st.sampled_from(
    ["", "", "", "  # why", "\t#", "  # noqa", "  # noqa: MP101", "  # noqa: E501, MP201",
     "  # type: ignore  # précis", "  # precision-lint: ignore[numpy-on-bfloat16] x"]
)  # fmt: skip
BLANKS = st.sampled_from(["", "", "", " ", "  ", "\t", "\f"])


def _chains(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    methods = st.one_of(
        st.sampled_from(
            [".cpu()", ".numpy()", ".float()", ".detach()", ".bfloat16()", ".half()", ".T", "[0]",
             ".numpy(force=True)", ".tolist()", ".item()", ".argmax(-1)", ".softmax(-1)",
             "\\\n    .cpu()", ".to('cuda')", " . numpy ( )", ".sum(dtype=torch.float32)"]
        ),
        DTYPES.map(lambda dtype: f".to({dtype})"),
        DTYPES.map(lambda dtype: f".type({dtype}, )"),
    )  # fmt: skip
    return st.builds(
        lambda value, calls: value + "".join(calls), values, st.lists(methods, max_size=5)
    )


def _extended(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        _chains(values.map(lambda value: f"({value})")),
        st.builds(lambda a, b: f"{a} + {b}", values, values),
        st.builds(lambda a, b: f"({a} if {b} else {a})", values, values),
        st.builds(lambda a: f"np.asarray({a})", values),
        st.builds(lambda a: f"np.array(  # copy\n    {a},\n)", values),
        st.builds(lambda a: f"(f'{{len(repr(0))}}', {a})", values),
        st.builds(lambda a: f"[{a} for _ in range(2)]", values),
        st.builds(lambda a: f"lambda: {a}", values).map(lambda text: f"({text})"),
        st.builds(lambda a: f"(\n    # inside\n    {a}\n)", values),
    )


LEAVES = _chains(
    st.one_of(
        NAMES,
        DTYPES.map(lambda dtype: f"torch.zeros(2, dtype={dtype})"),
        st.sampled_from(["torch.randn(2)", "model(batch).logits", "torch.amp.GradScaler('cuda')",
                         "torch.cuda.amp.GradScaler()", "np.float32(1)", "tok.encode('é')"]),
    )
)  # fmt: skip
EXPRESSIONS = st.recursive(LEAVES, _extended, max_leaves=4)
STATEMENTS = st.one_of(
    st.builds(lambda name, value: f"{name} = {value}", NAMES, EXPRESSIONS),
    st.builds(lambda name, value: f"{name} += {value}", NAMES, EXPRESSIONS),
    EXPRESSIONS,
    st.sampled_from(["scaler = torch.amp.GradScaler('cuda', enabled=True)", "scaler.step(opt)",
                     "scaler.scale(loss).backward()", "import numpy as np", "pass; loss = 0",
                     "s = '''\n # noqa: MP101\n'''", "dtype = torch.bfloat16"]),
)  # fmt: skip
HEADS = st.sampled_from(
    ["if x is not None:", "for x in model.parameters():", "while loss:", "def f(x: torch.Tensor):",
     "async def g(self, x, dtype=torch.bfloat16):", "class Net(nn.Module):", "try:",
     "with torch.autocast('cuda', dtype=torch.bfloat16):", "with torch.no_grad():"]
)  # fmt: skip
IMPORTS = st.sampled_from(
    ["import torch\nimport numpy as np\n", "import torch\n", "from __future__ import annotations\n",
     '"""Documentation."""\nimport torch\n',
     "#!/usr/bin/env python\n# coding: utf-8\nimport torch\n",
     "import numpy as np, torch\n\n\n"]
)  # fmt: skip


@st.composite
def blocks(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """The lines of a block."""
    indent = "\t" * depth
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        if depth < 3 and draw(st.integers(0, 3)) == 0:
            head = draw(HEADS)
            lines += [indent + head + draw(COMMENTS), *draw(blocks(depth + 1))]
            if head == "try:":
                lines += [indent + "finally:", indent + "\tpass"]
        else:
            lines.append(indent + draw(STATEMENTS) + draw(COMMENTS))
        if blank := draw(BLANKS):
            lines.append(blank)
    return [*lines, f"{indent}pass"]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program that parses, its lines ended by line feeds."""
    return draw(IMPORTS) + "\n".join(draw(blocks())) + draw(st.sampled_from(["", "\n", "\n\n"]))
