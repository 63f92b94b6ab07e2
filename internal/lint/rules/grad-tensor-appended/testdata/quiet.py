import torch


def summed(model, loader, criterion, optimizer):
    for batch in loader:
        losses = []
        for x, y in batch:
            losses.append(criterion(model(x), y))
        torch.stack(losses).sum().backward()
        optimizer.step()


def actor_critic(policy, env, optimizer):
    saved = []
    for episode in range(10):
        state = env.reset()
        for t in range(100):
            probs = policy(state)
            saved.append(probs.log().max())
            state = env.step(probs)
        loss = torch.stack(saved).sum()
        loss.backward()
        optimizer.step()
        del saved[:]


def plain(model, loader, criterion, optimizer):
    losses, outputs = [], []
    for x, y in loader:
        out = model(x)
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        outputs.append(out.detach().cpu())


@torch.no_grad()
def evaluate(model, loader, criterion):
    return [criterion(model(x), y) for x, y in loader]
