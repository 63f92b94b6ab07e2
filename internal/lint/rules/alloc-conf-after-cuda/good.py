import os

import torch

if torch.cuda.is_available():  # asks the driver, starts nothing
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"

device = torch.device("cuda")
weights = torch.zeros(1024, 1024, device=device)
