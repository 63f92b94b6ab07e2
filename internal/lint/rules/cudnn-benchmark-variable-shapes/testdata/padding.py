import torch
from torch.utils.data import DataLoader

torch.backends.cudnn.benchmark = True  # want: cudnn-benchmark-variable-shapes


def collate(rows):
    h = max(r.shape[1] for r in rows)
    w = max(r.shape[2] for r in rows)
    out = torch.zeros(len(rows), 3, h, w)
    for i, r in enumerate(rows):
        out[i, :, :r.shape[1], :r.shape[2]] = r
    return out


def make(data):
    return DataLoader(data, batch_size=8, collate_fn=collate)
