import torch


def train_epoch(model, loader, criterion, optimizer, device):
    total = 0.0
    for inputs, targets in loader:
        loss = criterion(model(inputs.to(device)), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss  # want: loss-keeps-graph
    return float(total) / len(loader)


def evaluate(model, loader, device):
    model.eval()
    error = 0
    for inputs, targets in loader:
        outputs = model(inputs.to(device))
        error = error + torch.nn.functional.mse_loss(outputs, targets.to(device))  # want: loss-keeps-graph
    return error / len(loader)
