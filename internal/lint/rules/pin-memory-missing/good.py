from torch.utils.data import DataLoader


def train(model, dataset, criterion, optimizer, device):
    loader = DataLoader(dataset, 128, shuffle=True, num_workers=8, pin_memory=True)
    for inputs, targets in loader:
        inputs = inputs.to(device, non_blocking=True)
        targets = targets.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        criterion(model(inputs), targets).backward()
        optimizer.step()
