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
    rng = np.random.default_rng(0)
    for x, y in dl:
        scale = 2 ** rng.uniform(-1, 1)
        x = F.interpolate(x.cuda(), scale_factor=scale, mode="bilinear", align_corners=False)
        loss = crit(model(x.cuda()), y.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
