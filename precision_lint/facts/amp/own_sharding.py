"""Files that shard their models with torch's own FSDP, which keeps the dtype of the weights.

Run with torch 2.13: of weights that are loaded in bfloat16, `FullyShardedDataParallel` and
`fully_shard` make shards in bfloat16, whatever `MixedPrecision` says, and the optimizer updates
these. It is Accelerate that makes float32 weights of them first.
"""

from __future__ import annotations

import ast
import re

from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import syntax_tree

SHARDING = regex(r"fsdp|fullysharded|fully_shard", re.IGNORECASE)
"""Words of FSDP, whoever starts it."""
_STARTING = regex(r"accelerat|Trainer\b|fairscale|torchtitan|composer\b|nemo\b", re.IGNORECASE)
"""What starts FSDP by itself, or has one of its own. A comment may say that it does."""
_TORCH = "torch.distributed."


@fact
def shards_by_itself(file: ParsedPython) -> bool:
    """True if what a file says of FSDP can only mean that of torch, which its own code calls."""
    if _STARTING.search(file.text.text) is not None:
        return False
    names = syntax_tree(file).names
    called = (qualified(call.func, names) for call in file.nodes_of(ast.Call))
    named = [name for name in (*names.values(), *called) if SHARDING.search(name)]
    own = {each.name for each in file.nodes_of(ast.FunctionDef)}
    return all(name.startswith(_TORCH) or name.rpartition(".")[2] in own for name in named)
