import math
import torch
from torch import nn


class MHA(nn.Module):
    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).chunk(3, -1)
        q = q.view(B, T, self.h, -1).transpose(1, 2)
        k = k.view(B, T, self.h, -1).transpose(1, 2)
        v = v.view(B, T, self.h, -1).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(self.mask[:T, :T] == 0, float("-inf"))
        p = torch.softmax(scores, dim=-1)  # want: manual-attention
        p = self.drop(p)
        return self.proj(torch.matmul(p, v).transpose(1, 2).reshape(B, T, C))
