import torch.distributed as dist


def train(model, loader, criterion, optimizer, device):
    for inputs, targets in loader:
        optimizer.zero_grad(set_to_none=True)
        criterion(model(inputs.to(device)), targets.to(device)).backward()
        optimizer.step()
        dist.barrier()  # want: barrier-every-step
