import torch
from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    def __init__(self, files, device="cuda"):
        self.files = files
        self.device = device

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        wave = torch.load(self.files[i], weights_only=True)
        return wave.to(self.device)  # want: cuda-tensor-in-dataset


def loader(files):
    return DataLoader(Clips(files), batch_size=16, num_workers=4)
