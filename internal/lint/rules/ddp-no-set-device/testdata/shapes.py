import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Runner:
    def __init__(self, model):
        self.setup()
        self.sync()
        self.rank = int(os.environ["LOCAL_RANK"])
        self.model = DistributedDataParallel(model.to(self.rank), device_ids=[self.rank])

    def setup(self):
        dist.init_process_group(backend="nccl", init_method="env://")

    def sync(self):
        dist.barrier()  # want: ddp-no-set-device


def tensor(model):
    rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl")
    flag = torch.zeros(1).cuda()  # want: ddp-no-set-device
    dist.broadcast(flag, src=0)
    torch.cuda.set_device(rank)
    return DistributedDataParallel(model.cuda(rank), device_ids=[rank])


def gathered(model, rank):
    dist.init_process_group("nccl")
    names = [None] * dist.get_world_size()
    dist.all_gather_object(names, os.uname().nodename)  # want: ddp-no-set-device
    return DistributedDataParallel(model.to(f"cuda:{rank}"), device_ids=[rank])


def reduced(model, rank, world_size):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    count = torch.tensor([1.0], device="cuda")  # want: ddp-no-set-device
    dist.all_reduce(count)
    model = model.to(torch.device("cuda", rank))
    return DistributedDataParallel(model, device_ids=[rank])
