import torch


class Trainer:
    def validate(self):
        self.net.eval()  # want: eval-not-restored
        with torch.no_grad():
            for x in self.val_loader:
                self.net(x.cuda())

    def fit(self):
        self.net.train()
        for step, x in enumerate(self.loader):
            self.opt.zero_grad()
            loss = self.net(x.cuda()).mean()
            loss.backward()
            self.opt.step()
            self.validate()
