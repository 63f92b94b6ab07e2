def train(model, loader, criterion, optimizer, device, log):
    total = 0.0
    for step, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
        total += loss.item()  # want: item-every-step
        log(step, loss.item())  # want: item-every-step
    return total
