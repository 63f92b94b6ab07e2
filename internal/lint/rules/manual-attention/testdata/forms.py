import torch
import torch.nn as nn
import torch.nn.functional as F


class Causal(nn.Module):
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        att = torch.matmul(q, k.transpose(-2, -1)) * self.scale
        att = att.masked_fill(self.mask == 0, float("-inf"))
        att = att.softmax(dim=-1)  # want: manual-attention
        att = self.attn_dropout(att)
        y = torch.matmul(att, v)
        return self.proj(y)


def attention(q, k, v):
    return F.softmax(q @ k.mT, dim=-1) @ v
