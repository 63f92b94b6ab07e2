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
def main(model, dl, crit, opt, args):
    for x, y in dl:
        s = random.uniform(0.8, 1.2)
        x = F.interpolate(x, scale_factor=s)
        x = TF.center_crop(x, [224, 224])
        loss = crit(model(x.cuda()), y.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
