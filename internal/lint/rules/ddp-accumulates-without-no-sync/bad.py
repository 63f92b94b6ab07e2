from torch.nn.parallel import DistributedDataParallel


def train(net, loader, criterion, optimizer, rank, parts=8):
    model = DistributedDataParallel(net.to(rank), device_ids=[rank])
    for step, (inputs, targets) in enumerate(loader):
        loss = criterion(model(inputs.to(rank)), targets.to(rank)) / parts
        loss.backward()  # want: ddp-accumulates-without-no-sync
        if (step + 1) % parts == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
