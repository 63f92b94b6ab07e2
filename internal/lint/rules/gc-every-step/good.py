import gc


def train(model, loader, criterion, optimizer, device):
    gc.disable()
    for step, (inputs, targets) in enumerate(loader):
        loss = criterion(model(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
        if step % 1000 == 0:
            gc.collect()
        gc.collect(0)
    gc.collect()
