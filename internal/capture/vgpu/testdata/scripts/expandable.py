"""Expandable segments grow in place and give their pages back. Needs PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True."""
import torch

first = torch.empty(30 << 20, dtype=torch.uint8, device="cuda")
second = torch.empty(50 << 20, dtype=torch.uint8, device="cuda")
segments = torch.cuda.memory_snapshot()
assert len(segments) == 1 and segments[0].get("is_expandable", True), segments
before, total = torch.cuda.mem_get_info()
small = torch.tensor([1, 2, 3], device="cuda")
assert small.tolist() == [1, 2, 3]
del first, second, small
torch.cuda.empty_cache()
after, _ = torch.cuda.mem_get_info()
assert after > before and torch.cuda.memory_reserved() == 0, (before, after)
try:
    torch.empty(total, dtype=torch.uint8, device="cuda")
    raise SystemExit("more than the card was given out")
except torch.cuda.OutOfMemoryError:
    pass
