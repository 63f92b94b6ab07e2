import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import DataParallel as DP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        return self.body(x)


def main(loader, epochs):
    model = Net()
    if torch.cuda.device_count() > 1:
        model = nn.DataParallel(model, device_ids=[0, 1, 2, 3])  # want: dataparallel-gathers-outputs
    model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        train_epoch(model, loader, optimizer)


def train_epoch(model, loader, optimizer):
    for x, y in loader:
        logits = model(x.cuda())
        loss = F.cross_entropy(logits, y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Trainer:
    def __init__(self, model):
        self.model = DP(model).to("cuda")  # want: dataparallel-gathers-outputs
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()


prefix = DP(Net(), device_ids=[0])
