import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main(model):
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    dist.barrier()
    return DistributedDataParallel(model.cuda(), device_ids=[local_rank])
