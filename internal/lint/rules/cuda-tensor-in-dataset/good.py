import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Volumes(Dataset):
    def __init__(self, files):
        self.files = np.array(files)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return torch.from_numpy(np.load(self.files[i]))


def batches(files, device):
    for batch in DataLoader(Volumes(files), 8, num_workers=4, pin_memory=True):
        yield batch.to(device, non_blocking=True)
