def train(model, loader, criterion, optimizer):
    losses = []
    for inputs, targets in loader:
        loss = criterion(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)  # want: grad-tensor-appended
    return losses
