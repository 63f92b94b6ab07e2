import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel


def run(rank, world, net):
    dist.init_process_group("nccl", rank=rank, world_size=world)
    net = net.cuda()  # want: ddp-no-set-device
    return DistributedDataParallel(net)


def run_right(rank, world, net):
    dist.init_process_group("nccl", rank=rank, world_size=world)
    torch.cuda.set_device(rank)
    net = net.cuda()
    return DistributedDataParallel(net, device_ids=[rank])


if __name__ == "__main__":
    mp.spawn(run, args=(2, None), nprocs=2)
