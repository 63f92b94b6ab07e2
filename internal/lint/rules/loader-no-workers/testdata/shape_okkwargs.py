import os
import torchvision
from torch.utils.data import DataLoader

WORKERS = os.cpu_count()
common = dict(num_workers=WORKERS, pin_memory=True)


def get(bs, **kw):
    ds = torchvision.datasets.ImageFolder("x")
    a = DataLoader(ds, bs, **common)
    b = DataLoader(ds, bs, **kw)
    c = DataLoader(ds, bs, num_workers=WORKERS)
    return a, b, c
