import torch.distributed as dist


def train(model, loader, criterion, optimizer, device, epochs):
    for epoch in range(epochs):
        for inputs, targets in loader:
            optimizer.zero_grad(set_to_none=True)
            criterion(model(inputs.to(device)), targets.to(device)).backward()
            optimizer.step()
        dist.barrier()
