"""Train a small character-level language model on a text file.

    python train.py --batch-size 64 --amp bf16 --text book.txt

Without --text it learns this very file, which takes a minute on a GPU.
"""
from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, dim = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, dim))


class Block(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, vocabulary: int, context: int, dim: int, layers: int, heads: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, dim)
        self.positions = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocabulary, bias=False)

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.positions(positions)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def batches(text: Tensor, size: int, context: int):
    """Yield batches of windows of the text, each with the next characters."""
    while True:
        starts = torch.randint(len(text) - context, (size,))
        windows = torch.stack([text[s : s + context + 1] for s in starts])
        yield windows[:, :-1], windows[:, 1:]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, default=Path(__file__), help="file to learn")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--context", type=int, default=512, help="characters that the model sees")
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--amp", choices=["bf16", "fp16"], help="mixed precision")
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--save", type=Path, help="write the trained weights to this file")
    return parser.parse_args()


def main() -> None:
    args = parse_arguments()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)

    text = args.text.read_text(encoding="utf-8")
    alphabet = sorted(set(text))
    number = {character: i for i, character in enumerate(alphabet)}
    data = torch.tensor([number[character] for character in text])

    model = Model(len(alphabet), args.context, args.dim, args.layers, args.heads).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, None: torch.float32}[args.amp]
    scaler = torch.amp.GradScaler(device.type, enabled=args.amp == "fp16")
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters / 1e6:.1f} million parameters on {device}")

    began = time.perf_counter()
    for step, (tokens, targets) in enumerate(batches(data, args.batch_size, args.context), start=1):
        tokens, targets = tokens.to(device), targets.to(device)
        with torch.autocast(device.type, dtype=dtype, enabled=args.amp is not None):
            loss = model(tokens, targets)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        if step == 1 or step % 50 == 0:
            bits = loss.item() / math.log(2)
            print(f"step {step}: {bits:.3f} bits a character, {time.perf_counter() - began:.1f} s")
        if step == args.steps:
            break

    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
