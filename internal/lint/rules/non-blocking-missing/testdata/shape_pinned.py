from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder


def fit(net, crit, opt, dev):
    dl = DataLoader(ImageFolder("d"), batch_size=64, num_workers=4, pin_memory=True)
    net.to("cuda")
    for x, y in dl:
        x = x.to("cuda")  # want: non-blocking-missing
        y = y.to("cuda", non_blocking=True)
        loss = crit(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
