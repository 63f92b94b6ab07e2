import torch


def train(model, loader, criterion, optimizer, device, log):
    total = torch.zeros((), device=device)
    for step, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
        total += loss.detach()
        if step % 50 == 0:
            log(step, loss.item())
    return total.item()
