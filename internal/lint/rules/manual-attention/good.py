import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


class Shown(nn.Module):
    def forward(self, q, k, v):
        weights = F.softmax(q @ k.transpose(-2, -1), dim=-1)
        return weights @ v, weights
