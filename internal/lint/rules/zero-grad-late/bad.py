def train(model, loader, criterion, optimizer):
    for inputs, targets in loader:
        loss = criterion(model(inputs), targets)
        optimizer.zero_grad()  # want: zero-grad-late
        loss.backward()
        optimizer.step()
