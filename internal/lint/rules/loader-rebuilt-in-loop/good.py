def train(model, loader, criterion, optimizer, device, steps):
    batches = iter(loader)
    for step in range(steps):
        try:
            inputs, targets = next(batches)
        except StopIteration:
            batches = iter(loader)
            inputs, targets = next(batches)
        optimizer.zero_grad(set_to_none=True)
        criterion(model(inputs.to(device)), targets.to(device)).backward()
        optimizer.step()
