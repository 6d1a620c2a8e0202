"""Which tokens did the fine-tune hardly move? Compares two embedding tables.

    python vocab.py base/model.safetensors runs/captions/merged.safetensors
"""

from __future__ import annotations

import sys

import numpy as np
import torch
from safetensors.torch import load_file

EMBEDDINGS = "model.embed_tokens.weight"


def drift(before_path: str, after_path: str) -> np.ndarray:
    """How far every token's embedding moved, in the precision that it is served in."""
    before = load_file(before_path)[EMBEDDINGS].to(torch.bfloat16)
    after = load_file(after_path)[EMBEDDINGS].to(torch.bfloat16)
    moved = (after - before).norm(dim=1)
    return moved.cpu().numpy()


def main(before_path: str, after_path: str) -> None:
    moved = drift(before_path, after_path)
    asleep = np.flatnonzero(moved < np.quantile(moved, 0.01))
    print(f"{len(asleep)} tokens hardly moved: {asleep[:20].tolist()} ...")


if __name__ == "__main__":
    main(*sys.argv[1:])
