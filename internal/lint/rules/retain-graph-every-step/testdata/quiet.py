import torch


def heads(encoder, heads, loader, optimizer):
    for x in loader:
        features = encoder(x)
        losses = [head(features).mean() for head in heads]
        for loss in losses:
            loss.backward(retain_graph=True)
        optimizer.step()


def counted(losses, optimizer, loader, model):
    for x in loader:
        losses = model(x)
        for i, loss in enumerate(losses):
            loss.backward(retain_graph=i < len(losses) - 1)
        optimizer.step()


def gan(generator, discriminator, loader, d_optimizer, g_optimizer):
    for real in loader:
        fake = generator(torch.randn(len(real), 8))
        d_loss = discriminator(fake).mean() - discriminator(real).mean()
        d_loss.backward(retain_graph=True)
        d_optimizer.step()
        g_loss = -discriminator(fake).mean()
        g_loss.backward()
        g_optimizer.step()


def penalty(model, loader, optimizer):
    for x in loader:
        loss = model(x).mean()
        loss.backward(retain_graph=True, create_graph=True)
        norm = sum(p.grad.norm() for p in model.parameters())
        norm.backward()
        optimizer.step()


def influence(model, loader, optimizer):
    for x in loader:
        loss = model(x).mean()
        loss.backward(retain_graph=True)
        grads = torch.autograd.grad(loss, list(model.parameters()))
        optimizer.step()


class Model:
    def step(self, x):
        self.forward(x)
        self.backward_d()
        self.backward_g()
        self.optimizer.step()

    def fit(self, loader):
        for x in loader:
            self.loss = self.net(x).mean()
            self.loss.backward(retain_graph=True)
            self.backward_g()
            self.optimizer.step()

    def backward_g(self):
        (-self.loss).backward()


def explain(model, image):
    score = model(image)[0].max()
    for layer in model.layers:
        score.backward(retain_graph=True)


x = torch.ones(3, requires_grad=True)
y = (x * x).sum()
y.backward(retain_graph=True)
y.backward()
