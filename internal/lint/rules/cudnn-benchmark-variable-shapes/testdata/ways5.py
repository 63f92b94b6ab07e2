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
        h, w = torch.randint(200, 300, (2,)).tolist()
        i, j = random.randint(0, 20), random.randint(0, 20)
        x = x[:, :, i:i + h, j:j + w]
        loss = crit(model(x.cuda()), y.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
