import json

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Captions(Dataset):
    def __init__(self, path):
        with open(path, "rb") as handle:
            rows = [line for line in handle]
        self.ends = np.cumsum([len(row) for row in rows])
        self.blob = np.frombuffer(b"".join(rows), dtype=np.uint8)

    def __len__(self):
        return len(self.ends)

    def __getitem__(self, i):
        start = self.ends[i - 1] if i else 0
        return json.loads(self.blob[start:self.ends[i]].tobytes())


def make_loader(path):
    return DataLoader(Captions(path), batch_size=64, num_workers=16)
