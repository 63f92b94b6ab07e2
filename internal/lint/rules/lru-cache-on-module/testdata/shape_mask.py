import functools
import torch
from torch import nn


class Block(nn.Module):
    @functools.lru_cache(maxsize=None)  # want: lru-cache-on-module
    def mask(self, n):
        return torch.ones(n, n, device="cuda").tril()

    def forward(self, x):
        return x * self.mask(x.size(-1))


@functools.lru_cache(maxsize=8)
def steps(n):
    return n * 3
