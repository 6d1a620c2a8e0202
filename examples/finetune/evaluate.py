"""Perplexity and confidence of a checkpoint over held-out captions.

    python evaluate.py runs/captions held_out.jsonl
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


@torch.inference_mode()
def log_probabilities(model, tokenizer, caption: str) -> np.ndarray:
    """The log-probability of every token of a caption, given the tokens before it."""
    batch = tokenizer(caption, return_tensors="pt").to(model.device)
    logits = model(**batch).logits[:, :-1]
    targets = batch["input_ids"][:, 1:, None]
    chosen = torch.log_softmax(logits, dim=-1).gather(-1, targets)
    return chosen.squeeze().cpu().numpy()


def report(per_caption: list[np.ndarray]) -> dict[str, float]:
    tokens = np.concatenate(per_caption)
    return {
        "perplexity": float(np.exp(-tokens.mean())),
        "worst caption": float(min(caption.mean() for caption in per_caption)),
        "tokens": tokens.size,
    }


def main(checkpoint: str, held_out: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype="auto", device_map="cuda")
    captions = [json.loads(line)["caption"] for line in Path(held_out).open(encoding="utf-8")]
    print(report([log_probabilities(model, tokenizer, caption) for caption in captions]))


if __name__ == "__main__":
    main(*sys.argv[1:])
