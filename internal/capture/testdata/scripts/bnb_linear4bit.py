"""bitsandbytes: frozen 4-bit linear layers with a small trainable head."""
import bitsandbytes as bnb
import torch

body = torch.nn.Sequential(*[bnb.nn.Linear4bit(1024, 1024, compute_dtype=torch.bfloat16, quant_type="nf4") for _ in range(4)]).cuda()
head = torch.nn.Linear(1024, 10, dtype=torch.bfloat16, device="cuda")
optimizer = torch.optim.AdamW(head.parameters(), lr=1e-3)
for step in range(10):
    x = torch.randn(32, 1024, device="cuda", dtype=torch.bfloat16)
    loss = torch.nn.functional.cross_entropy(head(body(x)).float(), torch.randint(0, 10, (32,), device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
