"""PyTorch's cudaMallocAsync backend. Needs PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync."""
import torch

kept = [torch.empty(n << 10, dtype=torch.uint8, device="cuda") for n in (1, 100, 3000, 50000)]
assert torch.cuda.memory_allocated() >= 53101 << 10
free, total = torch.cuda.mem_get_info()
assert total - free >= torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
del kept
torch.cuda.synchronize()
torch.cuda.empty_cache()
assert torch.cuda.memory_allocated() == 0
