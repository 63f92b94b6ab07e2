import torch


def validate(model, loader, device):
    model.eval()
    correct, count = 0, 0
    for inputs, targets in loader:
        outputs = model(inputs.to(device))  # want: eval-without-no-grad
        correct += int((outputs.argmax(1) == targets.to(device)).sum())
        count += len(targets)
    return correct / count
