import torch


def train(model, loader, criterion, optimizer, device, path, best=float("inf")):
    for step, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
        if step % 2000 == 1999:
            torch.save(model.state_dict(), path)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
