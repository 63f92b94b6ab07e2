import torch


class Meter:
    def __init__(self):
        self.sum = 0.0
        self.n = 0

    def add(self, value, k):
        self.sum += value
        self.n += k


class Learner:
    def __init__(self, net, crit, optim):
        self.net, self.crit, self.optim = net, crit, optim
        self.epoch_loss = 0.0

    def run_epoch(self, train_dl):
        self.epoch_loss = 0.0
        for xb, yb in train_dl:
            pred = self.net(xb.cuda())
            err = self.crit(pred, yb.cuda())
            err.backward()
            self.optim.step()
            self.optim.zero_grad()
            self.epoch_loss = self.epoch_loss + err * xb.size(0)  # want: loss-keeps-graph
        return self.epoch_loss / len(train_dl.dataset)

    def run_epoch_right(self, train_dl):
        seen = 0.0
        for xb, yb in train_dl:
            err = self.crit(self.net(xb.cuda()), yb.cuda())
            err.backward()
            self.optim.step()
            self.optim.zero_grad()
            seen = seen + err.detach() * xb.size(0)
        return seen
