import torch


class Engine:
    def step(self, batch):
        out = self.net(batch["x"])
        loss = self.criterion(out, batch["y"])
        self.optimizer.zero_grad()
        loss.backward(retain_graph=True)  # want: retain-graph-every-step
        self.optimizer.step()
        return loss.detach()

    def run(self, loader):
        for batch in loader:
            self.step(batch)


def summed(model, loader, optimizer, ce, l1):
    for x, y in loader:
        out = model(x)
        loss = ce(out, y) + 0.1 * l1(out)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)  # want: retain-graph-every-step
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def every(model, loader, criterion, optimizer, n):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) / n
        loss.backward(retain_graph=True)  # want: retain-graph-every-step
        if (i + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()


def while_loop(model, loader, criterion, optimizer):
    it = iter(loader)
    step = 0
    while step < 100:
        x, y = next(it)
        optimizer.zero_grad()
        criterion(model(x), y).backward(retain_graph=True)  # want: retain-graph-every-step
        optimizer.step()
        step += 1


def autograd(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x), y)
        torch.autograd.backward(loss, retain_graph=True)  # want: retain-graph-every-step
        optimizer.step()


def constant(model, loader, criterion, optimizer):
    keep = True
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward(retain_graph=keep)  # want: retain-graph-every-step
        optimizer.step()


def wgan(generator, critic, loader, optimizer):
    for real in loader:
        for _ in range(5):
            fake = generator(torch.randn(8, 8))
            loss = critic(fake).mean() - critic(real).mean()
            optimizer.zero_grad()
            loss.backward(retain_graph=True)  # want: retain-graph-every-step
            optimizer.step()


step_module = """loss.backward(retain_graph=True)"""
