import torch
import numpy as np
from torch.utils.data import DataLoader, Dataset, IterableDataset
import pytorch_lightning as pl

class A(Dataset):
    def __init__(self, x, device="cpu"):
        self.x = x
        self.device = device
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return torch.tensor(self.x[i], device=self.device)

class B(Dataset):
    def __init__(self, path):
        self.x = torch.load(path, map_location="cpu").to(torch.float32)
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i].to(torch.float16).pin_memory(), self.x[i].cpu()

class GPUData(Dataset):
    def __init__(self, x):
        self.x = x.cuda()
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i]

def mk(x):
    return DataLoader(GPUData(x), 8, num_workers=0)

def collate(rows):
    return torch.stack([torch.from_numpy(r) for r in rows])

def to_device(b, device):
    return b.to(device, non_blocking=True)

def train(model, ds, opt, device):
    for b in DataLoader(ds, 8, num_workers=8, collate_fn=collate, pin_memory=True):
        b = to_device(b, device)
        model(b).mean().backward()
        opt.step(); opt.zero_grad()

class DM(pl.LightningDataModule):
    def transfer_batch_to_device(self, batch, device, i):
        return batch.to(device)
    def train_dataloader(self):
        return DataLoader(self.ds, 8, num_workers=4)

class Prefetch:
    def __init__(self, loader):
        self.loader = loader
        self.stream = torch.cuda.Stream()
    def __iter__(self):
        for b in self.loader:
            with torch.cuda.stream(self.stream):
                yield b.cuda(non_blocking=True)
    def __len__(self):
        return len(self.loader)

def collate_gpu(rows):
    return torch.stack(rows).cuda()

def single(ds):
    return DataLoader(ds, 8, collate_fn=collate_gpu)

class Pin(Dataset):
    def __len__(self): return 1
    def __getitem__(self, i):
        x = np.zeros(3)
        return torch.from_numpy(x).to(device="cpu")
    def to_gpu(self):
        return self.x.cuda()
