import torch
from torch.utils.data import DataLoader, Dataset


class OnGPU(Dataset):
    def __init__(self, x, device):
        self.x = x.to(device)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]


class CPUByDefault(Dataset):
    def __init__(self, x, device="cpu"):
        self.x, self.device = x, device

    def __getitem__(self, i):
        return self.x[i].to(self.device)

    def __len__(self):
        return len(self.x)


class Casts(Dataset):
    def __getitem__(self, i):
        return self.x[i].to(torch.float32), self.y[i].to("cpu")

    def __len__(self):
        return len(self.x)

    def to(self, device):
        self.x = self.x.to(device)
        return self


class Model(torch.nn.Module):
    def __getitem__(self, i):
        return self.blocks[i].cuda()


def make(x, device):
    return DataLoader(OnGPU(x, device), batch_size=4096, shuffle=True)
