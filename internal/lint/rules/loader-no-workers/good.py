import torch
from torch.utils.data import DataLoader, TensorDataset
from torchvision import datasets, transforms


def loaders(root, features, labels, options):
    train = datasets.ImageFolder(root, transforms.ToTensor())
    in_memory = TensorDataset(torch.as_tensor(features), torch.as_tensor(labels))
    mine = {"batch_size": 64}
    if torch.cuda.is_available():
        mine.update({"num_workers": 4, "pin_memory": True})
    return (
        DataLoader(train, batch_size=64, shuffle=True, num_workers=8, pin_memory=True),
        DataLoader(in_memory, batch_size=4096, shuffle=True),
        DataLoader(train, **options),
        DataLoader(train, **mine),
    )
