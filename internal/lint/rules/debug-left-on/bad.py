import os

import torch

os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # want: debug-left-on
torch.autograd.set_detect_anomaly(True)  # want: debug-left-on


def train(model, loader, criterion, optimizer):
    for inputs, targets in loader:
        criterion(model(inputs.cuda()), targets.cuda()).backward()
        optimizer.step()
