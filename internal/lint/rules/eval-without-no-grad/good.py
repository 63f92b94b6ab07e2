import torch


@torch.no_grad()
def validate(model, loader, device):
    model.eval()
    correct, count = 0, 0
    for inputs, targets in loader:
        outputs = model(inputs.to(device))
        correct += int((outputs.argmax(1) == targets.to(device)).sum())
        count += len(targets)
    return correct / count
