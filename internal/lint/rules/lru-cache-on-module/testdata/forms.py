from functools import cache, lru_cache

from torch import Tensor, nn


class Encoder(nn.Module):
    @lru_cache(maxsize=None)  # want: lru-cache-on-module
    def encode(self, x: Tensor):
        return self.inner(x)

    @staticmethod
    @cache
    def table(n):
        return list(range(n))
