import numpy as np
import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn


def main(model, loader, criterion, optimizer, sizes=(320, 352, 384)):
    if torch.cuda.is_available():
        cudnn.benchmark = True  # want: cudnn-benchmark-variable-shapes
    for epoch in range(10):
        train(model, loader, criterion, optimizer, sizes)


def train(model, loader, criterion, optimizer, sizes):
    for step, (images, targets) in enumerate(loader):
        if step % 10 == 0:
            size = sizes[np.random.randint(len(sizes))]
        scale = size / max(images.shape[2:])
        images = nn.functional.interpolate(images.cuda(), scale_factor=scale, mode="bilinear")
        loss = criterion(model(images), targets.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
