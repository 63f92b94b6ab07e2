import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Tower(nn.Module):
    def __init__(self, conv, blocks):
        super().__init__()
        self.conv1 = conv
        self.conv1.requires_grad_(False)
        self.positions = nn.Parameter(torch.zeros(8), requires_grad=False)
        self.blocks = nn.ModuleList(blocks)

    def forward(self, image):
        x = self.conv1(image)
        x = x.flatten(2).transpose(1, 2)
        for i, block in enumerate(self.blocks):
            x = checkpoint(block, x, None, use_reentrant=True)  # want: reentrant-checkpoint-frozen-input
        return x.mean(1)


class Locked(nn.Module):
    def __init__(self, embed, layers):
        super().__init__()
        self.embed, self.layers = embed, nn.Sequential(*layers)
        self.lock()

    def lock(self):
        for p in self.embed.parameters():
            p.requires_grad_(False)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        return checkpoint_sequential(self.layers, 4, hidden, use_reentrant=True)  # want: reentrant-checkpoint-frozen-input


class Wrapped(nn.Module):
    def __init__(self, embed, blocks):
        super().__init__()
        embed.requires_grad_(False)
        self.embed = embed
        self.blocks = nn.ModuleList(blocks)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)  # want: reentrant-checkpoint-frozen-input
        return x


class Default(nn.Module):
    def __init__(self, embed, block):
        super().__init__()
        self.embed = embed.eval().requires_grad_(False)
        self.block = block

    def forward(self, tokens):
        return checkpoint(self.block, self.embed(tokens))  # want: reentrant-checkpoint-frozen-input
