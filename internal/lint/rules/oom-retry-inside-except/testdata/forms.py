import gc

import torch
from torch import OutOfMemoryError


def recursive(model, batch):
    try:
        return model(batch).mean()
    except RuntimeError as e:
        if "out of memory" not in str(e):
            raise
        torch.cuda.empty_cache()
        return recursive(model, batch[: len(batch) // 2])  # want: oom-retry-inside-except


def train(model, loader, criterion, optimizer):
    for x, y in loader:
        try:
            loss = criterion(model(x), y)
            loss.backward()
        except OutOfMemoryError:
            optimizer.zero_grad()
            gc.collect()
            for a, b in zip(x.chunk(4), y.chunk(4)):
                loss = criterion(model(a), b)  # want: oom-retry-inside-except
                loss.backward()
        optimizer.step()


def run_step(model, batch):
    return model(batch).sum()


def helper(model, loader):
    for batch in loader:
        try:
            run_step(model, batch).backward()
        except (RuntimeError, ValueError) as error:
            if "CUDA out of memory" in str(error):
                torch.cuda.empty_cache()
                run_step(model, batch[::2]).backward()  # want: oom-retry-inside-except
            else:
                raise


class Engine:
    def attempt(self, batch):
        return self.model(batch)

    def fit(self, batch):
        try:
            out = self.attempt(batch)
        except torch.cuda.OutOfMemoryError:
            self.batch_size //= 2
            torch.cuda.empty_cache()
            out = self.attempt(batch[: self.batch_size])  # want: oom-retry-inside-except
        return out


def unknown(do, batch):
    size = len(batch)
    try:
        do(batch)
    except Exception as e:
        if "out of memory" in str(e):
            do(batch[: size // 2])  # want: oom-retry-inside-except


def nested(model, batch):
    try:
        out = model(batch)
    except torch.cuda.OutOfMemoryError:
        with torch.cuda.amp.autocast():
            out = model(batch)  # want: oom-retry-inside-except
    return out


def while_loop(model, batch):
    last = None
    while len(batch):
        try:
            return model(batch)
        except torch.cuda.OutOfMemoryError as e:
            last = e  # want: oom-retry-inside-except
            batch = batch[: len(batch) // 2]
    raise last
