import cv2
import lightning.pytorch as pl
import numpy as np
import torch
import torchvision
import torchvision.transforms as T
from PIL import Image
from torch.utils import data
from torch.utils.data import DataLoader, Dataset, Subset, random_split
from torch.utils.data.dataloader import DataLoader as TorchLoader


def read(path):
    return cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)


class ByFunction(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return torch.from_numpy(read(self.paths[i]))


class ByMethod(data.Dataset):
    def __init__(self, paths, transform=None):
        self.paths, self.transform = paths, transform

    def __len__(self):
        return len(self.paths)

    def _open(self, i):
        with open(self.paths[i], "rb") as f:
            return Image.open(f).convert("RGB")

    def __getitem__(self, i):
        return self.transform(self._open(i))


class Derived(ByMethod):
    pass


class Arrays(Dataset):
    def __init__(self, files):
        self.files = files

    def __getitem__(self, i):
        x = np.load(self.files[i])
        return torch.as_tensor(x)

    def __len__(self):
        return len(self.files)


def positional(root):
    return DataLoader(torchvision.datasets.ImageFolder(root), 64, True)  # want: loader-no-workers


def explicit(paths):
    workers = 0
    a = TorchLoader(ByFunction(paths), batch_size=8, num_workers=0)  # want: loader-no-workers
    b = data.DataLoader(ByMethod(paths), batch_size=8, num_workers=workers)  # want: loader-no-workers
    return a, b


def split(root):
    full = torchvision.datasets.ImageFolder(root, T.ToTensor())
    train, val = random_split(full, [0.9, 0.1])
    a = DataLoader(train, batch_size=32, shuffle=True)  # want: loader-no-workers
    b = DataLoader(val, batch_size=32, num_workers=4)
    c = DataLoader(Subset(full, range(100)), batch_size=32)  # want: loader-no-workers
    return a, b, c


def options(paths):
    kwargs = {"batch_size": 32, "shuffle": True, "pin_memory": True}
    more = dict(kwargs, num_workers=4)
    a = DataLoader(Derived(paths), **kwargs)  # want: loader-no-workers
    b = DataLoader(Derived(paths), **more)
    return a, b


def keyword(files):
    return DataLoader(dataset=Arrays(files), batch_size=4)  # want: loader-no-workers


class Module(pl.LightningDataModule):
    def setup(self, stage=None):
        self.train_set = torchvision.datasets.ImageFolder("train", T.ToTensor())
        self.val_set = torchvision.datasets.MNIST("val", transform=T.ToTensor())

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=64, shuffle=True)  # want: loader-no-workers

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=64)
