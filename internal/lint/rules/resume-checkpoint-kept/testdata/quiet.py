import torch


def resume(model, optimizer, path, device):
    checkpoint = torch.load(path, map_location=device)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["epoch"]


def main(model, optimizer, loader, criterion, path, device):
    start = resume(model, optimizer, path, device)
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()


def direct(model, optimizer, loader, criterion, path, device):
    model.load_state_dict(torch.load(path, map_location=device))
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()


def on_cpu(model, optimizer, loader, criterion, path):
    state = torch.load(path, map_location=lambda storage, loc: storage)
    model.load_state_dict(state)
    other = torch.load(path, map_location=torch.device("cpu"))
    model.load_state_dict(other)
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()


def none(model, optimizer, loader, criterion, path, device):
    state = torch.load(path, map_location=device)
    model.load_state_dict(state)
    state = None
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()


def needed(model, optimizer, loader, criterion, path, device):
    state = torch.load(path, map_location=device)
    for x, y in loader:
        loss = criterion(model(x), y) + sum((p - state[n]).pow(2).sum() for n, p in model.named_parameters())
        loss.backward()
        optimizer.step()


def after(model, optimizer, loader, criterion, path, device):
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
    best = torch.load(path, map_location=device)
    model.load_state_dict(best)
    return model


def infer(model, loader, path, device):
    state = torch.load(path, map_location=device)
    model.load_state_dict(state)
    with torch.no_grad():
        for x in loader:
            print(model(x))


def data(model, optimizer, criterion):
    samples = torch.load("train.pt")
    x, y = samples[0], samples[1]
    for epoch in range(3):
        criterion(model(x), y).backward()
        optimizer.step()
