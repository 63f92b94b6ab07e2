import copy

import torch


def train(model, loader, criterion, optimizer, path):
    model.cuda()
    for epoch in range(10):
        for inputs, targets in loader:
            optimizer.zero_grad()
            criterion(model(inputs), targets).backward()
            optimizer.step()
        torch.save({"model": copy.deepcopy(model).half()}, path)  # want: deepcopy-model-on-gpu
