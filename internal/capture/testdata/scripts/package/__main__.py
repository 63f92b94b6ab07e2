"""Trains the package's net."""
import torch

from .net import Net

model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(10):
    model(torch.randn(128, 1024, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
