import torch


def heads(model, inputs, targets, criteria, optimizer):
    outputs = model(inputs)
    total = 0.0
    for name, criterion in criteria.items():
        total = total + criterion(outputs[name], targets[name])
    total.backward()
    optimizer.step()


def through_time(rnn, head, x, y, criterion, optimizer, hidden):
    loss = 0.0
    for t in range(x.shape[1]):
        out, hidden = rnn(x[:, t], hidden)
        loss += criterion(head(out), y[:, t])
    loss.backward()
    optimizer.step()


def decoder(model, x, y, criterion, optimizer):
    loss = 0
    step = x[:, 0]
    for t in range(1, x.shape[1]):
        out = model(step)
        loss += criterion(out, y[:, t])
        step = out
    loss.backward()
    optimizer.step()


def shared(encoder, net, x, parts, criterion, optimizer):
    features = encoder(x)
    loss = 0
    for part in parts:
        loss += criterion(net(features), part)
    loss.backward()
    optimizer.step()


def models(generators, discriminators, x, criterion, optimizer):
    loss = 0
    for discriminator in discriminators:
        loss += criterion(discriminator(x), 1)
    loss.backward()
    optimizer.step()


def right(model, loader, criterion, optimizer, accumulate):
    running = 0.0
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) / accumulate
        loss.backward()
        running += loss.item()
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()


def reinforce(policy, env, optimizer):
    log_probs, rewards = [], []
    state = env.reset()
    for _ in range(100):
        dist = torch.distributions.Categorical(policy(state))
        action = dist.sample()
        state, reward, done, _ = env.step(action.item())
        log_probs.append(dist.log_prob(action))
        rewards.append(reward)
    loss = -sum(p * r for p, r in zip(log_probs, rewards))
    loss.backward()
    optimizer.step()


@torch.no_grad()
def evaluate(model, loader, criterion):
    total = 0
    for x, y in loader:
        total += criterion(model(x), y)
    return total


def losses_of_one(model, x, y, terms, optimizer):
    out = model(x)
    loss = sum(term(out, y) for term in terms)
    loss.backward()
    optimizer.step()


def cells(cell, head, loader, criterion, optimizer):
    for x, y in loader:
        h = torch.zeros(4, 8)
        loss = 0
        for t in range(x.shape[1]):
            h = cell(x[:, t], h)
            loss = loss + criterion(head(h), y[:, t])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
