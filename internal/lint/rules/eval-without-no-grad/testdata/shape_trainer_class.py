import torch
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, model, train_set, test_set):
        self.model = model.cuda()
        self.train_loader = DataLoader(train_set, batch_size=8, num_workers=2)
        self.test_loader = DataLoader(test_set, batch_size=8, num_workers=2)
        self.opt = torch.optim.AdamW(self.model.parameters())

    def train_step(self, x, y):
        loss = torch.nn.functional.cross_entropy(self.model(x.cuda()), y.cuda())
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

    def test(self):
        self.model.eval()
        good = 0
        for x, y in self.test_loader:
            guess = self.model(x.cuda()).argmax(1)  # want: eval-without-no-grad
            good += (guess == y.cuda()).sum().item()
        self.model.train()
        return good

    def test_right(self):
        self.model.eval()
        torch.set_grad_enabled(False)
        good = 0
        for x, y in self.test_loader:
            guess = self.model(x.cuda()).argmax(1)
            good += (guess == y.cuda()).sum().item()
        torch.set_grad_enabled(True)
        self.model.train()
        return good
