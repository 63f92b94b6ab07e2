import torch


def main(model, optimizer, loader, criterion, path, device):
    checkpoint = torch.load(path, map_location=device)  # want: resume-checkpoint-kept
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    for inputs, targets in loader:
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        optimizer.step()
