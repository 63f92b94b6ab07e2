def train_step(model, micro_batches, criterion, optimizer):
    optimizer.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        total = total + criterion(model(inputs), targets) / len(micro_batches)  # want: accumulate-graph-not-grad
    total.backward()
    optimizer.step()
