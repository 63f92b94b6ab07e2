import torch


@torch.no_grad()
def valid(net, dl):
    net.eval()
    s = 0.0
    for x, y in dl:
        s += (net(x.cuda()).argmax(1) == y.cuda()).float().mean()
    net.train()
    return s


def fit(net, dl, val_dl, crit, opt):
    for x, y in dl:
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        valid(net, val_dl)  # want: eval-every-step


def fit_right(net, dl, val_dl, crit, opt):
    for i, (x, y) in enumerate(dl):
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i and i % 1000 == 0:
            valid(net, val_dl)
