import torch


def main(opts, net, loader, crit):
    net = net.cuda()
    optim = torch.optim.SGD(net.parameters(), lr=opts.lr)
    first = 0
    if opts.resume:
        snapshot = torch.load(opts.resume, map_location="cuda:0")  # want: resume-checkpoint-kept
        net.load_state_dict(snapshot["net"])
        optim.load_state_dict(snapshot["optim"])
        first = snapshot["epoch"] + 1
    for ep in range(first, opts.epochs):
        for x, y in loader:
            loss = crit(net(x.cuda()), y.cuda())
            optim.zero_grad()
            loss.backward()
            optim.step()


def restore(path, net, optim):
    snapshot = torch.load(path, map_location="cpu")
    net.load_state_dict(snapshot["net"])
    optim.load_state_dict(snapshot["optim"])
    return snapshot["epoch"] + 1
