import torch


def train(model, loader, criterion, optimizer, device):
    for inputs, targets in loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.amp.autocast("cuda", dtype=torch.bfloat16):
            loss = criterion(model(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
