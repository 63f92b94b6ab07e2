import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset


class InMemory(Dataset):
    def __init__(self, path):
        self.x = np.load(path)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i])


class Stream(IterableDataset):
    def __init__(self, pool):
        self.pool = pool

    def __iter__(self):
        yield from self.pool


def make(path, x, y, pool, given, workers, options):
    a = DataLoader(InMemory(path), batch_size=64)
    b = DataLoader(TensorDataset(torch.as_tensor(x), torch.as_tensor(y)), 64)
    c = DataLoader(Stream(pool), 64)
    d = DataLoader(given, 64)
    e = DataLoader(InMemory(path), 64, **options)
    return a, b, c, d, e
