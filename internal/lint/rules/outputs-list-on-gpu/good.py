import torch


@torch.no_grad()
def predict(model, loader, criterion, device):
    model.eval()
    outputs, losses = [], []
    for inputs, targets in loader:
        logits = model(inputs.to(device))
        outputs.append(logits.cpu())
        losses.append(criterion(logits, targets.to(device)))  # one number a batch
    return torch.cat(outputs), torch.stack(losses).mean()
