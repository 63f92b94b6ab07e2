import torch


def train(model, critic, loader, optimizer, device):
    for real in loader:
        optimizer.zero_grad(set_to_none=True)
        ones = torch.ones(real.size(0)).to(device)  # want: cpu-tensor-then-move
        noise = torch.randn(real.size(0), 100).to(device)  # want: cpu-tensor-then-move
        ((critic(model(noise)) - ones) ** 2).mean().backward()
        optimizer.step()
