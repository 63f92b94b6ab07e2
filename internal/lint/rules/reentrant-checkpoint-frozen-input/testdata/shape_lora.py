import torch
from torch.utils.checkpoint import checkpoint


class Tower(torch.nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.embed = torch.nn.Embedding(100, 8)
        self.blocks = torch.nn.ModuleList(blocks)
        self.embed.requires_grad_(False)

    def forward(self, ids):
        h = self.embed(ids)
        for b in self.blocks:
            h = checkpoint(b, h, use_reentrant=True)  # want: reentrant-checkpoint-frozen-input
        return h


class TowerRight(torch.nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.embed = torch.nn.Embedding(100, 8)
        self.blocks = torch.nn.ModuleList(blocks)
        self.embed.requires_grad_(False)

    def forward(self, ids):
        h = self.embed(ids)
        for b in self.blocks:
            h = checkpoint(b, h, use_reentrant=False)
        return h
