import lightning.pytorch as pl
import torch
import torch.nn.functional as F
from collections import defaultdict


def evaluate(model, val_loader, criterion):
    model.eval()
    losses = []
    for x, y in val_loader:
        losses.append(criterion(model(x), y))  # want: loss-keeps-graph
    return torch.stack(losses).mean()


class Engine:
    def fit(self, loader):
        self.history = []
        for x, y in loader:
            loss = self.criterion(self.model(x), y)
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.history += [loss]  # want: loss-keeps-graph


def logged(model, loader, optimizer, terms):
    logs = defaultdict(list)
    for batch in loader:
        first, second = terms(model(batch))
        total = first + 0.1 * second
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        logs["total"].append(total)  # want: loss-keeps-graph
    return logs


class Module(pl.LightningModule):
    def training_step(self, batch, index):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.losses.append(loss)  # want: loss-keeps-graph
        self.numbers.append(loss.item())
        return loss


class Meter:
    def __init__(self):
        self.sum, self.count = 0, 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n


class Careful:
    def __init__(self):
        self.sum = 0

    def update(self, value):
        self.sum += float(value)

    def unwrap(self, value):
        value = value.item()
        self.sum += value

    @torch.no_grad()
    def quiet(self, value):
        self.sum += value


def metered(model, loader, criterion, optimizer):
    meter, careful = Meter(), Careful()
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss, x.size(0))  # want: loss-keeps-graph
        meter.update(loss.item(), x.size(0))
        careful.update(loss)
        careful.unwrap(loss)
        careful.quiet(loss)
    return meter.sum / meter.count
