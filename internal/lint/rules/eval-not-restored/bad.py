import torch


def accuracy(model, loader, device):
    model.eval()  # want: eval-not-restored
    right = 0
    with torch.no_grad():
        for inputs, targets in loader:
            right += (model(inputs.to(device)).argmax(-1) == targets.to(device)).sum()
    return right.item()


def fit(model, loader, held_out, criterion, optimizer, device, epochs):
    model.train()
    for epoch in range(epochs):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = criterion(model(inputs.to(device)), targets.to(device))
            loss.backward()
            optimizer.step()
        print(epoch, accuracy(model, held_out, device))
