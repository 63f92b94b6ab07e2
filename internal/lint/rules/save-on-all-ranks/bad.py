import torch
from torch.nn.parallel import DistributedDataParallel


def train(net, loader, criterion, optimizer, rank, epochs):
    model = DistributedDataParallel(net.to(rank), device_ids=[rank])
    for epoch in range(epochs):
        for inputs, targets in loader:
            optimizer.zero_grad(set_to_none=True)
            criterion(model(inputs.to(rank)), targets.to(rank)).backward()
            optimizer.step()
        torch.save(model.module.state_dict(), "last.pt")  # want: save-on-all-ranks
