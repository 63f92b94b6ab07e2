from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, criterion, optimizer, rank):
    model = DDP(net.to(rank), device_ids=[rank])
    for batch in loader:
        optimizer.zero_grad()
        for x, y in batch:
            criterion(model(x.to(rank)), y.to(rank)).backward()  # want: ddp-accumulates-without-no-sync
        optimizer.step()
