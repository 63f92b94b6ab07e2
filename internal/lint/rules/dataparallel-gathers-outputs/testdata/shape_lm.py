import torch
from torch import nn


def fit(net, dl, opt):
    net = nn.DataParallel(net).cuda()  # want: dataparallel-gathers-outputs
    crit = nn.CrossEntropyLoss()
    for x, y in dl:
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
