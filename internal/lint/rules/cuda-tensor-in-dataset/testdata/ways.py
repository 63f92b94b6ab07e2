import torch
import torch as th
import numpy as np
from PIL import Image
import torchvision.transforms as T
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset
import torch.utils.data as data
from torchvision.datasets import ImageFolder, CIFAR10
import pytorch_lightning as pl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
device = torch.device("cuda:0")

class A(data.Dataset):
    def __init__(self, paths, tf):
        self.paths, self.tf = paths, tf
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, idx):
        img = Image.open(self.paths[idx]).convert("RGB")
        x = self.tf(img)
        x = x.to(DEVICE)  # want: cuda-tensor-in-dataset
        y = torch.tensor(idx, device=device)  # want: cuda-tensor-in-dataset
        return x, y

class B(IterableDataset):
    def __iter__(self):
        for line in open("x"):
            yield th.tensor([int(v) for v in line.split()]).to(device="cuda")  # want: cuda-tensor-in-dataset

class C(Dataset):
    def __init__(self, x, dev="cuda"):
        self.x = x
        self.dev = dev
    def __len__(self):
        return len(self.x)
    def _load(self, i):
        return torch.as_tensor(self.x[i]).to(self.dev)  # want: cuda-tensor-in-dataset
    def __getitem__(self, i):
        return self._load(i)

class D(ImageFolder):
    def __getitem__(self, i):
        img, y = super().__getitem__(i)
        return img.cuda(non_blocking=True), y  # want: cuda-tensor-in-dataset

def to_gpu(a):
    return torch.from_numpy(a).cuda()  # want: cuda-tensor-in-dataset

class E(Dataset):
    def __init__(self, n):
        self.n = n
    def __len__(self):
        return self.n
    def __getitem__(self, i):
        return {"x": to_gpu(np.zeros(3))}

class F(Dataset):
    def __len__(self):
        return 10
    def __getitem__(self, i):
        sample = {"x": torch.zeros(3), "y": torch.ones(1)}
        return {k: v.to("cuda") for k, v in sample.items()}  # want: cuda-tensor-in-dataset

class G(Dataset):
    def __init__(self, x, device):
        self.x = x
        self.device = device
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return torch.FloatTensor(self.x[i]).to(self.device)  # want: cuda-tensor-in-dataset

class H(Dataset):
    def __init__(self, x):
        self.x = x
        self.tf = T.Compose([T.ToTensor(), T.Lambda(lambda t: t.cuda())])  # want: cuda-tensor-in-dataset
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.tf(self.x[i])

def coll(rows):
    x = torch.stack([r[0] for r in rows])
    return x.to("cuda")  # want: cuda-tensor-in-dataset

def coll2(rows, dev):
    return torch.stack(rows).to(dev)

def make(x, ds):
    return DataLoader(ds, 8, num_workers=4, collate_fn=coll), G(x, "cuda:0")

class DM(pl.LightningDataModule):
    def collate(self, rows):
        return torch.stack(rows).cuda()  # want: cuda-tensor-in-dataset
    def train_dataloader(self):
        return DataLoader(self.ds, 8, num_workers=4, collate_fn=self.collate)

class I(Dataset):
    def __len__(self):
        return 1
    def __getitem__(self, i):
        with torch.no_grad():
            x = torch.randn(3, 3).pin_memory()
        x, m = x.cuda(0), torch.ones(3)  # want: cuda-tensor-in-dataset
        return x, m

class J(Dataset):
    def __init__(self, path):
        self.x = torch.load(path, map_location="cuda")
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i]

class K(Dataset):
    def __init__(self, path):
        self.x = torch.load(path).cuda()  # want: cuda-tensor-in-dataset
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i]

def mk(path):
    return DataLoader(K(path), batch_size=3, num_workers=2)
class Pairs:
    def __len__(self):
        return 1
    def __getitem__(self, i):
        return torch.zeros(3, device="cuda"), i  # want: cuda-tensor-in-dataset

def mk2():
    return DataLoader(dataset=Pairs(), batch_size=3, num_workers=2)
