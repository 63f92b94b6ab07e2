"""Runs out of memory in the second layer of the first forward pass on any card below 64 GiB."""
import torch
from torch import nn


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(1024, 65536)
        self.down = nn.Linear(65536, 1024)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


model = Wide().cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(3):
    loss = model(torch.randn(131072, 1024, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
