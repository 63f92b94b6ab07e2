import math

import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def forward(self, q, k, v):
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        weights = F.softmax(scores, dim=-1)  # want: manual-attention
        return weights @ v
