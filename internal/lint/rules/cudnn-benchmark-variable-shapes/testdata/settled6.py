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
def main(model, dl, crit, opt):
    for x, y in dl:
        s = random.randint(200, 300)
        x = F.interpolate(x, size=(s, s))
        x = F.interpolate(x, size=(224, 224))
        loss = crit(model(x.cuda()), y.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
def pad(model, dl, crit, opt):
    for x, y in dl:
        s = random.randint(200, 300)
        x = F.interpolate(x, size=(s, s))
        x = F.pad(x, (0, 512 - s, 0, 512 - s))
        loss = crit(model(x.cuda()), y.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
