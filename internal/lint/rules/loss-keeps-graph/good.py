import torch


def train_epoch(model, loader, criterion, optimizer, device):
    total = torch.zeros((), device=device)
    for inputs, targets in loader:
        loss = criterion(model(inputs.to(device)), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return float(total) / len(loader)


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    error = 0
    for inputs, targets in loader:
        outputs = model(inputs.to(device))
        error += torch.nn.functional.mse_loss(outputs, targets.to(device))
    return error / len(loader)
