import copy

import torch


def train(model, loader, criterion, optimizer, path):
    average = copy.deepcopy(model).cuda()  # meant to be there
    model.cuda()
    for epoch in range(10):
        for inputs, targets in loader:
            optimizer.zero_grad()
            criterion(model(inputs), targets).backward()
            optimizer.step()
        torch.save({"model": {k: v.cpu().half() for k, v in model.state_dict().items()}}, path)
    return average
