import torch


def find_batch(model, make, size):
    while size > 1:
        try:
            model(make(size)).sum().backward()
            return size
        except torch.cuda.OutOfMemoryError:
            pass
        model.zero_grad()
        torch.cuda.empty_cache()
        size //= 2
    return 1
