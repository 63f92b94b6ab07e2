import random

import torch
import torch.nn.functional as F

torch.backends.cudnn.benchmark = True


def train(model, loader, criterion, optimizer, device):
    side = random.choice([416, 512])
    for images, targets in loader:
        top = random.randint(0, 32)
        images = F.interpolate(images.to(device), size=(side, side))[:, :, top:top + 384]
        optimizer.zero_grad(set_to_none=True)
        criterion(model(images), targets.to(device)).backward()
        optimizer.step()
