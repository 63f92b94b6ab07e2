import copy


class Engine:
    def fit(self, loader):
        self.model.cuda()
        self.best = copy.deepcopy(self.model.state_dict())
        for epoch in range(10):
            for x, y in loader:
                self.optimizer.zero_grad()
                self.criterion(self.model(x.cuda()), y.cuda()).backward()
                self.optimizer.step()
            if self.check():
                self.best = {k: v.clone() for k, v in self.model.state_dict().items()}  # want: state-dict-clone-best
