import json
import os

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class NoWorkers(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.items = [json.loads(line) for line in f]

    def __getitem__(self, i):
        return self.items[i]

    def __len__(self):
        return len(self.items)


class Files(Dataset):
    def __init__(self, root):
        self.files = sorted(os.path.join(root, f) for f in os.listdir(root))

    def __getitem__(self, i):
        return np.load(self.files[i])

    def __len__(self):
        return len(self.files)


class Arrays(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.values = np.array([float(line) for line in f])
        with open(path + ".json") as f:
            self.config = json.load(f)

    def __getitem__(self, i):
        return self.values[i] * self.scale() * self.config["scale"]

    def scale(self):
        return 2

    def __len__(self):
        return len(self.values)


class Tensors(Dataset):
    def __init__(self, path):
        self.x = torch.load(path)
        self.few = [1, 2, 3]

    def __getitem__(self, i):
        return self.x[i], self.few[i % 3]

    def __len__(self):
        return len(self.x)


def make(path):
    a = DataLoader(NoWorkers(path), 8)
    b = DataLoader(Files(path), 8, num_workers=4)
    c = DataLoader(Arrays(path), 8, num_workers=4)
    d = DataLoader(Tensors(path), 8, num_workers=4)
    return a, b, c, d
