import time

import torch


def train(model, loader, criterion, optimizer, device):
    start = time.perf_counter()
    for step, (inputs, targets) in enumerate(loader):
        loss = criterion(model(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            torch.cuda.synchronize()
            print((time.perf_counter() - start) / 100, "s a step")
            start = time.perf_counter()
