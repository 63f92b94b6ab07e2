import torch


def train(model, loader, val_loader, criterion, optimizer, device):
    for x, y in loader:
        model.train()
        criterion(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
        optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            for vx, vy in val_loader:  # want: eval-every-step
                criterion(model(vx.to(device)), vy.to(device))
