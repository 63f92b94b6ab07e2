import random

import torch
import torch.nn.functional as F

torch.backends.cudnn.benchmark = True  # want: cudnn-benchmark-variable-shapes


def train(model, loader, criterion, optimizer, device):
    for images, targets in loader:
        side = random.randint(400, 600)
        images = F.interpolate(images.to(device), size=(side, side))
        optimizer.zero_grad(set_to_none=True)
        criterion(model(images), targets.to(device)).backward()
        optimizer.step()
