"""One LoRA step on a Llama with 6.7 billion parameters, bfloat16, activation checkpointing, four sequences of 1024 tokens.

usage: lora.py device|host

The model is built on the device, or on the host and then moved, as most scripts do.
"""
from __future__ import annotations

import sys

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

place = sys.argv[1]
torch.set_default_dtype(torch.bfloat16)
with torch.device("cuda" if place == "device" else "cpu"):
    base = LlamaForCausalLM(LlamaConfig(use_cache=False))  # the defaults are Llama 7B
base.gradient_checkpointing_enable()
base.enable_input_require_grads()
model = get_peft_model(base, LoraConfig(r=16, lora_alpha=32, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"], task_type="CAUSAL_LM"))
model.to("cuda").train()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
tokens = torch.randint(0, 32000, (4, 1024), device="cuda")
model(input_ids=tokens, labels=tokens).loss.backward()
optimizer.step()
