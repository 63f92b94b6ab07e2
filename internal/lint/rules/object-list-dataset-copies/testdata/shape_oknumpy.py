import numpy as np
from torch.utils.data import DataLoader, Dataset


class Captions(Dataset):
    def __init__(self, file):
        self.items = np.array([line.strip() for line in open(file)], dtype=np.bytes_)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


loader = DataLoader(Captions("c.txt"), batch_size=64, num_workers=16)
