import torch


def fit(gru, head, chunks, crit, opt):
    state = None
    for x, y in chunks:
        out, state = gru(x.cuda(), state)  # want: hidden-state-not-detached
        loss = crit(head(out), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()


def fit_right(gru, head, chunks, crit, opt):
    state = None
    for x, y in chunks:
        out, state = gru(x.cuda(), state)
        state = state.detach()
        loss = crit(head(out), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
