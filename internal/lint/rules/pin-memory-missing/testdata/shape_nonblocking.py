from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder


def fit(net, crit, opt):
    dl = DataLoader(ImageFolder("d"), batch_size=64, num_workers=4)  # want: pin-memory-missing
    net.cuda()
    for x, y in dl:
        loss = crit(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
        opt.zero_grad()
        loss.backward()
        opt.step()
