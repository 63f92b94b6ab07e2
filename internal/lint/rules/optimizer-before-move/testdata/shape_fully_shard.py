import torch
from torch.distributed.fsdp import fully_shard


def setup(net):
    optim = torch.optim.SGD(net.parameters(), lr=0.1)  # want: optimizer-before-move
    for block in net.layers:
        fully_shard(block)
    fully_shard(net)
    return net, optim


def setup_right(net):
    fully_shard(net)
    return net, torch.optim.SGD(net.parameters(), lr=0.1)
