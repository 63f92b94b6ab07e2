import torch


def train(model, dl, opt, crit):
    best = float("inf")
    for x, y in dl:
        loss = crit(model(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if loss < best:  # want: item-every-step
            best = loss.detach()
