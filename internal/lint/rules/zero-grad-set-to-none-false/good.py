def train(model, loader, criterion, optimizer):
    for inputs, targets in loader:
        optimizer.zero_grad(set_to_none=True)  # the default since PyTorch 2.0
        criterion(model(inputs), targets).backward()
        optimizer.step()
