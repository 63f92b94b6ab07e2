import torch
import torch.nn.functional as F


def reinforce(policy, episodes, optimizer):  # the sum is what is trained on
    for states, rewards in episodes:
        loss = 0
        for s, r in zip(states, rewards):
            loss += -policy(s).log_prob(r)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def micro(model, loader, optimizer, device):
    running = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        running += loss.item()
        running += float(loss)
        running += loss.detach().mean()
        correct = (model(x).argmax(1) == y).sum()
        running += correct


def content_loss(features, targets):  # belongs to the caller's step
    total = 0.0
    for f, t in zip(features, targets):
        total += F.mse_loss(f, t)
    return total


def switched(model, loader, device):
    torch.set_grad_enabled(False)
    total = 0
    for x, y in loader:
        total += F.cross_entropy(model(x.to(device)), y.to(device))
    return total
