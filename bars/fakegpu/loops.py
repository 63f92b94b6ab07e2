"""Three training loops in the shape of FakeGPU's maintained ones, at sizes that people train.

usage: loops.py checkpointing|gpt2|lora

Each takes one optimizer step.
"""
from __future__ import annotations

import sys

import torch
from torch.utils.checkpoint import checkpoint


def checkpointing() -> None:
    """Sixteen feed-forward blocks of width 2048, each recomputed in the backward pass."""
    width, depth = 2048, 16
    blocks = torch.nn.ModuleList(
        torch.nn.Sequential(torch.nn.Linear(width, 2 * width), torch.nn.GELU(), torch.nn.Linear(2 * width, width)) for _ in range(depth)
    ).to("cuda")
    optimizer = torch.optim.AdamW(blocks.parameters(), lr=1e-3)
    out = torch.randn((8, 256, width), device="cuda")
    for block in blocks:
        out = checkpoint(block, out, use_reentrant=False)
    out.square().mean().backward()
    optimizer.step()


def gpt2() -> None:
    """GPT-2 with 124 million parameters on four sequences of 512 tokens."""
    from transformers import AutoModelForCausalLM, GPT2Config

    model = AutoModelForCausalLM.from_config(GPT2Config(use_cache=False)).to("cuda")
    language_step(model, 4, 512)


def lora() -> None:
    """Adapters on GPT-2 large, 774 million parameters, on two sequences of 256 tokens."""
    from peft import LoraConfig, TaskType, get_peft_model
    from transformers import AutoModelForCausalLM, GPT2Config

    model = AutoModelForCausalLM.from_config(GPT2Config(n_embd=1280, n_layer=36, n_head=20, use_cache=False))
    adapters = LoraConfig(task_type=TaskType.CAUSAL_LM, r=8, lora_alpha=16, target_modules=["c_attn", "c_proj"], fan_in_fan_out=True)
    language_step(get_peft_model(model, adapters).to("cuda"), 2, 256)


def language_step(model: torch.nn.Module, batch: int, length: int) -> None:
    """One step on tokens that are their own labels."""
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-3)
    tokens = torch.randint(0, 50257, (batch, length), device="cuda")
    mask = torch.ones((batch, length), device="cuda", dtype=torch.long)
    model(input_ids=tokens, attention_mask=mask).logits.square().mean().backward()
    optimizer.step()


if __name__ == "__main__":
    {"checkpointing": checkpointing, "gpt2": gpt2, "lora": lora}[sys.argv[1]]()
