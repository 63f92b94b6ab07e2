from collections import defaultdict

from lossutil import combined


def train_one_epoch(model, loader, opt):
    sums = defaultdict(float)
    for noisy, clean in loader:
        noisy = noisy.cuda()
        clean = clean.cuda()
        loss, parts = combined(model(noisy), clean)
        opt.zero_grad()
        loss.backward()
        opt.step()
        for k, v in parts.items():
            sums[k] += v  # want: loss-keeps-graph
    return {k: v / len(loader) for k, v in sums.items()}
