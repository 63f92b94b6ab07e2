activations = {}


def keep(module, inputs, output):
    activations["layer"] = output.detach()


def train(model, loader, criterion, optimizer):
    handle = model.layer.register_forward_hook(keep)
    for inputs, targets in loader:
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        optimizer.step()
    handle.remove()
