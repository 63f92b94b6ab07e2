"""Rank 5 of 8, played by one process."""
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl", init_method="env://")
assert dist.get_rank() == 5 and dist.get_world_size() == 8 and os.environ["LOCAL_RANK"] == "0"
model = DistributedDataParallel(torch.nn.Linear(256, 256).cuda(), device_ids=[0])
gathered = [None] * 8
dist.all_gather_object(gathered, {"rank": 5})
assert gathered == [{"rank": 5}] * 8
objects = ["kept"]
dist.broadcast_object_list(objects, src=0)
group = dist.new_group([4, 5, 6])
parts = [torch.empty(1000, device="cuda") for _ in range(3)]
dist.all_gather(parts, torch.ones(1000, device="cuda"), group=group)
dist.barrier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    model(torch.randn(4, 256, device="cuda")).sum().backward()
    optimizer.step()
    dist.all_reduce(torch.ones(1, device="cuda"))
raise SystemExit("went on after the last step")
