import torch


def fit(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del loss, x, y
        torch.cuda.empty_cache()  # want: empty-cache-every-step


def fit_right(model, loader, criterion, optimizer):
    for epoch in range(3):
        for x, y in loader:
            try:
                loss = criterion(model(x.cuda()), y.cuda())
            except torch.cuda.OutOfMemoryError:
                torch.cuda.empty_cache()
                continue
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        torch.cuda.empty_cache()
