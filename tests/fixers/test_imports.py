"""Where an import goes, and what the name is called there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from precision_lint.fixers.imports import import_name, remove_name
from precision_lint.model.finding import apply_edits
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText

LINE = "from precision_lint.runtime import to_numpy\n"


def add(source: str) -> tuple[str, str]:
    """The name and the text after importing `to_numpy` for a use on the last line."""
    file = parse_python(SourceText(Path("case.py"), source))
    before = source.rstrip("\n").rfind("\n") + 1
    name, edits = import_name(file, "precision_lint.runtime", "to_numpy", before)
    return name, apply_edits(source, edits)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("use\n", LINE + "\nuse\n", id="nothing there"),
        pytest.param("import torch\nuse\n", "import torch\n" + LINE + "use\n", id="below imports"),
        pytest.param(
            '"""Docs."""\nuse\n', '"""Docs."""\n\n' + LINE + "\nuse\n", id="below the docstring"
        ),
        pytest.param(
            '"""Docs."""\nfrom __future__ import annotations\nuse\n',
            '"""Docs."""\nfrom __future__ import annotations\n\n' + LINE + "use\n",
            id="below __future__",
        ),
        pytest.param(
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nuse\n",
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n" + LINE + "\nuse\n",
            id="below the shebang",
        ),
        pytest.param(
            "import torch\nif TYPE_CHECKING:\n    import numpy\nuse\n",
            "import torch\n" + LINE + "if TYPE_CHECKING:\n    import numpy\nuse\n",
            id="not into TYPE_CHECKING",
        ),
        pytest.param(
            "try:\n    import torch\nexcept ImportError:\n    torch = None\nuse\n",
            LINE + "\ntry:\n    import torch\nexcept ImportError:\n    torch = None\nuse\n",
            id="not into try",
        ),
        pytest.param(
            'import os\nos.environ["A"] = "1"\nimport torch\nuse\n',
            'import os\nos.environ["A"] = "1"\nimport torch\n' + LINE + "use\n",
            id="after what must happen first",
        ),
        pytest.param(
            "from torch import (\n    nn,\n)\nuse\n",
            LINE + "from torch import (\n    nn,\n)\nuse\n",
            id="above an import of several lines",
        ),
        pytest.param(
            "import torch; x = 1\nuse\n", "import torch; x = 1\n" + LINE + "use\n", id="semicolon"
        ),
        pytest.param(
            "import torch\r\nuse\r\n",
            "import torch\r\n" + LINE.replace("\n", "\r\n") + "use\r\n",
            id="CRLF",
        ),
        pytest.param(
            "try:\n    import torch\nexcept ImportError:\n    torch = None\n\n\n"
            'def f(x):\n    """Docs."""\n    y = x\n    use\n',
            "try:\n    import torch\nexcept ImportError:\n    torch = None\n\n\n"
            f'def f(x):\n    """Docs."""\n    {LINE}\n    y = x\n    use\n',
            id="into the function where torch is optional",
        ),
        pytest.param(
            "import os\n\n\ndef f(x):\n    import torch\n\n    use\n",
            f"import os\n\n\ndef f(x):\n    import torch\n    {LINE}\n    use\n",
            id="into the function that imports torch",
        ),
        pytest.param(
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import torch\n\n\n"
            "def f(x):\n    import os\n\n    use\n",
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import torch\n\n\n"
            f"def f(x):\n    import os\n\n    {LINE}\n    use\n",
            id="into the function where torch is for type checkers",
        ),
        pytest.param(
            "import torch\nfrom precision_lint.runtime import grad_scaler\nuse\n",
            "import torch\nfrom precision_lint.runtime import grad_scaler, to_numpy\nuse\n",
            id="beside another helper",
        ),
        pytest.param(
            "# Third party\nimport torch\n\nfrom . import a\nuse\n",
            f"# Third party\nimport torch\n{LINE}\nfrom . import a\nuse\n",
            id="before the imports of the project",
        ),
        pytest.param(
            "import torch  # isort: skip\nimport zlib\nuse\n",
            f"import torch  # isort: skip\nimport zlib\n\n{LINE}use\n",
            id="not beside an import that is not sorted",
        ),
    ],
)
def test_insertion(source: str, expected: str) -> None:
    assert add(source) == ("to_numpy", expected)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (LINE + "use\n", "to_numpy"),
        ("from precision_lint.runtime import to_numpy as host\nuse\n", "host"),
        ("import precision_lint.runtime as plr\nuse\n", "plr.to_numpy"),
        ("import precision_lint.runtime\nuse\n", "precision_lint.runtime.to_numpy"),
    ],
)
def test_what_is_imported_is_used(source: str, name: str) -> None:
    assert add(source) == (name, source)


def test_a_taken_name_is_left_to_its_owner() -> None:
    name, text = add("import torch\ndef to_numpy(x): ...\nuse\n")
    assert name == "_to_numpy"
    assert "from precision_lint.runtime import to_numpy as _to_numpy\n" in text


def remove(source: str, name: str) -> str | None:
    """The text without the import of a name; None where that is refused."""
    file = parse_python(SourceText(Path("case.py"), source))
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if alias.name == name:
                    edit = remove_name(file, node, alias)
                    return None if edit is None else apply_edits(source, [edit])
    raise AssertionError(name)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("from m import a\nuse\n", "use\n", id="alone"),
        pytest.param("from m import a", "", id="no line end"),
        pytest.param("x\r\nfrom m import a as b\r\nuse\r\n", "x\r\nuse\r\n", id="CRLF"),
        pytest.param("from m import a, b\n", "from m import b\n", id="first"),
        pytest.param("from m import b, a\n", "from m import b\n", id="last"),
        pytest.param("from m import b, a as x, c\n", "from m import b, c\n", id="between"),
        pytest.param(
            "from m import (\n    a,\n    b,\n)\n", "from m import (\n    b,\n)\n", id="rows"
        ),
        pytest.param(
            "from m import (\n    b,\n    a,\n)\n", "from m import (\n    b,\n)\n", id="row"
        ),
        pytest.param("from m import (\n    a,\n)\nuse\n", "use\n", id="rows of one"),
        pytest.param("def f():\n    import a\n    use\n", "def f():\n    use\n", id="function"),
        pytest.param(
            "import os\n\nfrom m import a\n\n\ndef f(): ...\n",
            "import os\n\n\ndef f(): ...\n",
            id="last section",
        ),
        pytest.param(
            "import os\n\nfrom m import a\n\nfrom . import b\n",
            "import os\n\nfrom . import b\n",
            id="section between",
        ),
        pytest.param("from m import a\n\n\ndef f(): ...\n", "def f(): ...\n", id="first"),
        pytest.param(
            "def f():\n    import a\n\n    use\n", "def f():\n    use\n", id="first of a block"
        ),
        pytest.param(
            "import os\nfrom m import a\n\nuse\n", "import os\n\nuse\n", id="end of a section"
        ),
        pytest.param("from m import a, b  # c\n", "from m import b  # c\n", id="comment stays"),
        pytest.param("from m import a  # why\nuse\n", None, id="comment would go"),
        pytest.param("from m import (\n    a,  # why\n    b,\n)\n", None, id="comment between"),
        pytest.param("if x:\n    import a\n", None, id="all of a block"),
        pytest.param("x = 1; import a\n", None, id="not alone on its line"),
    ],
)
def test_removal(source: str, expected: str | None) -> None:
    assert remove(source, "a") == expected
