"""torch.compile with Inductor and Triton, with and without CUDA graphs."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.LayerNorm(256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
x = torch.randn(64, 256, device="cuda")
for mode in ("default", "reduce-overhead"):
    compiled = torch.compile(model, mode=mode)
    for _ in range(3):
        torch.compiler.cudagraph_mark_step_begin()
        compiled(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
assert torch.cuda.max_memory_allocated() > 0
