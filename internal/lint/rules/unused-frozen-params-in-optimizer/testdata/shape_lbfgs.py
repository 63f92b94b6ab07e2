import torch


def tune(net):
    for w in net.encoder.parameters():
        w.requires_grad = False
    return torch.optim.LBFGS(net.parameters(), lr=1.0)  # want: unused-frozen-params-in-optimizer
