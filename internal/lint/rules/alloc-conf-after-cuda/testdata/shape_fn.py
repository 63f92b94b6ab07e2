import os
import torch


def main():
    model = torch.nn.Linear(2, 2).to("cuda")
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "max_split_size_mb:128"  # want: alloc-conf-after-cuda
    return model
