activations = []


def keep(module, inputs, output):
    activations.append(output)  # want: hook-captures-activations


def train(model, loader, criterion, optimizer):
    model.layer.register_forward_hook(keep)
    for inputs, targets in loader:
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        optimizer.step()
