import random
import numpy as np
import torch
import torch.nn.functional as F
import torchvision
from torchvision import transforms
import torchvision.transforms.functional as TF
import pytorch_lightning as pl
from torch.utils.data import DataLoader, BatchSampler

def main(model, dl, crit, opt):
    torch.backends.cudnn.benchmark = True  # want: cudnn-benchmark-variable-shapes
    for x, y in dl:
        x = TF.center_crop(x, random.choice([192, 224]))
        loss = crit(model(x.cuda()), y.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
def m2(model, dl, crit, opt):
    for x, y in dl:
        th = random.randint(100, 200)
        x = transforms.RandomCrop(th)(x)
        loss = crit(model(x.cuda()), y.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
