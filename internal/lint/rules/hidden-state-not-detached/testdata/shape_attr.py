import torch
from torch import nn


class Runner:
    def __init__(self, vocab):
        self.lstm = nn.LSTM(16, 32, batch_first=True).cuda()
        self.out = nn.Linear(32, vocab).cuda()
        self.hidden = None
        self.opt = torch.optim.Adam([*self.lstm.parameters(), *self.out.parameters()])

    def epoch(self, batches):
        for x, y in batches:
            o, self.hidden = self.lstm(x.cuda(), self.hidden)  # want: hidden-state-not-detached
            loss = nn.functional.cross_entropy(self.out(o).flatten(0, 1), y.cuda().flatten())
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
