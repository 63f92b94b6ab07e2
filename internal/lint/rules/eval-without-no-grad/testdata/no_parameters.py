import torch


def perspective(near, far):
    return torch.tensor([near, far])


class Depth(torch.nn.Module):
    def __init__(self, size=256):
        super().__init__()
        self.size = size
        self.eyes = [[0, 0, 1], [0, 1, 0]]
        self.matrix = perspective(0.1, 10.0)

    def forward(self, points, view=0):
        return points @ self.matrix[view] * self.size


def show(test_loader, save):
    depth = Depth().cuda()
    for batch in test_loader:
        save(depth(batch["points"].cuda(), view=1))


def draws(prior_generator, loader, real, test):
    for _ in loader:
        z = prior_generator(batch_size=8)
        test(z, real)


class Kept(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.size = 3
        self.body = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.body(x)


def evaluate(loader, show):
    model = Kept().cuda().eval()
    for x in loader:
        show(model(x.cuda()))  # want: eval-without-no-grad
