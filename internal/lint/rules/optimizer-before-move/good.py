import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def setup(net, rank, rate):
    model = FSDP(net.to(rank), device_id=rank)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    return model, optimizer


def single(net, rate):
    optimizer = torch.optim.AdamW(net.parameters(), lr=rate)
    net.to("cuda")  # keeps the parameters
    return net, optimizer
