import random

import torch
import torch.nn.functional as F

torch.backends.cudnn.benchmark = True  # want: cudnn-benchmark-variable-shapes


def fit(model, loader, criterion, optimizer):
    for x, y in loader:
        side = random.choice([256, 320, 384, 448])
        x = F.interpolate(x.cuda(), size=(side, side))
        loss = criterion(model(x), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
