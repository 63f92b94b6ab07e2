def train(model, loader, criterion, optimizer):
    for inputs, targets in loader:
        optimizer.zero_grad(set_to_none=False)  # want: zero-grad-set-to-none-false
        criterion(model(inputs), targets).backward()
        optimizer.step()
