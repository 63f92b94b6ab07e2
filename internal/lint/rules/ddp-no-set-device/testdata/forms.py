import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed import barrier, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP


def setup(rank, world_size):
    os.environ["MASTER_ADDR"] = "localhost"
    init_process_group(backend="nccl", rank=rank, world_size=world_size)


def worker(rank, world_size, net):
    setup(rank, world_size)
    net = net.cuda()  # want: ddp-no-set-device
    return DDP(net, device_ids=[rank])


def late(local_rank, net):
    net.to("cuda")  # want: ddp-no-set-device
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    return DDP(net, device_ids=[local_rank])


def device(rank, net):
    init_process_group("nccl")
    where = torch.device("cuda")
    flag = torch.ones(1, device=where)  # want: ddp-no-set-device
    dist.all_reduce(flag)
    return DDP(net.to(where))


class Launcher:
    def __init__(self, rank):
        self.rank = rank
        dist.init_process_group(backend="nccl" if torch.cuda.is_available() else "gloo")
        torch.cuda.empty_cache()  # want: ddp-no-set-device

    def run(self, net):
        return DDP(net.to(self.rank), device_ids=[self.rank])


def wait(rank, net):
    init_process_group()
    barrier()  # want: ddp-no-set-device
    return DDP(net.cuda(rank))


if __name__ == "__main__":
    mp.spawn(worker, args=(2, torch.nn.Linear(2, 2)), nprocs=2)
