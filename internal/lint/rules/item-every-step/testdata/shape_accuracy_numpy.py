import torch


class Loop:
    def __init__(self, net, opt):
        self.net, self.opt = net.cuda(), opt

    def train_epoch(self, dl):
        hits = 0
        for x, y in dl:
            y = y.cuda()
            out = self.net(x.cuda())
            loss = torch.nn.functional.cross_entropy(out, y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            hits += (out.argmax(1) == y).sum().item()  # want: item-every-step
        return hits
