import torch
import torchvision
import torchvision as tv
from torchvision.datasets import ImageFolder as IF
from torch.utils import data
from torch.utils.data import DataLoader as DL, Dataset, Subset, random_split, ConcatDataset, DistributedSampler
import cv2
import librosa
import torchaudio
from PIL import Image
import pytorch_lightning as pl
from accelerate import Accelerator
import numpy as np
from functools import partial

def a(root, tf):
    ds = IF(root, transform=tf)
    n = len(ds)
    tr, va = random_split(ds, [n - 10, 10])
    l1 = DL(tr, batch_size=64, shuffle=True)  # want: loader-no-workers
    l2 = DL(va, 64, num_workers=0)  # want: loader-no-workers
    return l1, l2

class P(Dataset):
    def __init__(self, files, tf):
        self.files, self.tf = files, tf
    def __len__(self):
        return len(self.files)
    def load(self, i):
        return Image.open(self.files[i]).convert("RGB")
    def __getitem__(self, i):
        return self.tf(self.load(i))

def b(files, tf):
    ds = P(files, tf)
    sampler = DistributedSampler(ds)
    return data.DataLoader(dataset=ds, batch_size=32, sampler=sampler, pin_memory=True)  # want: loader-no-workers

class Aud(Dataset):
    def __init__(self, df):
        self.df = df
    def __len__(self):
        return len(self.df)
    def __getitem__(self, i):
        wav, sr = torchaudio.load(self.df.iloc[i].path)
        return wav

class DM(pl.LightningDataModule):
    def setup(self, stage):
        self.train_ds = Aud(self.df)
    def train_dataloader(self):
        return DL(self.train_ds, batch_size=self.bs, shuffle=True)  # want: loader-no-workers

def read(path):
    img = cv2.imread(path)
    return cv2.cvtColor(img, cv2.COLOR_BGR2RGB)

class CV(Dataset):
    def __init__(self, fs):
        self.fs = fs
    def __len__(self):
        return len(self.fs)
    def __getitem__(self, i):
        return torch.from_numpy(read(self.fs[i]))

def c(fs, bs):
    kw = dict(batch_size=bs, shuffle=True, drop_last=True)
    return DL(CV(fs), **kw)  # want: loader-no-workers

def d(fs, root, accelerator):
    both = ConcatDataset([CV(fs), CV(fs)])
    l = accelerator.prepare(DL(both, 16))  # want: loader-no-workers
    sub = Subset(tv.datasets.ImageNet(root), range(10))
    return l, DL(sub, 16, True)  # want: loader-no-workers

cfg = {"num_workers": 0, "batch_size": 8}
def e(root):
    ds = torchvision.datasets.Food101(root, download=True)
    return DL(ds, **cfg)  # want: loader-no-workers

class Lit(pl.LightningModule):
    def train_dataloader(self):
        ds = tv.datasets.ImageFolder(self.hparams.root)
        return DL(ds, batch_size=self.hparams.bs)  # want: loader-no-workers

NUM_WORKERS = 0
def f(root):
    ds = tv.datasets.ImageFolder(root)
    loaders = {s: DL(ds, batch_size=4, num_workers=NUM_WORKERS) for s in ("a", "b")}  # want: loader-no-workers
    mk = partial(DL, batch_size=4)
    return loaders

def g(root):
    datasets = {x: tv.datasets.ImageFolder(root + x) for x in ["train", "val"]}
    return {x: DL(datasets[x], batch_size=4, shuffle=True) for x in ["train", "val"]}  # want: loader-no-workers

class L(Dataset):
    def __init__(self, fs):
        self.fs = fs
    def __len__(self): return len(self.fs)
    def __getitem__(self, i):
        y, sr = librosa.load(self.fs[i], sr=16000)
        m = librosa.feature.melspectrogram(y=y, sr=sr)
        return m

def build(split):
    if split == "train":
        return L(["a"])
    return L(["b"])

def h():
    return DL(build("train"), batch_size=3)  # want: loader-no-workers
