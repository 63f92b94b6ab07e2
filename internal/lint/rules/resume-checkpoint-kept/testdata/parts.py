import torch


def part(rank, model, optimizer, loader, criterion):
    saved = torch.load("c.pt", map_location=f"cuda:{rank}")  # want: resume-checkpoint-kept
    weights = saved["model"]
    model.load_state_dict(weights)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x.cuda(rank)), y.cuda(rank)).backward()
        optimizer.step()


def placed(model, optimizer, loader, criterion, path):
    saved = torch.load(path, map_location=lambda storage, loc: storage.cuda(0))  # want: resume-checkpoint-kept
    model.load_state_dict(saved["model"])
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x.cuda()), y.cuda()).backward()
        optimizer.step()


def unplaced(model, optimizer, loader, criterion, path):
    saved = torch.load(path, map_location=lambda storage, loc: storage)
    model.load_state_dict(saved["model"])
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x.cuda()), y.cuda()).backward()
        optimizer.step()
