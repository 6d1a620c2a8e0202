"""Calls that may load a configuration in a way that is not known.

A library may read files of any format by a function of its own: `configue.load(path)`. So may an
object whose class is not seen.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.written.loads import loads_in
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted, last_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_READING = regex(
    r"_*(?:\w+_)?(?:load|read|parse)(?:s|_\w+|[A-Z]\w*)?|from_?(?:file|path|conf|ya?ml|json|toml)\w*"
)
"""Names of functions that may load a file."""
_OTHER_READING = frozenset({
    "parse_args", "parse_known_args", "parse_intermixed_args", "load_state_dict", "read_text",
    "read_bytes", "load_module", "load_dotenv", "load_model", "load_weights", "load_checkpoint",
    "load_dataset", "load_from_checkpoint", "load_from_disk",
})  # fmt: skip
"""Those that read something else."""
_CONFIGURATION = regex(
    r"\w*(?:conf|cfg|settings|ya?ml|json|toml)\w*(?:path|file|name)\w*|\w*deepspeed\w*|ds_config"
    r"|(?:path|file)_?(?:to_|of_)?(?:conf|cfg|settings|ya?ml|json|toml)\w*"
)
"""Names of what holds the path of a configuration."""
_OF_DATA = frozenset({
    "PIL", "cv2", "datasets", "imageio", "joblib", "librosa", "matplotlib", "numpy", "pandas",
    "safetensors", "scipy", "sklearn", "skimage", "soundfile", "tokenizers", "torch", "torchaudio",
    "torchvision", "tqdm", "triton",
})  # fmt: skip
_KNOWN = _OF_DATA | sys.stdlib_module_names
"""Libraries that load no configuration, and those whose loaders are known."""


def may_load(suffix: str, paths: Sequence[Path], project: Recording) -> bool:
    """True if code of some files may load files of a format in a way that is not known."""
    for path in paths:
        file = project.module(path)
        known = {id(load.call) for load in loads_in(path, suffix, project)}
        for node in file.nodes if file is not None else ():
            if id(node) in known or file is None:
                continue
            if isinstance(node, ast.Call) and _may_load(node, suffix, file, project):
                return True
    return False


def _may_load(call: ast.Call, suffix: str, file: ParsedPython, project: Recording) -> bool:
    given = (*call.args, *(each.value for each in call.keywords))
    name = callee_name(call)
    is_reading = _READING.fullmatch(name) is not None and name not in _OTHER_READING
    names = syntax_tree(file).names
    if (dotted(call.func) or "").partition(".")[0] in names:
        if not _is_unknown(qualified(call.func, names), file, project):
            return False
        return is_reading or any(_is_path(each, suffix, call) for each in given)
    # A method of an object whose class is not seen, or a function of `import *`.
    if not is_reading or not given or _is_defined(name, call, file):
        return False
    return any(not isinstance(each, ast.Constant) or _is_path(each, suffix, call) for each in given)


def _is_unknown(name: str, file: ParsedPython, project: Recording) -> bool:
    """True for a function of a library that may load anything."""
    if name.startswith(".") or name.partition(".")[0] in _KNOWN:
        return False
    home = project.locate(file.text.path, name.partition(".")[0])
    return home is None


def _is_path(node: ast.expr, suffix: str, call: ast.Call) -> bool:
    """True for what names a file of a format, or is called the path of a configuration."""
    match node:
        case ast.Constant(value=str(text)):
            return text.endswith(suffix)
        case ast.JoinedStr(values=[*_, ast.Constant(value=str(text))]):
            return text.endswith(suffix)
    said = [each.arg or "" for each in call.keywords if each.value is node]
    return any(_CONFIGURATION.fullmatch(name.lower()) for name in (*said, last_name(node)))


def _is_defined(name: str, call: ast.Call, file: ParsedPython) -> bool:
    """True if the file defines a function, or a method for what is called as one."""
    indent = "[ \t]+" if isinstance(call.func, ast.Attribute) else "[ \t]*"
    defining = rf"(?m)^{indent}(?:async[ \t]+)?def[ \t]+{re.escape(name)}\("
    return re.search(defining, file.text.text) is not None
