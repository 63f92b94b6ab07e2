import torchvision
from torch.utils import data


def get(split, bs):
    ds = torchvision.datasets.CIFAR10("data", train=split == "train", transform=torchvision.transforms.ToTensor())
    return data.DataLoader(dataset=ds, batch_size=bs, num_workers=0)  # want: loader-no-workers


def get_text(rows):
    return data.DataLoader([1, 2, 3], batch_size=2)
