import torch
from torch.utils.checkpoint import checkpoint


class Encoder(torch.nn.Module):
    def __init__(self, embed, blocks):
        super().__init__()
        self.embed = embed.requires_grad_(False)
        self.blocks = blocks

    def forward(self, tokens):
        x = self.embed(tokens)
        x.requires_grad_(True)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)
        return x

    def again(self, tokens):
        x = self.embed(tokens)
        x.requires_grad = True
        return checkpoint(self.blocks[0], x, use_reentrant=True)

    def still(self, tokens):
        x = self.embed(tokens)
        x.requires_grad_(False)
        return checkpoint(self.blocks[0], x, use_reentrant=True)  # want: reentrant-checkpoint-frozen-input
