import torch


class T:
    def __init__(self, net, opt, crit):
        self.net, self.opt, self.crit = net.cuda(), opt, crit

    @torch.no_grad()
    def check(self, dl):
        self.net.eval()  # want: eval-not-restored
        return sum((self.net(x.cuda()).argmax(1) == y.cuda()).sum() for x, y in dl)

    def fit(self, dl, val, n):
        self.net.train()
        for _ in range(n):
            for x, y in dl:
                loss = self.crit(self.net(x.cuda()), y.cuda())
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            self.check(val)
