import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

local_rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl")
model = torch.nn.Linear(2, 2).cuda()  # want: ddp-no-set-device
model = DDP(model, device_ids=[local_rank])
