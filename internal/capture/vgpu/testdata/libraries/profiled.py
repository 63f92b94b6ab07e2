"""The profiler with CUDA activities records the CPU and does not fail; marks and
ranges are accepted."""
import torch
from torch.profiler import ProfilerActivity, profile

with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as p:
    torch.ones(8, device="cuda").sum()
assert len(p.key_averages()) > 0
torch.cuda.nvtx.range_push("a")
torch.cuda.nvtx.mark("b")
torch.cuda.nvtx.range_pop()
with torch.cuda.nvtx.range("c"), torch.autograd.profiler.emit_nvtx():
    torch.ones(8, device="cuda").sum()
torch.cuda.profiler.start()
torch.cuda.profiler.stop()
