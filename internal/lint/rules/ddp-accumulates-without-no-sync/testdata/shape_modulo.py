from torch.nn.parallel import DistributedDataParallel as DDP


def fit(net, dl, crit, opt, rank, every=8):
    net = DDP(net.cuda(rank), device_ids=[rank])
    for i, (x, y) in enumerate(dl):
        loss = crit(net(x.cuda(rank)), y.cuda(rank)) / every
        loss.backward()  # want: ddp-accumulates-without-no-sync
        if (i + 1) % every == 0:
            opt.step()
            opt.zero_grad()
