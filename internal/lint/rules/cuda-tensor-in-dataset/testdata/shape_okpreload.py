import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset


def on_gpu(x, y):
    return DataLoader(TensorDataset(x.cuda(), y.cuda()), batch_size=512)


class Crops(Dataset):
    def __init__(self, x):
        self.x = x

    def __getitem__(self, i):
        return self.x[i].float()

    def __len__(self):
        return len(self.x)
