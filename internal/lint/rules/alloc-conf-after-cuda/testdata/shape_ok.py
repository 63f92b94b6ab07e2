import os
import torch

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "max_split_size_mb:128"


def main():
    return torch.nn.Linear(2, 2).to("cuda")
