import torch
import torch.nn.functional as F

torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic = True, False  # want: cudnn-benchmark-variable-shapes


def train(model, loader, criterion, optimizer, device):
    for step, (images, targets) in enumerate(loader):
        side = 320 + 32 * (step % 10)
        images = F.interpolate(images.to(device), size=(side, side))
        loss = criterion(model(images), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
