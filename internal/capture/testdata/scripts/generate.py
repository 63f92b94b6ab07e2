"""Sampling from a GPT-2: the loop ends when every sequence has met the end token or the length is reached."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

model = GPT2LMHeadModel(GPT2Config(n_embd=256, n_layer=4, n_head=4, vocab_size=5000, bos_token_id=1, eos_token_id=2)).cuda().eval()
prompt = torch.randint(3, 5000, (4, 16), device="cuda")
with torch.no_grad():
    for sample in (False, True):
        out = model.generate(prompt, max_new_tokens=24, do_sample=sample, top_k=50, top_p=0.9, pad_token_id=0)
        print(sample, tuple(out.shape))
