import torch


def train(rnn, head, loader, criterion, optimizer):
    hidden = torch.zeros(1, 32, 256)
    for inputs, targets in loader:
        optimizer.zero_grad()
        features, hidden = rnn(inputs, hidden)  # want: hidden-state-not-detached
        criterion(head(features), targets).backward(retain_graph=True)
        optimizer.step()
