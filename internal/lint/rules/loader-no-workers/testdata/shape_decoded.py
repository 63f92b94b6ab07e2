import cv2
import torch
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, k):
        return torch.from_numpy(cv2.imread(self.paths[k])).permute(2, 0, 1)


def loaders(paths):
    a = DataLoader(Frames(paths), 32, True)  # want: loader-no-workers
    b = DataLoader(Frames(paths), 32, num_workers=4)
    return a, b
