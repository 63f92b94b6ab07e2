import torch


def fit(net, dl, opt):
    net = net.cuda()
    for x, y in dl:
        z = net(x.cuda())
        loss = 0.0
        for b in range(z.shape[0]):  # want: python-loop-over-tensor
            loss += torch.dist(z[b], y.cuda()[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
