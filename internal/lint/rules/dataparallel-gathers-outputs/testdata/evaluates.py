import torch


@torch.no_grad()
def evaluate(net, loader, criterion):
    model = torch.nn.DataParallel(net).cuda()
    total = 0.0
    for x, y in loader:
        total += criterion(model(x), y.cuda())
    return total
