import torch


class WithLoss(torch.nn.Module):
    def __init__(self, net, criterion):
        super().__init__()
        self.net, self.criterion = net, criterion

    def forward(self, inputs, targets):
        return self.criterion(self.net(inputs), targets).unsqueeze(0)


def train(net, loader, criterion, optimizer):
    model = torch.nn.DataParallel(WithLoss(net, criterion)).cuda()
    for inputs, targets in loader:
        optimizer.zero_grad()
        model(inputs, targets).mean().backward()
        optimizer.step()
