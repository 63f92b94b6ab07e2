import torch


def grads(losses, params):
    out = []
    for i, l in enumerate(losses):
        out.append(torch.autograd.grad(l, params, retain_graph=i < len(losses) - 1))
    return out


def train(net, loader, opt, crits):
    for x, y in loader:
        o = net(x.cuda())
        gs = grads([c(o, y.cuda()) for c in crits], list(net.parameters()))
        for p, *g in zip(net.parameters(), *gs):
            p.grad = sum(g)
        opt.step()
