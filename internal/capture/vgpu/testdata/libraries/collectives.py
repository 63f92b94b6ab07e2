"""One process with NCCL: a process group of one rank, of one rank among four, and
several devices in one process."""
import os
import sys

import torch
import torch.distributed as dist

if len(sys.argv) > 1:
    rank, world = int(sys.argv[1]), int(sys.argv[2])
    store = dist.HashStore()
else:
    rank, world = 0, 1
    store = dist.HashStore()
dist.init_process_group("nccl", store=store, rank=rank, world_size=world)
x = torch.zeros(8, device="cuda")
x.copy_(torch.arange(8.0))
dist.all_reduce(x)
dist.broadcast(x, 0)
dist.reduce(x, 0)
gathered = [torch.empty(8, device="cuda") for _ in range(world)]
dist.all_gather(gathered, x)
flat = torch.empty(8 * world, device="cuda")
dist.all_gather_into_tensor(flat, x)
own = torch.empty(8, device="cuda")
dist.reduce_scatter_tensor(own, flat)
dist.all_to_all_single(flat.clone(), flat)
dist.barrier()
group = dist.new_group([0])
dist.all_reduce(x, group=group)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8).cuda())
model(x).sum().backward()
dist.destroy_process_group()
assert x.cpu().tolist() == [float(i) for i in range(8)], x.cpu()

if torch.cuda.device_count() > 1:
    net = torch.nn.DataParallel(torch.nn.Linear(8, 4).cuda())
    net(torch.zeros(16, 8, device="cuda")).sum().backward()
    a = torch.zeros(4, device="cuda:0")
    a.copy_(torch.ones(4))
    b = torch.nn.parallel.comm.broadcast(a, (0, 1))
    assert b[1].cpu().tolist() == [1, 1, 1, 1], b
