import torch
import torch.nn as nn


class WithLoss(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x, y):
        return self.loss(self.model(x), y)


def fit(model, loader, optimizer):
    wrapped = nn.DataParallel(WithLoss(model)).cuda()
    for x, y in loader:
        loss = wrapped(x.cuda(), y.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
