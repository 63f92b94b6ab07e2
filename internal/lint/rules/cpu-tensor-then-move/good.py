import torch


def train(model, critic, loader, optimizer, device):
    fixed = torch.randn(64, 100).to(device)
    for real in loader:
        optimizer.zero_grad(set_to_none=True)
        ones = torch.ones(real.size(0), device=device)
        noise = torch.randn(real.size(0), 100, device=device)
        ((critic(model(noise)) - ones) ** 2).mean().backward()
        optimizer.step()
    return model(fixed)
