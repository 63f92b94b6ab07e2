import torch


def train(model, loader, criterion, optimizer, device):
    for inputs, targets in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
        torch.cuda.empty_cache()  # want: empty-cache-every-step
