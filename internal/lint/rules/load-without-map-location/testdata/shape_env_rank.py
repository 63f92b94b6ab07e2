import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def worker(net, file):
    dist.init_process_group("nccl")
    here = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(here)
    blob = torch.load(file)  # want: load-without-map-location
    net.load_state_dict(blob["state"])
    net = DDP(net.cuda(), device_ids=[here])
    return net


def worker_right(net, file):
    dist.init_process_group("nccl")
    here = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(here)
    blob = torch.load(file, map_location=f"cuda:{here}")
    net.load_state_dict(blob["state"])
    return DDP(net.cuda(), device_ids=[here])
