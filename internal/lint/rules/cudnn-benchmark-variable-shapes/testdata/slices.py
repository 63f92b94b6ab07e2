import random

import torch

torch.backends.cudnn.benchmark = True  # want: cudnn-benchmark-variable-shapes
torch.backends.cudnn.deterministic = False


def train(model, loader, criterion, optimizer, device):
    for images, targets in loader:
        side = 32 * random.randint(7, 14)
        images = images.to(device)[:, :, :side, :side]
        loss = criterion(model(images), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
