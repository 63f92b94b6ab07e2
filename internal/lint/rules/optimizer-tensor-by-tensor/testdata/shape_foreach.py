import torch


def make(net):
    return torch.optim.AdamW(net.parameters(), lr=1e-3, foreach=False)  # want: optimizer-tensor-by-tensor
