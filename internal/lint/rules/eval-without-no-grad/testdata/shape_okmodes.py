import torch


def phase(net, dl, crit, opt, train):
    net.train(train)
    ctx = torch.enable_grad() if train else torch.no_grad()
    total = 0.0
    with ctx:
        for x, y in dl:
            loss = crit(net(x.cuda()), y.cuda())
            if train:
                opt.zero_grad()
                loss.backward()
                opt.step()
            total += loss.item()
    return total


class Freezer:
    def __init__(self, net):
        self.net = net.eval()
        for p in self.net.parameters():
            p.requires_grad = False

    def predict(self, dl):
        return [self.net(x.cuda()).argmax(1).cpu() for x in dl]


def attack(net, dl, crit):
    net.eval()
    for x, y in dl:
        x.requires_grad_()
        crit(net(x), y).backward()
        yield x + x.grad.sign()
