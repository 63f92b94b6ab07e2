from copy import deepcopy


class Trainer:
    def fit(self, loader):
        best = None
        for epoch in range(10):
            score = self.epoch(loader)
            if score > 3:
                best = deepcopy(self.model)  # want: deepcopy-model-on-gpu
        return best

    def epoch(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            self.criterion(self.model(x), y).backward()
            self.optimizer.step()
        return 1


def population(model, n):
    return [deepcopy(model) for _ in range(n)]


def settings(loader, model, optimizer, config):
    for x in loader:
        here = deepcopy(config)
        model(x).mean().backward()
        optimizer.step()
        print(here)
