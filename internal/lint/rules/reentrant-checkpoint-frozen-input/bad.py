import torch
from torch.utils.checkpoint import checkpoint


class Encoder(torch.nn.Module):
    def __init__(self, embed, blocks):
        super().__init__()
        self.embed = embed.requires_grad_(False)
        self.blocks = torch.nn.ModuleList(blocks)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)  # want: reentrant-checkpoint-frozen-input
        return x
