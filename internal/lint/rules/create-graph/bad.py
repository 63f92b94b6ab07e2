def train(model, loader, criterion, optimizer):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward(create_graph=True)  # want: create-graph
        optimizer.step()
