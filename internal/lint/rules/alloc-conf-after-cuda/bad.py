import os

import torch

device = torch.device("cuda")
weights = torch.zeros(1024, 1024, device=device)
os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"  # want: alloc-conf-after-cuda
