import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def setup(net, rank, rate):
    model = net.to(rank)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)  # want: optimizer-before-move
    model = FSDP(model, device_id=rank)
    return model, optimizer
