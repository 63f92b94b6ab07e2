import os
import torch

weights = torch.randn(10, device="cuda")
os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")  # want: alloc-conf-after-cuda
