def train_step(model, micro_batches, criterion, optimizer):
    optimizer.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        loss = criterion(model(inputs), targets) / len(micro_batches)
        loss.backward()
        total = total + loss.detach()
    optimizer.step()
    return total
