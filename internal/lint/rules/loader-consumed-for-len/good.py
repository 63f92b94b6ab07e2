def train(model, loader, criterion, optimizer):
    total = 0.0
    for inputs, targets in loader:
        loss = criterion(model(inputs.cuda()), targets.cuda())
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total / len(loader)
