import copy

import torch


def train(model, loader, criterion, optimizer, path, device):
    model.to(device)
    start = copy.deepcopy(model.state_dict())
    for epoch in range(10):
        for x, y in loader:
            criterion(model(x.to(device)), y).backward()
            optimizer.step()
        torch.save(copy.deepcopy(model.state_dict()), path)
        now = {k: v.cpu() for k, v in model.state_dict().items()}
    return start, now
