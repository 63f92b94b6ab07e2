import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def setup():
    rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl")
    torch.cuda.set_device(rank)
    return rank


def main(net):
    rank = setup()
    dist.barrier()
    return DDP(net.cuda(), device_ids=[rank])


def indexed(rank, net):
    dist.init_process_group("nccl", rank=rank, world_size=2)
    device = torch.device(f"cuda:{rank}")
    net = net.to(device)
    return DDP(net.to(rank), device_ids=[rank])


def gloo(net):
    dist.init_process_group("gloo")
    dist.barrier()
    return DDP(net)


def environment(rank, net):
    os.environ["CUDA_VISIBLE_DEVICES"] = str(rank)
    dist.init_process_group("nccl")
    dist.barrier()
    return DDP(net.cuda())


def bound(rank, net):
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    dist.barrier()
    return DDP(net.to(f"cuda:{rank}"))


def block(rank, net):
    dist.init_process_group("nccl")
    with torch.cuda.device(rank):
        net = net.cuda()
    return net


def both(args, net):
    if not args.distributed:
        return net.cuda()
    dist.init_process_group("nccl")
    torch.cuda.set_device(args.local_rank)
    return DDP(net.cuda())


def on_cpu(rank, net):
    dist.init_process_group("nccl")
    print(torch.cuda.is_available(), torch.cuda.device_count())
    batch = torch.zeros(4)
    torch.cuda.set_device(rank)
    return batch.cuda()
