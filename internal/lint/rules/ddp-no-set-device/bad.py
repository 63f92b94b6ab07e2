import os

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main(model):
    local_rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl")
    dist.barrier()  # want: ddp-no-set-device
    return DistributedDataParallel(model.to(f"cuda:{local_rank}"), device_ids=[local_rank])
