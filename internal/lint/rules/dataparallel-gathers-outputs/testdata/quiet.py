import torch
from torch import nn


def infer(model, loader):
    model = nn.DataParallel(model)
    with torch.no_grad():
        return [model(x).argmax(1).cpu() for x in loader]


def hf(model, loader, optimizer):
    model = nn.DataParallel(model)
    for batch in loader:
        loss = model(**batch).loss.mean()
        loss.backward()
        optimizer.step()


def returns_loss(model, loader, optimizer):
    model = nn.DataParallel(model)
    for x, y in loader:
        losses = model(x, y)
        losses.mean().backward()
        optimizer.step()


def distributed(model, loader, criterion, optimizer):
    model = nn.parallel.DistributedDataParallel(model)
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()


def warned(model, loader, criterion, optimizer, logger):
    if torch.cuda.device_count() > 1:
        logger.warning("DataParallel is slow, use DDP")
        model = torch.nn.DataParallel(model)
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
