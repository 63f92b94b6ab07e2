import torch


def train(model, loader, criterion, optimizer, device, path):
    for step, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
        torch.save(model.state_dict(), path)  # want: save-every-step
