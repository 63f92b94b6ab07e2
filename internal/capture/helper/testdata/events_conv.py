"""A convolution net with AMP, clipping and an accuracy: its events, for the comparison with and without the helper."""
import events
import torch
import torch.nn.functional as F
from torch import nn

events.begin()
model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32),
    nn.ReLU(), nn.Dropout(0.1), nn.Flatten(), nn.Linear(32 * 14 * 14, 100),
).cuda()
optimizer = torch.optim.AdamW(model.parameters())
scaler = torch.cuda.amp.GradScaler()
for step in range(4):
    x, y = torch.randn(8, 3, 32, 32, device="cuda"), torch.randint(0, 100, (8,), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16, enabled=step > 1):
        loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    accuracy = (model(x).argmax(-1) == y).float().mean().item()
events.end()
