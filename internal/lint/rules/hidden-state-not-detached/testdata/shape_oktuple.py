from torch import nn


def fit(lstm, out, batches, crit, opt):
    hidden = None
    for x, y in batches:
        if hidden is not None:
            hidden = tuple(h.detach() for h in hidden)
        o, hidden = lstm(x.cuda(), hidden)
        loss = crit(out(o), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()


def fresh(lstm, out, batches, crit, opt):
    for x, y in batches:
        h = None
        o, h = lstm(x.cuda(), h)
        loss = crit(out(o), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
