"""Convolutions of one to three dimensions, both cuDNN interfaces, benchmark mode,
grouped, transposed, and the spatial transformer."""
import os
import subprocess
import sys
import time

import torch
from torch import nn
import torch.nn.functional as F

cases = [
    (nn.Conv1d(8, 16, 3, padding=1), (4, 8, 32)),
    (nn.Conv2d(8, 16, 3, padding=1), (4, 8, 16, 16)),
    (nn.Conv2d(8, 8, 3, groups=8), (4, 8, 16, 16)),
    (nn.Conv2d(8, 16, 3, stride=2, dilation=2, groups=2), (4, 8, 16, 16)),
    (nn.Conv3d(4, 8, 3), (2, 4, 8, 8, 8)),
    (nn.ConvTranspose2d(8, 4, 4, stride=2, padding=1), (4, 8, 8, 8)),
    (nn.ConvTranspose3d(4, 4, 2, stride=2), (2, 4, 4, 4, 4)),
]
for benchmark in (False, True):
    torch.backends.cudnn.benchmark = benchmark
    for deterministic in (False, True):
        torch.backends.cudnn.deterministic = deterministic
        for layer, shape in cases:
            for dtype in (torch.float32, torch.float16, torch.bfloat16):
                net = layer.cuda().to(dtype)
                x = torch.randn(shape, device="cuda", dtype=dtype, requires_grad=True)
                net(x).float().sum().backward()
                assert x.grad.shape == x.shape
net = nn.Conv2d(8, 16, 3).cuda().to(memory_format=torch.channels_last)
x = torch.randn(4, 8, 16, 16, device="cuda").to(memory_format=torch.channels_last).requires_grad_()
net(x).sum().backward()

theta = torch.zeros(2, 2, 3, device="cuda", requires_grad=True)
grid = F.affine_grid(theta, (2, 3, 8, 8), align_corners=True)
F.grid_sample(torch.randn(2, 3, 8, 8, device="cuda"), grid, align_corners=True).sum().backward()
torch.cudnn_convolution_relu(torch.randn(1, 4, 8, 8, device="cuda"), torch.randn(4, 4, 3, 3, device="cuda"), None, (1, 1), (0, 0), (1, 1), 1)
peak = torch.cuda.max_memory_allocated()
assert peak < 96 << 20, peak  # cuBLAS's workspaces, one a thread, are 64 MiB of it

# PyTorch reads this switch at the first convolution, so the older interface
# needs a process of its own.
if "TORCH_CUDNN_V8_API_DISABLED" not in os.environ:
    subprocess.run([sys.executable, __file__], env=dict(os.environ, TORCH_CUDNN_V8_API_DISABLED="1"), check=True)
else:
    time.sleep(0.2)  # PyTorch's backward thread may still be putting away Python objects
