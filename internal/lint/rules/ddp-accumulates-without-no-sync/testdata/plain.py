from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, criterion, optimizer, rank):
    model = DDP(net.to(rank), device_ids=[rank])
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        criterion(model(x.to(rank)), y.to(rank)).backward()
        optimizer.step()
        if step % 100 == 0:
            print(step)
