"""A convolution net with AdamW and GradScaler; the driver's books agree with the allocator's."""
import torch

CONTEXT = 500 << 20
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 3), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 3),
    torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(32, 10)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
scaler = torch.cuda.amp.GradScaler()
for _ in range(3):
    x = torch.randn(64, 3, 64, 64, device="cuda")
    y = torch.randint(0, 10, (64,), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = torch.nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
assert torch.isfinite(loss.cpu()), loss
free, total = torch.cuda.mem_get_info()
assert total - free == torch.cuda.memory_reserved() + CONTEXT, (free, total, torch.cuda.memory_reserved())
assert torch.cuda.max_memory_allocated() > 64 * 16 * 62 * 62 * 2
torch.cuda.synchronize()
torch.cuda.empty_cache()
