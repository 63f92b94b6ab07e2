import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("nccl")
    model = torch.nn.Linear(4, 4).cuda()  # want: ddp-no-set-device
    model = DDP(model)
    return model


def main_right():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    return DDP(torch.nn.Linear(4, 4).cuda(), device_ids=[local])


def main_device():
    local = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl")
    device = torch.device("cuda", local)
    return DDP(torch.nn.Linear(4, 4).to(device), device_ids=[local])
