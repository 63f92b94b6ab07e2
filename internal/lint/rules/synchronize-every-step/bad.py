import torch


def train(model, loader, criterion, optimizer, device):
    for inputs, targets in loader:
        loss = criterion(model(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()  # want: synchronize-every-step
