import torch


@torch.no_grad()
def predict(model, loader, device):
    model.eval()
    outputs = []
    for inputs in loader:
        outputs.append(model(inputs.to(device)))  # want: outputs-list-on-gpu
    return torch.cat(outputs)
