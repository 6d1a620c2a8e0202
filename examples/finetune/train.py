"""Fine-tune a caption model with LoRA.

    python train.py --model mistralai/Mistral-7B-v0.3 --data captions.jsonl --out runs/captions
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, get_cosine_schedule_with_warmup

from kernels.cross_entropy import cross_entropy


def batches(tokenizer, path: Path, batch_size: int, max_length: int) -> DataLoader:
    """The captions as padded batches of token ids."""

    def collate(rows):
        texts = [row["caption"] + tokenizer.eos_token for row in rows]
        return tokenizer(
            texts, padding=True, truncation=True, max_length=max_length, return_tensors="pt"
        )

    captions = load_dataset("json", data_files=str(path), split="train")
    return DataLoader(captions, batch_size=batch_size, shuffle=True, collate_fn=collate)


def loss_of(model, batch, logit_scale: float) -> torch.Tensor:
    logits = model(**batch).logits[:, :-1]
    labels = batch["input_ids"][:, 1:].masked_fill(batch["attention_mask"][:, 1:] == 0, -100)
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), logit_scale)


def train(args: argparse.Namespace) -> None:
    device = torch.device("cuda")
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(args.model).to(device)
    model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules="all-linear"))

    loader = batches(tokenizer, args.data, args.batch_size, args.max_length)
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=args.lr)
    schedule = get_cosine_schedule_with_warmup(optimizer, 100, args.epochs * len(loader))

    # bfloat16 where the GPU has it: A100 and newer
    has_bfloat16 = torch.cuda.is_bf16_supported(including_emulation=False)
    amp_dtype = torch.bfloat16 if has_bfloat16 else torch.float16
    scaler = torch.amp.GradScaler("cuda", init_scale=2.0**14)

    for epoch in range(args.epochs):
        for step, batch in enumerate(loader):
            batch = batch.to(device)
            with torch.autocast("cuda", dtype=amp_dtype):
                loss = loss_of(model, batch, args.logit_scale)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            scaler.step(optimizer)
            scaler.update()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
            if step % 50 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
    model.save_pretrained(args.out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--max-length", type=int, default=512)
    parser.add_argument("--lr", type=float, default=2e-4)
    parser.add_argument("--logit-scale", type=float, default=1.0)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
