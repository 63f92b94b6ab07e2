import torch
from accelerate import Accelerator


def while_loop(model, loader, criterion, optimizer, steps):
    it = iter(loader)
    optimizer.zero_grad()
    total = torch.zeros((), device="cuda")
    i = 0
    while i < steps:
        x, y = next(it)
        total = total + criterion(model(x.cuda()), y.cuda()) / steps  # want: accumulate-graph-not-grad
        i += 1
    total.backward()
    optimizer.step()


def split(model, inputs, targets, criterion, optimizer):
    optimizer.zero_grad()
    loss = 0.0
    for x, y in zip(inputs.split(8), targets.split(8)):
        loss += criterion(model(x), y)  # want: accumulate-graph-not-grad
    (loss / 4).backward()
    optimizer.step()


def mean(model, micro_batches, criterion, optimizer):
    losses = [criterion(model(x), y) for x, y in micro_batches]  # want: accumulate-graph-not-grad
    torch.stack(losses).mean().backward()
    optimizer.step()


class Stepper:
    def __init__(self, model, criterion, optimizer):
        self.model, self.criterion, self.optimizer = model, criterion, optimizer

    def loss(self, batch):
        x, y = batch
        return self.criterion(self.model(x), y)

    def step(self, batches):
        self.optimizer.zero_grad()
        total = 0
        for batch in batches:
            total = total + self.loss(batch) / len(batches)  # want: accumulate-graph-not-grad
        total.backward()
        self.optimizer.step()


def amp(model, chunks, criterion, optimizer, scaler):
    total = None
    for x, y in chunks:
        with torch.autocast("cuda"):
            loss = criterion(model(x), y)
        total = loss if total is None else total + loss  # want: accumulate-graph-not-grad
    scaler.scale(total).backward()
    scaler.step(optimizer)
    scaler.update()
