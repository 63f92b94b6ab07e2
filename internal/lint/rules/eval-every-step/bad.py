import torch


@torch.no_grad()
def evaluate(model, loader, device):
    hits = torch.zeros((), device=device)
    for inputs, targets in loader:
        hits += (model(inputs.to(device)).argmax(1) == targets.to(device)).sum()
    return hits


def train(model, loader, val_loader, criterion, optimizer, device):
    for inputs, targets in loader:
        optimizer.zero_grad(set_to_none=True)
        criterion(model(inputs.to(device)), targets.to(device)).backward()
        optimizer.step()
        evaluate(model, val_loader, device)  # want: eval-every-step
