import gc
import logging

import torch


def flag(model, batch, criterion):
    failed = False
    try:
        loss = criterion(model(batch))
    except RuntimeError as e:
        if "out of memory" in str(e):
            failed = True
        else:
            raise e
    if failed:
        torch.cuda.empty_cache()
        loss = criterion(model(batch[:1]))
    return loss


def skip(model, loader, criterion, optimizer):
    for batch in loader:
        try:
            loss = criterion(model(batch))
            loss.backward()
            optimizer.step()
        except torch.cuda.OutOfMemoryError:
            logging.warning("skipped a batch of %d", len(batch))
            optimizer.zero_grad(set_to_none=True)
            for p in model.parameters():
                p.grad = None
            torch.cuda.empty_cache()
            gc.collect()
            continue


def halve(model, batch):
    size = len(batch)
    while True:
        try:
            return [model(part) for part in batch.split(size)]
        except torch.cuda.OutOfMemoryError:
            size //= 2
            if size == 0:
                raise
        torch.cuda.empty_cache()


def other(model, batch):
    try:
        return model(batch)
    except ValueError:
        return model(batch.float())


def missing_kernel(model, batch):
    try:
        return model(batch)
    except RuntimeError:
        return model(batch.contiguous())


def report(model, batch):
    try:
        return model(batch)
    except RuntimeError as e:
        if "out of memory" in str(e):
            print(torch.cuda.memory_summary())
            print("batch", batch.shape, "try --batch-size", len(batch) // 2)
        raise


def later(model, batch):
    try:
        return model(batch)
    except torch.cuda.OutOfMemoryError:
        retry = lambda: model(batch[:1])
    return retry()


def on_cpu(model, batch):
    try:
        return model(batch.cuda())
    except torch.cuda.OutOfMemoryError:
        model.cpu()
        return model(batch.cpu())


def verbose(run, log_line, model, batch):
    try:
        log_line("start")
        return run(model, batch)
    except torch.cuda.OutOfMemoryError as e:
        log_line("out of memory")
        log_line(f"{e}")
