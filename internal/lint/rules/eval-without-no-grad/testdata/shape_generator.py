import torch


def dice(net, loader):
    net.eval()
    total = sum(((net(x.cuda()) > 0) == y.cuda()).float().mean().item() for x, y in loader)  # want: eval-without-no-grad
    return total / len(loader)
