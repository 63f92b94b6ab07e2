import torch
import torch.nn as nn


class App:
    def __init__(self, model):
        self.model = nn.DataParallel(model, device_ids=[0, 1, 2, 3])  # want: dataparallel-gathers-outputs
        self.model.cuda()
        self.loss = nn.CrossEntropyLoss()

    def train(self, loader, optimizer):
        for x, y in loader:
            out = self.model(x.cuda())
            loss = self.loss(out, y.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
