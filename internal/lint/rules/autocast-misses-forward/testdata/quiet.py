import torch
from torch import nn
from torch.cuda.amp import autocast


class Casting(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)

    @autocast()
    def forward(self, x):
        return self.inner(x)


def decorated(loader, criterion, optimizer):
    model = Casting()
    for x, y in loader:
        out = model(x)
        with autocast():
            loss = criterion(out, y)
        loss.backward()
        optimizer.step()


def frozen(teacher, student, loader, criterion, optimizer):
    for x in loader:
        with torch.no_grad():
            goal = teacher(x)
        with autocast():
            loss = criterion(student(x), goal)
        loss.backward()
        optimizer.step()


def full(model, loader, criterion, optimizer):
    for x, y in loader:
        with autocast():
            out = model(x)
        with autocast(enabled=False):
            loss = criterion(out.float(), y)
        loss.backward()
        optimizer.step()


def twice(model, loader, criterion, optimizer):
    for x, y in loader:
        with autocast():
            out = model(x)
        with autocast():
            loss = criterion(out, y)
        loss.backward()
        optimizer.step()


def both(encoder, decoder, loader, criterion, optimizer):
    for x, y in loader:
        code = encoder(x)
        with autocast():
            loss = criterion(decoder(code), y)
        loss.backward()
        optimizer.step()


@autocast()
def whole(model, x, y, criterion):
    out = model(x)
    with autocast(dtype=torch.bfloat16):
        return criterion(out, y)
