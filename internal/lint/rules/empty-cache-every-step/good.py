import torch


def train(model, loader, criterion, optimizer, device):
    for step, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad(set_to_none=True)
        try:
            criterion(model(inputs.to(device)), targets.to(device)).backward()
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            continue
        optimizer.step()
        if step % 1000 == 0:
            torch.cuda.empty_cache()
    torch.cuda.empty_cache()
