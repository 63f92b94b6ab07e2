"""CUDA_VISIBLE_DEVICES set by the script is heeded, in PyTorch's count by NVML too."""
import os

os.environ["CUDA_VISIBLE_DEVICES"] = "3,1"
import torch  # noqa: E402: the order is the point

assert torch.cuda.device_count() == 2, torch.cuda.device_count()
torch.zeros(1, device="cuda:1")
