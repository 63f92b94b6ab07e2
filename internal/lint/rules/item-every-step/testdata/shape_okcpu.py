import numpy as np


def fit(model, loader, criterion, optimizer, device):
    model.to(device)
    shown = 0.0
    for step, (inputs, targets) in enumerate(loader):
        n = int(targets.shape[0])
        lengths = np.asarray([3, 4]).max().item()
        loss = criterion(model(inputs.to(device)), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown = shown + loss.detach()
        if step % 100 == 99:
            print(step, n, lengths, (shown / 100).item())
            shown = 0.0
