import torch


def train(net, loader, criterion, optimizer):
    model = torch.nn.DataParallel(net).cuda()  # want: dataparallel-gathers-outputs
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets.cuda())
        loss.backward()
        optimizer.step()
