import random

import torch
from torch.backends import cudnn
from torch.utils.data import DataLoader
from torchvision.transforms import functional as TF

cudnn.benchmark = True  # want: cudnn-benchmark-variable-shapes


def collate(rows):
    side = random.choice([256, 320, 384])
    return torch.stack([TF.resize(image, [side, side]) for image, _ in rows]), torch.tensor([y for _, y in rows])


def make(data):
    return DataLoader(data, 32, collate_fn=collate, num_workers=4)
