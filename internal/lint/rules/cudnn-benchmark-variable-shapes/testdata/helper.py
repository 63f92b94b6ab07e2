import random

import torch
import torch.nn.functional as F

setattr(torch.backends.cudnn, "benchmark", True)  # want: cudnn-benchmark-variable-shapes


def random_scale(images):
    factor = random.uniform(0.5, 1.5)
    return F.interpolate(images, scale_factor=factor)


def train(model, loader, criterion, optimizer, device):
    for images, targets in loader:
        loss = criterion(model(random_scale(images.to(device))), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
