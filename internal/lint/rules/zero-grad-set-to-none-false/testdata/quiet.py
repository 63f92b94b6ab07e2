import torch


def attack(model, x, y, criterion):
    x.requires_grad_()
    for _ in range(10):
        criterion(model(x), y).backward()
        x.data += x.grad.sign()
        x.grad.zero_()


def graphed(model, loader, criterion, optimizer):
    graph = torch.cuda.CUDAGraph()
    for x, y in loader:
        optimizer.zero_grad(set_to_none=False)
        criterion(model(x), y).backward()
        optimizer.step()
        graph.replay()


def chosen(model, loader, criterion, optimizer, none):
    for x, y in loader:
        optimizer.zero_grad(set_to_none=none)
        criterion(model(x), y).backward()
        optimizer.step()
