import torch
from torch import nn


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 8)
        self.out = nn.Linear(8, 8)

    def forward(self, x, state=None):
        y, state = self.lstm(x, state)
        return self.out(y), state


def none_first(model, loader, criterion, optimizer):
    state = None
    for epoch in range(3):
        for x, y in loader:
            logits, state = model(x, state)  # want: hidden-state-not-detached
            loss = criterion(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def pair(lstm, head, loader, criterion, optimizer, device):
    h = torch.zeros(1, 4, 8, device=device)
    c = torch.zeros(1, 4, 8, device=device)
    for i, (x, y) in enumerate(loader):
        out, (h, c) = lstm(x.to(device), (h, c))  # want: hidden-state-not-detached
        loss = criterion(head(out), y.to(device))
        loss.backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()


def chunks(model, text, criterion, optimizer, length):
    for epoch in range(10):
        hidden = model.init_hidden(8)
        for i in range(0, text.size(0) - 1, length):
            out, hidden = model(text[i : i + length], hidden)  # want: hidden-state-not-detached
            loss = criterion(out, text[i + 1 : i + 1 + length])
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()


def keyword(rnn, loader, criterion, optimizer):
    memory = torch.zeros(1, 1, 8)
    while True:
        for x, y in loader:
            result, new = rnn(x, hx=memory)  # want: hidden-state-not-detached
            memory = new
            criterion(result, y).backward()
            optimizer.step()


def main(loader, criterion):
    model = Language()
    optimizer = torch.optim.SGD(model.parameters(), 1.0)
    none_first(model, loader, criterion, optimizer)


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 8)
        self.hidden = None

    def forward(self, x):
        y, self.hidden = self.rnn(x, self.hidden)  # want: hidden-state-not-detached
        return y


def stateful(loader, criterion):
    net = Stateful()
    optimizer = torch.optim.SGD(net.parameters(), 1.0)
    for x, y in loader:
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
