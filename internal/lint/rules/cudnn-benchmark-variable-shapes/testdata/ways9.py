import random
import numpy as np
import torch
import torch.nn.functional as F
import torchvision
from torchvision import transforms
import torchvision.transforms.functional as TF
import pytorch_lightning as pl
from torch.utils.data import DataLoader, BatchSampler

def coll(rows):
    xs, ys = zip(*rows)
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True), torch.tensor(ys)
def main(ds, opt, crit):
    torch.backends.cudnn.benchmark = True  # want: cudnn-benchmark-variable-shapes
    model = torch.nn.Sequential(torch.nn.Conv1d(80, 256, 3), torch.nn.ReLU()).cuda()
    dl = DataLoader(ds, 8, collate_fn=coll, num_workers=4)
    for x, y in dl:
        loss = crit(model(x.cuda()), y.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
