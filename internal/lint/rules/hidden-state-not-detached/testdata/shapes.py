import torch
from torch import nn


class Trainer:
    def __init__(self, rnn, head, criterion, optimizer):
        self.rnn, self.head, self.criterion, self.optimizer = rnn, head, criterion, optimizer
        self.hidden = None

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            out, self.hidden = self.rnn(x, self.hidden)  # want: hidden-state-not-detached
            self.criterion(self.head(out), y).backward(retain_graph=True)
            self.optimizer.step()


def packed(rnn, loader, criterion, optimizer):
    state = (torch.zeros(1, 4, 8), torch.zeros(1, 4, 8))
    for x, y in loader:
        optimizer.zero_grad()
        out, state = rnn(x, state)  # want: hidden-state-not-detached
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()


def step(rnn, batch, hidden, criterion, optimizer):
    x, y = batch
    out, hidden = rnn(x, hidden)
    loss = criterion(out, y)
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    return hidden


def by_index(model, loader, criterion, optimizer):
    hidden = torch.zeros(1, 1, 8)
    for x, y in loader:
        result = model(x, hidden)  # want: hidden-state-not-detached
        hidden = result[1]
        criterion(result[0], y).backward()
        optimizer.step()


def memory(model, loader, optimizer):
    mems = None
    for batch in loader:
        out = model(batch, mems=mems)  # want: hidden-state-not-detached
        mems = out.mems
        out.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
