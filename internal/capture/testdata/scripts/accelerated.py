"""Accelerate: gradients accumulated over two batches, bf16, a prepared loader and scheduler."""
import torch
from accelerate import Accelerator

accelerator = Accelerator(gradient_accumulation_steps=2, mixed_precision="bf16")
data = torch.utils.data.TensorDataset(torch.randn(256, 512), torch.randint(0, 10, (256,)))
loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
for x, y in loader:
    with accelerator.accumulate(model):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    accelerator.print(loss.item())
accelerator.save_state("state")
