import torch
from torch import nn


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def repackaged(model, loader, criterion, optimizer):
    hidden = model.init_hidden(20)
    for x, y in loader:
        hidden = repackage_hidden(hidden)
        out, hidden = model(x, hidden)
        criterion(out, y).backward()
        optimizer.step()


def at_the_end(lstm, loader, criterion, optimizer):
    state = None
    for x, y in loader:
        out, state = lstm(x, state)
        criterion(out, y).backward()
        optimizer.step()
        state = tuple(s.detach() for s in state)


def in_place(rnn, loader, criterion, optimizer):
    hidden = torch.zeros(1, 1, 8)
    for x, y in loader:
        hidden.detach_()
        out, hidden = rnn(x, hidden)
        criterion(out, y).backward()
        optimizer.step()


def each(lstm, loader, criterion, optimizer):
    state = None
    for x, y in loader:
        if state is not None:
            for s in state:
                s.detach_()
        out, state = lstm(x, state)
        criterion(out, y).backward()
        optimizer.step()


def time(cell, head, loader, criterion, optimizer):
    for x, y in loader:
        h = torch.zeros(4, 8)
        loss = 0
        for t in range(x.shape[1]):
            h = cell(x[:, t], h)
            loss = loss + criterion(head(h), y[:, t])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def truncated(rnn, loader, criterion, optimizer, k):
    hidden = None
    for i, (x, y) in enumerate(loader):
        out, hidden = rnn(x, hidden)
        criterion(out, y).backward()
        optimizer.step()
        hidden = hidden.detach() if i % k == 0 else None


def data(rnn, loader, criterion, optimizer):
    h = torch.zeros(1, 4, 8)
    c = torch.zeros(1, 4, 8)
    for x, y in loader:
        h, c = h.data, c.data
        out, (h, c) = rnn(x, (h, c))
        criterion(out, y).backward()
        optimizer.step()


def plain(encoder, decoder, loader, criterion, optimizer):
    for x, y in loader:
        code = encoder(x)
        out = decoder(code)
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()


def gan(G, D, loader, optimizer):
    fake = None
    for real in loader:
        fake = G(torch.randn(4, 8))
        loss = D(fake).mean() - D(real).mean()
        loss.backward()
        optimizer.step()
    return fake


class Reset(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 8)
        self.hidden = None

    def forward(self, x):
        y, self.hidden = self.rnn(x, self.hidden)
        return y

    def reset(self):
        self.hidden = None


def reset(loader, criterion):
    net = Reset()
    optimizer = torch.optim.SGD(net.parameters(), 1.0)
    for x, y in loader:
        net.reset()
        criterion(net(x), y).backward()
        optimizer.step()


def evaluate(rnn, loader, criterion):
    hidden = None
    total = 0
    with torch.no_grad():
        for x, y in loader:
            out, hidden = rnn(x, hidden)
            total += criterion(out, y)
    return total
