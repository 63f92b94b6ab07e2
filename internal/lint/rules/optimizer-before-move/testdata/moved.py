import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main(model):
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)  # want: optimizer-before-move
    model = FSDP(model.cuda())
    return model, opt
