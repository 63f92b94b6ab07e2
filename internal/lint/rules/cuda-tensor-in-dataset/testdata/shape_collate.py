import torch
from torch.utils.data import DataLoader


def collate(rows):
    xs = torch.stack([torch.as_tensor(r[0]) for r in rows]).cuda()  # want: cuda-tensor-in-dataset
    return xs, [r[1] for r in rows]


def make(ds):
    return DataLoader(ds, batch_size=8, collate_fn=collate, num_workers=4)
