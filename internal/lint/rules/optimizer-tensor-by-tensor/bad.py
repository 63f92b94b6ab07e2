import torch


def build(model):
    return torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)  # want: optimizer-tensor-by-tensor
