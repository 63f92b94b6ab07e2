import argparse
import os
import torch
import torchvision as tv
from torch.utils.data import DataLoader, TensorDataset, Dataset
import numpy as np
from PIL import Image

def main():
    p = argparse.ArgumentParser()
    p.add_argument("--workers", type=int, default=4)
    args = p.parse_args()
    ds = tv.datasets.ImageFolder("x")
    return DataLoader(ds, 32, num_workers=args.workers), DataLoader(ds, 32, False, None, None, 4)

cfg = {"num_workers": 8, "batch_size": 3}
def a(config):
    ds = tv.datasets.ImageFolder("x")
    return DataLoader(ds, **cfg), DataLoader(ds, **config["loader"]), DataLoader(ds, 3, num_workers=config["workers"]), DataLoader(ds, num_workers=min(8, os.cpu_count()))

def b(x, y):
    return DataLoader(TensorDataset(torch.tensor(x), torch.tensor(y)), 32, shuffle=True)

class Mem(Dataset):
    def __init__(self, fs):
        self.x = [np.asarray(Image.open(f)) for f in fs]
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return torch.from_numpy(self.x[i])

def c(fs):
    return DataLoader(Mem(fs), 3), DataLoader(tv.datasets.MNIST("x"), 3)

class Cached(Dataset):
    def __init__(self, fs):
        self.fs = fs
        self.x = np.load(fs)
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return self.x[i]

def d(fs, workers=8):
    kw = {}
    if workers > 0:
        kw["num_workers"] = workers
        kw["persistent_workers"] = True
    ds = tv.datasets.ImageFolder("x")
    return DataLoader(Cached(fs), 3), DataLoader(ds, 3, **kw)

def lazy_img(p):
    return Image.open(p)

def demo():
    ds = tv.datasets.FakeData()
    return DataLoader(ds, 3)

class Opt:
    def __init__(self, **kw):
        self.kw = kw
    def make(self):
        return DataLoader(tv.datasets.ImageFolder("x"), **self.kw)
