import csv
import glob
import json
import os
import pickle
import jsonlines
import pandas as pd
from pathlib import Path
from torch.utils.data import DataLoader, Dataset
import torch.utils.data as tud
import pytorch_lightning as pl
from tqdm import tqdm

class A(tud.Dataset):
    def __init__(self, p):
        self.data = json.loads(Path(p).read_text())  # want: object-list-dataset-copies
    def __len__(self):
        return len(self.data)
    def __getitem__(self, i):
        return self.data[i]

class B(Dataset):
    def __init__(self, p):
        super().__init__()
        self.examples = []
        with jsonlines.open(p) as reader:
            for obj in tqdm(reader):
                self.examples.append(obj)  # want: object-list-dataset-copies
    def __len__(self):
        return len(self.examples)
    def __getitem__(self, i):
        ex = self.examples[i]
        return ex["a"]

class C(Dataset):
    def __init__(self, p):
        df = pd.read_csv(p)
        self.pairs = list(zip(df["q"].tolist(), df["a"].tolist()))  # want: object-list-dataset-copies
    def __len__(self):
        return len(self.pairs)
    def __getitem__(self, i):
        return self.pairs[i]

class D(Dataset):
    def __init__(self, p):
        self.samples = self._read(p)  # want: object-list-dataset-copies
    def _read(self, p):
        out = []
        with open(p) as f:
            for l in f:
                a, b = l.strip().split("\t")
                out.append((a, b))
        return out
    def __len__(self):
        return len(self.samples)
    def __getitem__(self, i):
        q, a = self.samples[i]
        return q, a

class E(Dataset):
    def __init__(self, root):
        self.meta = []
        for fn in glob.glob(os.path.join(root, "*.json")):
            with open(fn) as f:
                self.meta.append(json.load(f))  # want: object-list-dataset-copies
    def __len__(self):
        return len(self.meta)
    def __getitem__(self, i):
        return self.meta[i]

class F(Dataset):
    def __init__(self, root):
        with open(root) as f:
            blob = json.load(f)
        self.images = {im["id"]: im for im in blob["images"]}  # want: object-list-dataset-copies
        self.ids = list(self.images)
    def __len__(self):
        return len(self.ids)
    def __getitem__(self, i):
        return self.images[self.ids[i]]

class G(Dataset):
    def __init__(self, path):
        self.lines = [l.rstrip("\n") for l in open(path, encoding="utf8")]  # want: object-list-dataset-copies
    def __len__(self):
        return len(self.lines)
    def __getitem__(self, i):
        return self.lines[i]

class H(Dataset):
    def __init__(self, records, tf=None):
        self.records = records
        self.tf = tf
    def __len__(self):
        return len(self.records)
    def __getitem__(self, i):
        return self.records[i]

class DM(pl.LightningDataModule):
    def __init__(self, p):
        super().__init__()
        self.p = p
    def setup(self, stage=None):
        self.ds = D(self.p)
        with open(self.p, "rb") as f:
            recs = pickle.load(f)  # want: object-list-dataset-copies
        self.ds2 = H(records=recs)
    def train_dataloader(self):
        return DataLoader(self.ds, batch_size=4, shuffle=True, num_workers=8), DataLoader(self.ds2, num_workers=2)

kw = {"num_workers": 4, "batch_size": 2}
def mk(p, args):
    ds = A(p)
    a = DataLoader(ds, **kw)
    b = DataLoader(B(p), 8, num_workers=args.workers)
    c = DataLoader(C(p), 8, num_workers=os.cpu_count())
    e = DataLoader(E(p), 8, False, None, None, 6)
    return a, b, c, e, DataLoader(F(p), num_workers=2), DataLoader(G(p), num_workers=2)

def use(p, accelerator):
    class Inner(Dataset):
        def __init__(self, p):
            with open(p) as fh:
                self.rows = list(csv.reader(fh))  # want: object-list-dataset-copies
        def __len__(self):
            return len(self.rows)
        def __getitem__(self, i):
            return self.rows[i]
    return accelerator.prepare(DataLoader(Inner(p), num_workers=2))
