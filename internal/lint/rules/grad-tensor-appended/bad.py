import torch


def predict(model, test_loader):
    model.eval()
    outputs = []
    for inputs, _ in test_loader:
        outputs.append(model(inputs))  # want: grad-tensor-appended
    return torch.cat(outputs)
