def train(model, loader, criterion, optimizer, device, steps):
    for step in range(steps):
        inputs, targets = next(iter(loader))  # want: loader-rebuilt-in-loop
        optimizer.zero_grad(set_to_none=True)
        criterion(model(inputs.to(device)), targets.to(device)).backward()
        optimizer.step()
