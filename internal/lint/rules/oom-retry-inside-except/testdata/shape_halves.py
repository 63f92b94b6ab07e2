import torch


def robust(net, x, y, crit):
    try:
        return crit(net(x), y)
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
        half = x.size(0) // 2
        return crit(net(x[:half]), y[:half])  # want: oom-retry-inside-except


def robust_right(net, x, y, crit):
    failed = False
    try:
        return crit(net(x), y)
    except torch.cuda.OutOfMemoryError:
        failed = True
    if failed:
        torch.cuda.empty_cache()
        half = x.size(0) // 2
        return crit(net(x[:half]), y[:half])
