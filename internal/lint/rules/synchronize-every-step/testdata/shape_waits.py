import torch


def fit(net, dl, crit, opt):
    for x, y in dl:
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        torch.cuda.synchronize()  # want: synchronize-every-step
