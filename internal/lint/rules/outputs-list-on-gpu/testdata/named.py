import torch
from collections import defaultdict


@torch.no_grad()
def collect(model, loader, device):
    store = defaultdict(list)
    for batch in loader:
        out = model(batch["x"].to(device))
        for name, value in out.items():
            store[name].append(value)  # want: outputs-list-on-gpu
    return {k: torch.cat(v).cpu() for k, v in store.items()}
