import numpy as np
import torch
from torch.utils.data import Dataset


class Volumes(Dataset):
    def __init__(self, files):
        self.files = np.array(files)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return torch.from_numpy(np.load(self.files[i])).cuda()  # want: cuda-tensor-in-dataset
