import json
import numpy as np
import pandas as pd
import pyarrow as pa
import torch
from torch.utils.data import DataLoader, Dataset
from datasets import load_dataset
import os
import glob

class A(Dataset):
    def __init__(self, p):
        df = pd.read_csv(p)
        self.x = torch.tensor(df.values)
        self.y = df["y"].to_numpy()
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return self.x[i], self.y[i]

class B(Dataset):
    def __init__(self, p):
        self.offsets = np.array([int(l) for l in open(p)])
        self.path = p
    def __len__(self): return len(self.offsets)
    def __getitem__(self, i):
        with open(self.path) as f:
            f.seek(self.offsets[i])
            return json.loads(f.readline())

class C(Dataset):
    def __init__(self, p):
        with open(p) as f:
            self.vocab = json.load(f)
        self.names = ["a", "b"]
        self.data = np.memmap(p)
    def __len__(self): return len(self.data)
    def __getitem__(self, i):
        return self.data[i], self.vocab["<pad>"], self.names[i % 2]

class D(Dataset):
    def __init__(self, p):
        rows = [json.loads(l) for l in open(p)]
        self.ids = torch.tensor([r["id"] for r in rows])
        self.strs = np.array([r["t"] for r in rows]).astype(np.bytes_)
        self.table = pa.array([r["t"] for r in rows])
    def __len__(self): return len(self.ids)
    def __getitem__(self, i): return self.ids[i], self.strs[i], self.table[i]

class E(Dataset):
    def __init__(self, p):
        self.hf = load_dataset("json", data_files=p)["train"]
    def __len__(self): return len(self.hf)
    def __getitem__(self, i): return self.hf[i]

class Small(Dataset):
    def __init__(self, p):
        with open(p) as f:
            self.rows = [json.loads(l) for l in f]
    def __len__(self): return len(self.rows)
    def __getitem__(self, i): return self.rows[i]

class Files(Dataset):
    def __init__(self, root):
        self.files = sorted(glob.glob(os.path.join(root, "*.npy")))
    def __len__(self): return len(self.files)
    def __getitem__(self, i): return np.load(self.files[i])

def mk(p):
    return [DataLoader(c(p), num_workers=4) for c in (A, B, C, D, E, Files)] + [DataLoader(Small(p), num_workers=0)]

def mk2(p):
    return (DataLoader(A(p), num_workers=4), DataLoader(B(p), num_workers=4), DataLoader(C(p), num_workers=4), DataLoader(D(p), num_workers=4), DataLoader(E(p), num_workers=4), DataLoader(Small(p)), DataLoader(Files(p), num_workers=4))
