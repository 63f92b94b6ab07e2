from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder


class T:
    def __init__(self, net):
        self.net = net.to("cuda")
        self.dl = DataLoader(ImageFolder("x"), batch_size=64, num_workers=8, shuffle=True, pin_memory=True)

    def train(self, opt, crit):
        for x, y in self.dl:
            x = x.to("cuda")  # want: non-blocking-missing
            y = y.to("cuda")  # want: non-blocking-missing
            opt.zero_grad()
            crit(self.net(x), y).backward()
            opt.step()
