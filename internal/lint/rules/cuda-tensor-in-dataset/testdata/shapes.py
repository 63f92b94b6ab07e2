import numpy as np
import torch
from PIL import Image
from torch.utils import data
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, default_collate
from torchvision import transforms

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class ByDevice(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, idx):
        image = torch.tensor(np.array(Image.open(self.paths[idx])))
        label = torch.tensor(idx, device="cuda")  # want: cuda-tensor-in-dataset
        image = image.to(device)  # want: cuda-tensor-in-dataset
        return image, label


class ByAttribute(data.Dataset):
    def __init__(self, x, y, device):
        self.x, self.y = x, y
        self.device = device

    def __getitem__(self, i):
        return {
            "x": torch.from_numpy(self.x[i]).float().to(self.device),  # want: cuda-tensor-in-dataset
            "y": self.load(i),
        }

    def load(self, i):
        return torch.as_tensor(self.y[i]).cuda(non_blocking=True)  # want: cuda-tensor-in-dataset

    def __len__(self):
        return len(self.x)


class Base(Dataset):
    pass


class Stream(IterableDataset):
    def __iter__(self):
        for path in self.paths:
            yield torch.load(path, map_location="cpu").to("cuda:0")  # want: cuda-tensor-in-dataset


class Derived(Base):
    def __getitem__(self, i):
        x = torch.zeros(3, device=torch.device("cuda"))  # want: cuda-tensor-in-dataset
        return x


class Plain:
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return torch.FloatTensor(self.rows[i]).cuda()  # want: cuda-tensor-in-dataset


class Preloaded(Dataset):
    def __init__(self, x):
        self.x = torch.as_tensor(x).cuda()  # want: cuda-tensor-in-dataset

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]


def collate(rows):
    x = torch.stack(rows)
    return x.to(device)  # want: cuda-tensor-in-dataset


def loaders(x, rows):
    a = DataLoader(Preloaded(x), batch_size=32, num_workers=4)
    b = DataLoader(Plain(rows), batch_size=32)
    c = DataLoader(Preloaded2(x), batch_size=32, collate_fn=collate, num_workers=2)
    d = DataLoader(Preloaded2(x), 32, collate_fn=lambda r: tuple(t.cuda() for t in default_collate(r)), num_workers=2)  # want: cuda-tensor-in-dataset
    e = DataLoader(Preloaded2(x), 32, collate_fn=lambda r: tuple(t.cuda() for t in default_collate(r)))
    return a, b, c, d, e


def gpu_tensors(x):
    data = TensorDataset(x.cuda(), x.cuda())  # want: cuda-tensor-in-dataset
    return DataLoader(data, batch_size=4, num_workers=2), DataLoader(TensorDataset(x.cuda()), batch_size=4)


to_gpu = transforms.Compose([transforms.ToTensor(), transforms.Lambda(lambda t: t.cuda())])  # want: cuda-tensor-in-dataset


class Preloaded2(Dataset):
    """All of it on the GPU on purpose, without workers."""

    def __init__(self, x):
        self.x = torch.as_tensor(x)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]
