import torch
import torch.nn.functional as F
from torch import nn
from torch.nn import DataParallel


def train_epoch(net, loader, optimizer):
    for x, y in loader:
        logits = net(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()


def main(loader):
    network = nn.Linear(8, 8)
    if torch.cuda.device_count() > 1:
        network = DataParallel(network)  # want: dataparallel-gathers-outputs
    train_epoch(network, loader, torch.optim.SGD(network.parameters(), 1.0))


class Engine:
    def __init__(self, model, criterion, optimizer):
        self.model = nn.DataParallel(model, device_ids=[0, 1])  # want: dataparallel-gathers-outputs
        self.criterion, self.optimizer = criterion, optimizer

    def step(self, x, y):
        self.optimizer.zero_grad()
        out, aux = self.model(x)
        loss = self.criterion(out, y) + self.criterion(aux, y)
        loss.backward()
        self.optimizer.step()
