import random
import numpy as np
import torch
import torch.nn.functional as F
import torchvision
from torchvision import transforms
import torchvision.transforms.functional as TF
import pytorch_lightning as pl
from torch.utils.data import DataLoader, BatchSampler

torch.backends.cudnn.benchmark = True
def cut(x):
    n = random.randint(8, 64)
    y0, x0 = random.randint(0, 100), random.randint(0, 100)
    x[:, :, y0:y0 + n, x0:x0 + n] = 0
    return x
def mix(x):
    lam = np.random.beta(1, 1)
    idx = torch.randperm(x.size(0))
    return lam * x + (1 - lam) * x[idx]
def main(model, dl, crit, opt):
    for x, y in dl:
        x = mix(cut(x))
        loss = crit(model(x.cuda()), y.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
