import torch


def predict(model, test_loader):
    model.eval()
    outputs = []
    with torch.no_grad():
        for inputs, _ in test_loader:
            outputs.append(model(inputs))
    return torch.cat(outputs)
