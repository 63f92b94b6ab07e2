"""FSDP as it was first: flat parameters, sharded over the ranks, with mixed precision and clipping."""
import functools
import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision
from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy

torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
dist.init_process_group("nccl")
layer = torch.nn.TransformerEncoderLayer
model = torch.nn.Sequential(*[layer(512, 8, 2048, batch_first=True) for _ in range(4)])
model = FullyShardedDataParallel(
    model, device_id=torch.cuda.current_device(),
    auto_wrap_policy=functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={layer}),
    mixed_precision=MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(10):
    loss = model(torch.randn(8, 256, 512, device="cuda")).float().pow(2).mean()
    loss.backward()
    model.clip_grad_norm_(1.0)
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
dist.destroy_process_group()
