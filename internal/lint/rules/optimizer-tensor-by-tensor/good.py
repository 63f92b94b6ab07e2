import torch


def build(model):
    return torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
