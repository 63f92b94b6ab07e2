import random
import numpy as np
import torch
import torch.nn.functional as F
import torchvision
from torchvision import transforms
import torchvision.transforms.functional as TF
import pytorch_lightning as pl
from torch.utils.data import DataLoader, BatchSampler

def seed(s):
    torch.manual_seed(s)
    torch.backends.cudnn.benchmark = True  # want: cudnn-benchmark-variable-shapes
class Tr:
    def __init__(self, model, sizes):
        self.model, self.sizes = model, sizes
    def one(self, x, y):
        size = self.sizes[torch.randint(len(self.sizes), (1,)).item()]
        x = F.interpolate(x.cuda(), size=size)
        loss = self.crit(self.model(x), y.cuda())
        loss.backward()
        self.opt.step()
    def fit(self, dl):
        seed(1)
        for x, y in dl:
            self.one(x, y)
