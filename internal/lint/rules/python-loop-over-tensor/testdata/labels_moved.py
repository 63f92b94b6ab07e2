import torch


def train(net, dl, opt, crit):
    for x, y in dl:
        out = net(x.cuda())
        loss = 0
        for i in range(out.size(0)):  # want: python-loop-over-tensor
            loss = loss + crit(out[i], y[i].cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
